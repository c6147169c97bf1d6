package redact

import "strings"

const (
	passwordName = "password"
	tokenName    = "token"
)

// passwordNames are the ends of names whose values people choose.
func passwordNames() []string {
	return []string{"password", "passwd", "passphrase", "_pass", "_pwd", "-pwd", "userpwd"}
}

// tokenNames are the ends of names whose values machines made.
func tokenNames() []string {
	return []string{
		"secret", "token", "credential", "credentials",
		"api_key", "api-key", "apikey", "access_key", "access-key", "accesskey", "secret_key", "secret-key", "secretkey",
		"private_key", "private-key", "privatekey", "account_key", "accountkey", "auth_key", "authkey",
		"encryption_key", "encryptionkey", "signing_key", "signingkey", "master_key", "masterkey",
	}
}

// value is how a value stands behind its name.
type value struct {
	quoted bool
	tight  bool // name=value, as a shell, a query and a file of settings write it
	cut    bool // the text ends with it
}

const (
	maxBlanks = 8
	maxQuotes = 8
	maxValue  = 4096
)

// assignment is a name that ends with a key, what assigns, and a value that is a secret.
func assignment(isSecret func(string, value) bool) finder {
	return func(s string, at, end int) (from, to int) {
		i, tight, ok := assigns(s, at, end)
		if !ok {
			return 0, 0
		}
		from, to, quoted := valueAt(s, i)
		if !isSecret(s[from:to], value{quoted, tight && !quoted, to == len(s)}) {
			return 0, 0
		}
		return from, to
	}
}

// assigns finds the end of what stands between a name and its value: = : := => or, behind
// an option of a command, blanks.
func assigns(s string, at, end int) (i int, tight, ok bool) {
	named := run(s, end, isQuoting, maxQuotes)
	if named < len(s) && s[named] == ']' { // environ["NAME"] = …
		named = run(s, named+1, isQuoting, maxQuotes)
	}
	blanks := run(s, named, isBlank, maxBlanks)
	i = blanks
	switch rest := s[i:]; {
	case strings.HasPrefix(rest, "=="), strings.HasPrefix(rest, "::"):
		return 0, false, false
	case strings.HasPrefix(rest, ":="), strings.HasPrefix(rest, "=>"):
		i += 2
	case strings.HasPrefix(rest, "="), strings.HasPrefix(rest, ":"):
		i++
	case strings.HasPrefix(rest, "%3D"), strings.HasPrefix(rest, "%3d"):
		i += 3
	case isOption(s, at) && (blanks > named || named > end && strings.HasPrefix(rest, ",")):
		i = run(s, i, func(c byte) bool { return c == ',' }, 1)
	default:
		return 0, false, false
	}
	next := run(s, i, isBlank, maxBlanks)
	return next, blanks == named && next == i, true
}

func isQuoting(c byte) bool { return c == '\\' || isQuote(c) }

// isOption reports whether the name in which a key stands begins with two hyphens.
func isOption(s string, at int) bool {
	for n := 0; at > 0 && isBase64URL(s[at-1]) && n < 64; n++ {
		at--
	}
	return strings.HasPrefix(s[at:], "--")
}

// valueAt is the value that begins at i: up to its closing quote, or the word.
func valueAt(s string, i int) (from, to int, quoted bool) {
	opening := run(s, i, func(c byte) bool { return c == '\\' }, maxQuotes)
	if opening == len(s) || !isQuote(s[opening]) {
		return i, run(s, i, isBare, maxSecret+1), false
	}
	from = opening + 1
	to = from
	for limit := min(len(s), from+maxValue); to < limit && s[to] != s[opening] && s[to] != '\n'; to++ {
		if s[to] == '\\' && opening == i && to+1 < limit { // the quote is not escaped, so an escape is its own
			to++
		}
	}
	for opening > i && to > from && s[to-1] == '\\' {
		to--
	}
	return from, to, true
}

func isBare(c byte) bool {
	return c > ' ' && c != 0x7f && !isQuote(c) && strings.IndexByte(`,;&)}]<>\|`, c) < 0
}

// assigned is the rule by which a value is a secret since it has this name, "" where it
// is none.
func assigned(name, text string) string {
	name = strings.ToLower(name)
	ends := func(keys []string) bool {
		for _, key := range keys {
			if strings.HasSuffix(name, key) {
				return true
			}
		}
		return false
	}
	v := value{quoted: true}
	switch {
	case ends(passwordNames()) && isPassword(text, v):
		return passwordName
	case ends(tokenNames()) && isToken(text, v):
		return tokenName
	case strings.HasSuffix(name, "authorization") && isHeader(text):
		return "authorization"
	case strings.HasSuffix(name, "cookie") && isCookie(text):
		return "cookie"
	}
	return ""
}

func authorization(s string, at, end int) (from, to int) { return header(s, at, end, isHeader) }
func cookie(s string, at, end int) (from, to int)        { return header(s, at, end, isCookie) }

// header is the value of a header, up to the end of its line or its quote.
func header(s string, at, end int, isSecret func(string) bool) (from, to int) {
	i, _, ok := assigns(s, at, end)
	if !ok {
		return 0, 0
	}
	from, to, quoted := valueAt(s, i)
	if !quoted {
		to = run(s, from, func(c byte) bool { return c >= ' ' && !isQuoting(c) }, maxValue)
	}
	if !isSecret(s[from:to]) {
		return 0, 0
	}
	return from, to
}

const leastHeader = 8

func isHeader(text string) bool {
	_, credential, has := strings.Cut(text, " ")
	if !has {
		credential = text
	}
	return len(text) >= leastHeader && !isPlaceholder(credential) && (contains(text, isDigit) || strings.HasSuffix(text, "="))
}

func isCookie(text string) bool {
	return len(text) >= leastHeader && strings.Contains(text, "=") && !isPlaceholder(text)
}
