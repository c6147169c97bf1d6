package redact

import (
	"sync"

	"github.com/aircoding/air/internal/literal"
)

// rule finds one kind of secret.
type rule struct {
	name string
	keys []string // texts of three bytes or more that one of it cannot be without
	fold bool     // finds the keys, which are in lower case, in any
	find finder
}

// finder returns where the secret lies of which a key stands at s[at:end], and nothing
// (to <= from) where none does.
type finder func(s string, at, end int) (from, to int)

// rules are the forms that vendors document, and what assigns a secret to a name. The
// comments give the form and who documents it. A form is the prefix and the least number of
// characters that follow, for vendors lengthen their tokens.
func rules() []rule {
	return []rule{
		// RFC 7468, RFC 4880, PROTOCOL.key of OpenSSH: from BEGIN to END of a private key.
		{name: "private-key", keys: []string{"-----BEGIN "}, find: privateKey},
		// age: Bech32 with this prefix, 58 characters.
		{name: "age-secret-key", keys: []string{"AGE-SECRET-KEY-1"}, find: token(isAlnum, 58)},

		// AWS IAM, unique identifiers: AKIA long-term, ASIA temporary, 16 characters of base32.
		// The secret half has no form of its own and is found by its name.
		{name: "aws-access-key", keys: []string{"AKIA", "ASIA"}, find: exactly(isBase32, 16)},
		// Google Cloud: API keys, OAuth access tokens, client secrets.
		{name: "google-api-key", keys: []string{"AIza"}, find: token(isBase64URL, 35)},
		{name: "google-oauth-token", keys: []string{"ya29."}, find: token(isDotted, 20)},
		{name: "google-client-secret", keys: []string{"GOCSPX-"}, find: token(isBase64URL, 20)},
		// Azure: client secrets of Entra ID have this in the fourth place of 40 characters.
		{name: "azure-client-secret", keys: []string{"7Q~", "8Q~"}, find: azureSecret},
		// DigitalOcean: personal, OAuth, refresh tokens, 64 hexadecimal digits.
		{name: "digitalocean-token", keys: []string{"dop_v1_", "doo_v1_", "dor_v1_"}, find: token(isHex, 64)},
		// Databricks: personal access tokens, 32 hexadecimal digits.
		{name: "databricks-token", keys: []string{"dapi"}, find: token(isHex, 32)},

		// GitHub, token formats: 36 characters, 82 of a fine-grained one; newer ones hold a JWT.
		{name: "github-token", keys: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"}, find: token(isDotted, 36)},
		// GitLab, token prefixes: personal, OAuth, deploy, runner, trigger, job, feed, mail, agent.
		{name: "gitlab-token", keys: []string{"glpat-", "gloas-", "gldt-", "glrt-", "glrtr-", "glptt-", "glcbt-", "glft-", "glimt-", "glagent-", "glsoat-", "GR1348941"}, find: token(isDotted, 20)},
		// npm, PyPI (a macaroon), RubyGems, crates, NuGet: publishing tokens.
		{name: "npm-token", keys: []string{"npm_"}, find: token(isAlnum, 36)},
		{name: "pypi-token", keys: []string{"pypi-Ag"}, find: token(isBase64URL, 50)},
		{name: "rubygems-token", keys: []string{"rubygems_"}, find: token(isHex, 48)},
		{name: "crates-token", keys: []string{"cio"}, find: exactly(isAlnum, 32)},
		{name: "nuget-key", keys: []string{"oy2"}, find: exactly(isAlnum, 43)},
		// Docker Hub: personal and organisation tokens.
		{name: "docker-token", keys: []string{"dckr_pat_", "dckr_oat_"}, find: token(isBase64URL, 27)},
		// Hugging Face: user and organisation tokens.
		{name: "huggingface-token", keys: []string{"hf_", "api_org_"}, find: token(isAlnum, 34)},

		// Anthropic, OpenAI and those that took over the prefix; Groq, xAI, Perplexity, Replicate.
		{name: "anthropic-key", keys: []string{"sk-ant-"}, find: token(isBase64URL, 20)},
		{name: "openai-key", keys: []string{"sk-"}, find: mixed(token(isBase64URL, 32))},
		{name: "groq-key", keys: []string{"gsk_"}, find: token(isAlnum, 40)},
		{name: "xai-key", keys: []string{"xai-"}, find: token(isAlnum, 40)},
		{name: "perplexity-key", keys: []string{"pplx-"}, find: token(isAlnum, 40)},
		{name: "replicate-token", keys: []string{"r8_"}, find: token(isAlnum, 36)},

		// Slack, token types: bot, user, app, session, refresh, configuration; incoming webhooks.
		{name: "slack-token", keys: []string{"xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxc-", "xoxd-", "xoxe-", "xoxe.", "xapp-"}, find: mixed(token(isDotted, 16))},
		{name: "slack-webhook", keys: []string{"hooks.slack.com/services/", "hooks.slack.com/workflows/"}, find: behind(isBase64, 20)},
		{name: "discord-webhook", keys: []string{"discord.com/api/webhooks/", "discordapp.com/api/webhooks/"}, find: behind(isBase64, 40)},
		// Telegram, Bot API: the bot's number, a colon, 35 characters that begin with AA.
		{name: "telegram-token", keys: []string{":AA"}, find: telegramToken},
		// Twilio: API keys, 32 hexadecimal digits.
		{name: "twilio-key", keys: hexAfter("SK"), find: exactly(isHex, 31)},
		// SendGrid: two parts.
		{name: "sendgrid-key", keys: []string{"SG."}, find: mixed(token(isDotted, 40))},
		// Stripe: secret, restricted and webhook keys. Publishable ones (pk_) are no secrets.
		{name: "stripe-key", keys: []string{"sk_live_", "sk_test_", "rk_live_", "rk_test_"}, find: token(isAlnum, 16)},
		{name: "stripe-webhook-secret", keys: []string{"whsec_"}, find: token(isBase64, 24)},
		// Shopify: access tokens and shared secrets.
		{name: "shopify-token", keys: []string{"shpat_", "shpca_", "shppa_", "shpss_"}, find: token(isHex, 32)},
		// Square: access tokens and application secrets.
		{name: "square-token", keys: []string{"sq0atp-", "sq0csp-"}, find: token(isBase64URL, 22)},

		// HashiCorp Vault: service, batch and recovery tokens.
		{name: "vault-token", keys: []string{"hvs.", "hvb.", "hvr."}, find: token(isBase64URL, 24)},
		// Terraform Cloud: 14 characters in front of the key.
		{name: "terraform-token", keys: []string{".atlasv1."}, find: terraformToken},
		// Pulumi, Doppler, Tailscale, Grafana, Sentry, New Relic, Postman, Linear, Notion,
		// Atlassian, Supabase, PlanetScale, Fly, 1Password.
		{name: "pulumi-token", keys: []string{"pul-"}, find: token(isHex, 40)},
		{name: "doppler-token", keys: []string{"dp.pt.", "dp.st.", "dp.ct.", "dp.sa."}, find: token(isDotted, 40)},
		{name: "tailscale-key", keys: []string{"tskey-"}, find: mixed(token(isBase64URL, 20))},
		{name: "grafana-token", keys: []string{"glsa_", "glc_"}, find: token(isBase64, 32)},
		{name: "sentry-token", keys: []string{"sntrys_", "sntryu_"}, find: token(isBase64, 40)},
		{name: "newrelic-key", keys: []string{"NRAK-"}, find: token(isAlnum, 27)},
		{name: "postman-key", keys: []string{"PMAK-"}, find: token(isBase64URL, 58)},
		{name: "linear-key", keys: []string{"lin_api_", "lin_oauth_"}, find: token(isAlnum, 32)},
		{name: "notion-token", keys: []string{"ntn_"}, find: token(isAlnum, 40)},
		{name: "atlassian-token", keys: []string{"ATATT3", "ATCTT3"}, find: token(isBase64URL, 60)},
		{name: "supabase-key", keys: []string{"sbp_", "sb_secret_"}, find: token(isBase64URL, 30)},
		{name: "planetscale-token", keys: []string{"pscale_tkn_", "pscale_pw_", "pscale_oauth_"}, find: token(isDotted, 32)},
		{name: "fly-token", keys: []string{"FlyV1 fm", "fm2_"}, find: token(isBase64, 40)},
		{name: "onepassword-token", keys: []string{"ops_eyJ"}, find: token(isBase64, 40)},

		// RFC 7519, 7515: a header that is a JSON object, payload, signature.
		{name: "jwt", keys: []string{"eyJ"}, find: jwt},
		// RFC 9110, 6750, 7617, 6265: what a header authorises with.
		{name: "authorization", keys: []string{"authorization"}, fold: true, find: authorization},
		{name: "bearer-token", keys: []string{"bearer "}, fold: true, find: bearer},
		{name: "basic-credentials", keys: []string{"basic "}, fold: true, find: basic},
		{name: "cookie", keys: []string{"cookie"}, fold: true, find: cookie},
		// RFC 3986: the password, or a token alone, in front of a URL's host.
		{name: "url-password", keys: []string{"://"}, find: urlPassword},
		// What has no form but a name.
		{name: passwordName, keys: passwordNames(), fold: true, find: assignment(isPassword)},
		{name: tokenName, keys: tokenNames(), fold: true, find: assignment(isToken)},
	}
}

// hexAfter are the keys of a prefix of two bytes.
func hexAfter(prefix string) (keys []string) {
	for _, digit := range "0123456789abcdef" {
		keys = append(keys, prefix+string(digit))
	}
	return keys
}

// table is the rules with what finds their keys. The first key is that of a mark.
type table struct {
	set   *literal.Set
	keys  []literal.Text
	byKey []rule
}

// compiled is made when a text is first looked at: most processes look at none.
var compiled = sync.OnceValue(func() *table {
	t := &table{keys: []literal.Text{{Text: markBegin}}, byKey: []rule{{}}}
	for _, r := range rules() {
		for _, key := range r.keys {
			t.keys = append(t.keys, literal.Text{Text: key, Fold: r.fold})
			t.byKey = append(t.byKey, r)
		}
	}
	t.set = literal.New(t.keys)
	return t
})
