package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/aircoding/air/internal/redact"
)

const (
	alnum  = "a1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuVwXyZ"
	hex    = "0123456789abcdef"
	base32 = "A2B3C4D5E6F7GHIJKLMNOPQRSTUVWXYZ"
)

// made is a secret of the form, put together here so that no scanner of repositories takes
// this file for a leak.
func made(prefix, alphabet string, n int) string {
	return prefix + strings.Repeat(alphabet, n/len(alphabet)+1)[:n]
}

// pem is a private key as files have it.
func pem(label string) string {
	body := strings.Repeat(made("", alnum, 64)+"\n", 6)
	return "-----BEGIN " + label + "-----\n" + body + "-----END " + label + "-----"
}

func jwt() string {
	part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	return part(`{"alg":"HS256","typ":"JWT"}`) + "." + part(`{"sub":"1234567890"}`) + "." + made("", alnum, 43)
}

// forms has, for each rule, secrets of its form.
var forms = map[string][]string{
	"private-key":           {pem("RSA PRIVATE KEY"), pem("PRIVATE KEY"), pem("OPENSSH PRIVATE KEY"), pem("PGP PRIVATE KEY BLOCK"), strings.ReplaceAll(pem("EC PRIVATE KEY"), "\n", `\n`)},
	"age-secret-key":        {made("AGE-SECRET-KEY-1", "QPZRY9X8GF2TVDW0", 58)},
	"aws-access-key":        {made("AKIA", base32, 16), made("ASIA", base32, 16)},
	"google-api-key":        {made("AIza", alnum, 35)},
	"google-oauth-token":    {made("ya29.", alnum, 60)},
	"google-client-secret":  {made("GOCSPX-", alnum, 28)},
	"azure-client-secret":   {made("abc8Q~", alnum, 34)},
	"digitalocean-token":    {made("dop_v1_", hex, 64)},
	"databricks-token":      {made("dapi", hex, 32)},
	"github-token":          {made("ghp_", alnum, 36), made("gho_", alnum, 36), made("ghs_", alnum, 36), made("github_pat_", alnum, 82), "ghs_12_" + jwt()},
	"gitlab-token":          {made("glpat-", alnum, 20), made("glpat-", alnum, 27) + ".01.0w1abcdef", made("glrt-", alnum, 20), made("glptt-", hex, 40), made("GR1348941", alnum, 20)},
	"npm-token":             {made("npm_", alnum, 36)},
	"pypi-token":            {made("pypi-AgEIcHlwaS5vcmc", alnum, 80)},
	"rubygems-token":        {made("rubygems_", hex, 48)},
	"crates-token":          {made("cio", alnum, 32)},
	"nuget-key":             {made("oy2", "a1b2c3d4e5", 43)},
	"docker-token":          {made("dckr_pat_", alnum, 27)},
	"huggingface-token":     {made("hf_", alnum, 34)},
	"anthropic-key":         {made("sk-ant-api03-", alnum, 93)},
	"openai-key":            {made("sk-", alnum, 48), made("sk-proj-", alnum, 100)},
	"groq-key":              {made("gsk_", alnum, 52)},
	"xai-key":               {made("xai-", alnum, 80)},
	"perplexity-key":        {made("pplx-", alnum, 48)},
	"replicate-token":       {made("r8_", alnum, 37)},
	"slack-token":           {made("xoxb-123456789012-", alnum, 24), made("xoxe.xoxp-1-", alnum, 40), made("xapp-1-A012-", alnum, 40)},
	"telegram-token":        {made("123456789:AA", alnum, 33)},
	"twilio-key":            {made("SK", hex, 32)},
	"sendgrid-key":          {made("SG.", alnum, 22) + "." + made("", alnum, 43)},
	"stripe-key":            {made("sk_live_", alnum, 24), made("rk_live_", alnum, 24), made("sk_test_", alnum, 99)},
	"stripe-webhook-secret": {made("whsec_", alnum, 32)},
	"shopify-token":         {made("shpat_", hex, 32)},
	"square-token":          {made("sq0atp-", alnum, 22)},
	"vault-token":           {made("hvs.", alnum, 90)},
	"terraform-token":       {made("", alnum, 14) + made(".atlasv1.", alnum, 67)},
	"pulumi-token":          {made("pul-", hex, 40)},
	"doppler-token":         {made("dp.pt.", alnum, 43)},
	"tailscale-key":         {made("tskey-auth-k1", alnum, 30)},
	"grafana-token":         {made("glsa_", alnum, 41), made("glc_", alnum, 60)},
	"sentry-token":          {made("sntryu_", hex, 64)},
	"newrelic-key":          {made("NRAK-", base32, 27)},
	"postman-key":           {made("PMAK-", hex, 24) + made("-", hex, 34)},
	"linear-key":            {made("lin_api_", alnum, 40)},
	"notion-token":          {made("ntn_", alnum, 46)},
	"atlassian-token":       {made("ATATT3xFfGF0", alnum, 180)},
	"supabase-key":          {made("sbp_", hex, 40), made("sb_secret_", alnum, 31)},
	"planetscale-token":     {made("pscale_tkn_", alnum, 43)},
	"fly-token":             {made("FlyV1 fm2_", alnum, 100), made("fm2_", alnum, 100)},
	"onepassword-token":     {made("ops_eyJ", alnum, 250)},
	"jwt":                   {jwt()},
}

// Each secret goes, whatever is in front of it and behind it, and its rule is named.
func TestForms(t *testing.T) {
	for name, secrets := range forms {
		for _, secret := range secrets {
			for _, around := range [][2]string{{"", ""}, {"key ", " is leaked"}, {`{"a":"`, `"}`}, {"\\n", "\\n"}, {"x=", "&y=1"}, {"(", ")"}, {"see ", ". More"}, {"q%3D", "%26"}, {`\u003d`, `\u0026`}} {
				text := around[0] + secret + around[1]
				want := around[0] + "[redacted:" + name + "]" + around[1]
				if got := (*redact.Redactor)(nil).Text(text); got != want {
					t.Errorf("%s: %.80q\ngot  %.120q\nwant %.120q", name, text, got, want)
				}
			}
		}
	}
}

// What is cut off at the end of a text, as the heads of inputs are, shows next to nothing.
func TestCutForms(t *testing.T) {
	for name, secrets := range forms {
		switch name {
		case "aws-access-key", "crates-token", "nuget-key", "twilio-key", "azure-client-secret", "terraform-token", "jwt", "openai-key", "slack-token", "sendgrid-key", "tailscale-key", "onepassword-token":
			continue // short or common prefixes: a part of these is too much like a word
		}
		for _, secret := range secrets {
			text := "key " + secret[:len(secret)-2]
			if got := redact.New(nil).Text(text); got != "key [redacted:"+name+"]" {
				t.Errorf("%s: got %.120q", name, got)
			}
		}
	}
	half := pem("RSA PRIVATE KEY")[:200]
	if got := redact.New(nil).Text("a " + half); got != "a [redacted:private-key]" {
		t.Errorf("half a key: %q", got)
	}
	if got := redact.New(nil).Text("a " + jwt()[:40]); got != "a [redacted:jwt]" {
		t.Errorf("half a JWT: %q", got)
	}
}

// What is assigned, and how it comes out.
func TestNamed(t *testing.T) {
	token, uuid := made("", alnum, 32), "7d444840-9dc0-11d1-b245-5ffdce74fad2"
	basic := base64.StdEncoding.EncodeToString([]byte("ada:correct horse"))
	for text, want := range map[string]string{
		"password=hunter2":                                     "password=[redacted:password]",
		"PASSWORD=letmein":                                     "PASSWORD=[redacted:password]",
		"DB_PASSWORD='two words 1'":                            "DB_PASSWORD='[redacted:password]'",
		"password: hunter2":                                    "password: [redacted:password]",
		"db_pass = s3cr3t!, next":                              "db_pass = [redacted:password], next",
		`{"password":"letmein"}`:                               `{"password":"[redacted:password]"}`,
		`{\"password\": \"letmein\"}`:                          `{\"password\": \"[redacted:password]\"}`,
		`{\\\"passwd\\\":\\\"letmein\\\"}`:                     `{\\\"passwd\\\":\\\"[redacted:password]\\\"}`,
		`x["password"] = "letmein"`:                            `x["password"] = "[redacted:password]"`,
		"mysql --password letmein9 -h x":                       "mysql --password [redacted:password] -h x",
		"mysql --password=letmein -h x":                        "mysql --password=[redacted:password] -h x",
		`["--db-password","letmein"]`:                          `["--db-password","[redacted:password]"]`,
		"?user=a&password=hunter2&x=1":                         "?user=a&password=[redacted:password]&x=1",
		"password%3Dhunter2":                                   "password%3D[redacted:password]",
		"$password := 'hunter2'":                               "$password := '[redacted:password]'",
		"passphrase: 'x y z 1 \\' 2'":                          "passphrase: '[redacted:password]'",
		"token=" + token:                                       "token=[redacted:token]",
		"API_KEY: " + uuid:                                     "API_KEY: [redacted:token]",
		"aws_secret_access_key = " + token:                     "aws_secret_access_key = [redacted:token]",
		`"clientSecret" : "` + token + `"`:                     `"clientSecret" : "[redacted:token]"`,
		"x-api-key: " + token:                                  "x-api-key: [redacted:token]",
		"AccountKey=" + token + "==;Suffix":                    "AccountKey=[redacted:token];Suffix",
		"curl --token " + token + " -v":                        "curl --token [redacted:token] -v",
		"Authorization: Bearer " + token:                       "Authorization: [redacted:authorization]",
		`"authorization":"token ` + token + `"`:                `"authorization":"[redacted:authorization]"`,
		`-H 'Authorization: Basic ` + basic + `' x`:            `-H 'Authorization: [redacted:authorization]' x`,
		"proxy-authorization=Digest username=\"a1\"":           "proxy-authorization=[redacted:authorization]\"a1\"",
		"sends Bearer " + token + " on":                        "sends Bearer [redacted:bearer-token] on",
		"sends basic " + basic + " on":                         "sends basic [redacted:basic-credentials] on",
		"Set-Cookie: sid=abc123; Path=/\nx":                    "Set-Cookie: [redacted:cookie]\nx",
		"Cookie: a=b; c=ddddd\r\nHost: x":                      "Cookie: [redacted:cookie]\r\nHost: x",
		"postgres://ada:s3cret@db.example:5432/x":              "postgres://ada:[redacted:url-password]@db.example:5432/x",
		"redis://:pass@word@h":                                 "redis://:[redacted:url-password]@h",
		"https://" + token + "@git.example/x.git":              "https://[redacted:url-password]@git.example/x.git",
		`(\"https://a:bc@c/\")`:                                `(\"https://a:[redacted:url-password]@c/\")`,
		"https://hooks.slack.com/services/T0/B0/" + token[:24]: "https://hooks.slack.com/services/[redacted:slack-webhook]",
		"https://discord.com/api/webhooks/12/" + token + token: "https://discord.com/api/webhooks/[redacted:discord-webhook]",
	} {
		if got := redact.New(nil).Text(text); got != want {
			t.Errorf("%q\ngot  %q\nwant %q", text, got, want)
		}
	}
}

// What is no secret, or cannot be told from what is none, stays as it is.
var innocent = []string{
	"", "a", "3f786850e387550fdab836ed7e6dc881de23001b", "commit 3f786850e387550fdab836ed7e6dc881de23001b (HEAD)",
	"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
	"art_01890a5d-ac96-774b-bcce-b302099a8057", "01890a5d-ac96-774b-bcce-b302099a8057",
	"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
	"sha512-0NB/Fv5zp7cAvcb8mxn5ChvdA5Z0S7Tb3c6oA6/4y0sQIDAQAB4w==", "h1:rvLUHn9mNUFqpBBnp1m4FGFWBcCkPCGm5JDS3oQF1lM=",
	"password", "the password is asked on the terminal", "password: required", "password: string", "Password:", `"password": "Enter your password"`,
	"password=$PASSWORD", "password=${DB_PASSWORD}", "password = os.environ['DB_PASSWORD']", "password=self.password", "password == other1",
	"password = get_password(1)", "password: {{ .Values.password1 }}", "password=******", "password: <your password>", `password = input("Password: ")`,
	"password=null", "password=", "passwords: 12345", "passwd: /etc/passwd", "set_password(user, 'x')", `{"password":{"type":"string"}}`,
	"password-reset: done", "--password-file /run/x1", "--password --verbose1", "PASSWORD_MIN_LENGTH=12",
	"token: string", "token = next_token()", "max_tokens: 4096", "tokens=128000", "token_count=1234567890123456", "token: EOF", "Token::new(12345678901234567890)",
	"secret: my-app-credentials-v2", "secretName: regcred-prod-eu-west-1-0001", "secret(GITHUB_TOKEN)", "api_key_id=AB12CD34EF56GH78JK90",
	"token: ${{ secrets.GITHUB_TOKEN }}", "token=/var/run/secrets/kubernetes.io/serviceaccount/token1", "key=a1B2c3D4e5F6g7H8i9J0", "token=00000000000000000000",
	"credential: https://example.com/a1B2c3D4e5F6g7H8i9J0", "token: 1.2.3-alpha.4-linux-amd64",
	"Authorization: Bearer $TOKEN", "Authorization: Bearer <token1>", "authorization: required", "Bearer tokens are opaque", "a basic understanding of it", "basic auth",
	"Cookie: see RFC 6265", "cookies: enabled", "cookie=$x",
	"https://example.com/a:b@c", "http://localhost:8080/", "git@github.com:a/b.git", "https://user@host/x", "https://ada:$PASS@host/", "ssh://git@github.com/a/b", "mailto:a@b.c",
	"ghp_", "ghp_xxx and gho_ are prefixes", "github_pat_ tokens", "sk-fading-circle-with-many-small-dots-inside", "task-sk-1234", "risk-assessment-2024-report-final-version", "hf_hub_download('x')",
	"npm_config_registry=x", "npm_package_version", "SKIP", "SK", "AKIA", "ASIAN_MARKETS_2024_A", "eyJ", "eyJhbGciOi and so on", "xoxb- is the prefix of a bot's token", "AIzawa",
	"-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n-----END CERTIFICATE-----",
	"-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEabcdefghijklmnopqrstuvwxyz12\n-----END PUBLIC KEY-----",
	"a file with -----BEGIN PRIVATE KEY----- in its first line is refused, and so is a key store!",
	"12:AAPL 34:AABB", "1234567890:AAAA", "pul-request-1234567890", "cio", "oy2", "dapi", "SG.1 SG.2.", "hvs.", "fm2_",
	"go test -run TestToken ./internal/... -count=1", "0123456789abcdef0123456789abcdef", "MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ",
	"[redacted:password]", "password=[redacted:password]", "[redacted:", "[redacted:]",
}

func TestInnocentTexts(t *testing.T) {
	if len(innocent) < 100 {
		t.Fatalf("%d texts", len(innocent))
	}
	for _, text := range innocent {
		if got := redact.New(nil).Text(text); got != text {
			t.Errorf("%q\ngot %q", text, got)
		}
	}
}

// A value that the person stored goes in whatever way it is written.
func TestKnownValues(t *testing.T) {
	const value = "pa\"ss/wörd<&> 1"
	r := redact.New([]string{value, "short", "sixsix", "line\n", ""})
	quoted, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"a " + value + " b":                                "a [redacted:secret] b",
		"sixsix,sixsix":                                    "[redacted:secret],[redacted:secret]",
		"short line":                                       "short line",
		`{"x":` + string(quoted) + `}`:                     `{"x":"[redacted:secret]"}`,
		"q=" + url.QueryEscape(value) + "&":                "q=[redacted:secret]&",
		"/" + url.PathEscape(value) + "/":                  "/[redacted:secret]/",
		"/" + strings.ToLower(url.PathEscape(value)) + "/": "/[redacted:secret]/",
		"a " + value[:8]:                                   "a [redacted:secret]",
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%q\ngot  %q\nwant %q", text, got, want)
		}
	}
	for _, before := range []string{"", "u:", "me:", "you:", "a"} {
		for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			encoded := encoding.EncodeToString([]byte(before + value + "\nand more"))
			if got := r.Text("x: " + encoded + "."); got != "x: [redacted:secret]." {
				t.Errorf("base64 behind %q: %q", before, got)
			}
		}
	}
}

// Each part of this text is seen once what is behind it is replaced, in two passes. What
// uncovers more than is gone over goes as a whole.
func TestPasses(t *testing.T) {
	const part, end = `--password 'password="a1b2c3d4 `, "Authorization: password="
	for text, want := range map[string]string{
		part + end:                    "--password '[redacted:password]",
		part + part + end:             "[redacted:text]",
		strings.Repeat(part, 9) + end: "[redacted:text]",
		"[redacted:text]":             "[redacted:text]",
	} {
		if got := redact.New([]string{"redacted"}).Text(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	r := redact.New([]string{"abcdef", "tool.run", "123456", "01890a5d-ac96-774b-bcce-b302099a8057"})
	token := made("ghp_", alnum, 36)
	for text, want := range map[string]string{
		`{"a":1}`:                           `{"a":1}`,
		`{ "a" : "x" }`:                     `{ "a" : "x" }`,
		`{"` + token + `":"` + token + `"}`: `{"` + token + `":"[redacted:github-token]"}`,
		`{"password":"letmein","n":123456}`: `{"password":"[redacted:password]","n":123456}`,
		`{"password" : ["letmein"]}`:        `{"password" : ["letmein"]}`,
		`["--password","letmein","x"]`:      `["--password","[redacted:password]","x"]`,
		`["password","letmein"]`:            `["password","letmein"]`,
		`{"headers":{"Authorization":"Bearer a1b2c3d4"},"cookie":"sid=12345678"}`:       `{"headers":{"Authorization":"[redacted:authorization]"},"cookie":"[redacted:cookie]"}`,
		`{"sha256":"0abcdef8e387550fdab836ed7e6dc881de23001b0abcdef8e387550f12345678"}`: `{"sha256":"0abcdef8e387550fdab836ed7e6dc881de23001b0abcdef8e387550f12345678"}`,
		`{"run_id":"01890a5d-ac96-774b-bcce-b30209abcdef"}`:                             `{"run_id":"01890a5d-ac96-774b-bcce-b30209abcdef"}`,
		`{"x":"01890a5d-ac96-774b-bcce-b302099a8057"}`:                                  `{"x":"[redacted:secret]"}`,
		`{"head":"{\"token\":\"\u0067hp_` + token[4:] + `\"}"}`:                         `{"head":"{\"token\":\"[redacted:token]\"}"}`,
		`"xabcdefx"`:       `"x[redacted:secret]x"`,
		`not json, abcdef`: `not json, [redacted:secret]`,
	} {
		if got := string(r.JSON([]byte(text))); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
	for _, text := range innocent {
		in, err := json.Marshal(map[string]string{"x": text})
		if err != nil {
			t.Fatal(err)
		}
		if got := redact.New(nil).JSON(in); string(got) != string(in) {
			t.Errorf("%s\ngot %s", in, got)
		}
	}
}

// Nothing panics, JSON stays JSON with its names, and what was redacted is left alone.
func FuzzRedact(f *testing.F) {
	for _, secrets := range forms {
		f.Add(secrets[0], "hunter22")
	}
	for _, text := range innocent {
		f.Add(text, text)
	}
	f.Add(`{"password":"a\"b","x":["--token","\u0041"]}`, "abcdef")
	f.Add("password=[redacted:x]abcdefg", "abcdefghi")
	f.Fuzz(func(t *testing.T, text, value string) {
		r := redact.New([]string{value})
		once := r.Text(text)
		if twice := r.Text(once); twice != once {
			t.Errorf("%q with %q\nonce  %q\ntwice %q", text, value, once, twice)
		}
		if utf8.ValidString(text) && utf8.ValidString(value) && !utf8.ValidString(once) {
			t.Errorf("%q with %q: broken UTF-8 %q", text, value, once)
		}
		for _, in := range []string{text, string(mustJSON(map[string]any{"a": text, text: []string{value, "--" + text, text}}))} {
			if !json.Valid([]byte(in)) {
				continue
			}
			out := r.JSON([]byte(in))
			if !json.Valid(out) || names(out) != names([]byte(in)) {
				t.Errorf("%s with %q: got %s", in, value, out)
			}
			if again := r.JSON(out); string(again) != string(out) {
				t.Errorf("%s with %q\nonce  %s\ntwice %s", in, value, out, again)
			}
		}
	})
}

func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// names are the names of all members, in their order.
func names(text []byte) string {
	var all strings.Builder
	var v any
	if json.Unmarshal(text, &v) != nil {
		return "invalid"
	}
	walkNames(&all, v)
	return all.String()
}

func walkNames(b *strings.Builder, v any) {
	switch v := v.(type) {
	case map[string]any:
		ordered, _ := json.Marshal(slices.Sorted(maps.Keys(v)))
		b.Write(ordered)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			walkNames(b, v[name])
		}
	case []any:
		for _, e := range v {
			walkNames(b, e)
		}
	}
}

func BenchmarkJSON(b *testing.B) {
	line := "internal/home/lock.go:42: the token of a lock is kept until the process ends, see https://example.com/a\n"
	plain := mustJSON(map[string]any{"run_id": "01890a5d-ac96-774b-bcce-b302099a8057", "output": map[string]any{"sha256": strings.Repeat("0123456789abcdef", 4), "head": strings.Repeat(line, 20)}})
	values := []string{"one secret value", "another secret value", "hunter22", made("", alnum, 40)}
	for _, c := range []struct {
		name string
		r    *redact.Redactor
		text []byte
	}{
		{"plain", redact.New(nil), plain},
		{"plain, 4 known values", redact.New(values), plain},
		{"secret", redact.New(nil), mustJSON(map[string]any{"head": strings.Repeat(line, 10) + made("ghp_", alnum, 36) + strings.Repeat(line, 10)})},
		{"1 MiB", redact.New(nil), mustJSON(map[string]any{"head": strings.Repeat(line, 10000)})},
		{"1 MiB of names without values", redact.New(nil), mustJSON(map[string]any{"head": strings.Repeat("password=", 116508)})},
		{"1 MiB of BEGIN", redact.New(nil), mustJSON(map[string]any{"head": strings.Repeat("-----BEGIN PRIVATE KEY-----\n", 37449)})},
		{"1 MiB of ://", redact.New(nil), mustJSON(map[string]any{"head": strings.Repeat("://a:", 209715)})},
		{"1 MiB of secrets", redact.New(nil), mustJSON(map[string]any{"head": strings.Repeat(made("ghp_", alnum, 36)+" ", 25575)})},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				c.r.JSON(c.text)
			}
		})
	}
}

func TestKnows(t *testing.T) {
	r := redact.New([]string{"value/of+token"})
	for text, want := range map[string]bool{
		"": false, "value": false, "value/of+toke": false, "a value/of+token.": true, "value%2Fof%2Btoken": true, "dmFsdWUvb2YrdG9rZW4=": true, "[redacted:x] value/of+token": true,
	} {
		if r.Knows(text) != want {
			t.Errorf("%q: want %v", text, want)
		}
	}
	if (*redact.Redactor)(nil).Knows("x") {
		t.Error("nobody's values were known")
	}
}
