package redact

import (
	"encoding/base64"
	"strings"
)

const (
	maxToken = 4096
	// leastCut is the number of characters behind a prefix from which a text that ends there
	// counts as a token that was cut off.
	leastCut = 4
)

func isBase32(c byte) bool { return isUpper(c) || c >= '2' && c <= '7' }

// token is a prefix, at the start of a word, and at least n characters of a class.
func token(class func(byte) bool, n int) finder {
	return func(s string, at, end int) (from, to int) {
		if !startsWord(s, at) {
			return 0, 0
		}
		to = run(s, end, class, maxToken)
		if to-end < n && !(to == len(s) && to-end >= leastCut) {
			return 0, 0
		}
		return at, end + len(strings.TrimRight(s[end:to], ".-")) // what ends a sentence
	}
}

// exactly is a prefix, at the start of a word, and n characters of a class that end it.
// It is for prefixes that are short enough to begin words.
func exactly(class func(byte) bool, n int) finder {
	return func(s string, at, end int) (from, to int) {
		to = run(s, end, class, n)
		if to-end < n || to < len(s) && isWord(s[to]) || !startsWord(s, at) || !contains(s[end:to], isDigit) {
			return 0, 0
		}
		return at, to
	}
}

// mixed is a form of which words joined by hyphens are none.
func mixed(find finder) finder {
	return func(s string, at, end int) (from, to int) {
		from, to = find(s, at, end)
		if to <= from || at > 0 && s[at-1] == '-' || !contains(s[from:to], isDigit) || isWords(s[end:max(to, end)]) {
			return 0, 0
		}
		return from, to
	}
}

// behind is the part of an address that nobody else is to know.
func behind(class func(byte) bool, n int) finder {
	return func(s string, _, end int) (from, to int) {
		if to = run(s, end, class, maxToken); to-end < n && to < len(s) {
			return 0, 0
		}
		return end, to
	}
}

const (
	maxKeyLabel = 64
	maxKey      = 16 << 10
	maxHeaders  = 512 // in front of the base64 of an encrypted key
	leastDense  = 24
)

// privateKey is everything from BEGIN to END; to where it cannot go on where END is missing.
func privateKey(s string, at, end int) (from, to int) {
	label := s[end:min(len(s), end+maxKeyLabel)]
	dashes := strings.Index(label, "-----")
	if dashes < 0 || !strings.Contains(label[:dashes], "PRIVATE KEY") {
		return 0, 0
	}
	body := end + dashes + len("-----")
	first := run(s, body, isKeyBody, maxHeaders)
	if first < len(s) && !isDense(s[body:first]) {
		return 0, 0
	}
	stop := run(s, first, isKeyBody, maxKey)
	if ending := strings.Index(s[body:min(len(s), body+maxKey)], "-----END "); ending >= 0 && body+ending <= stop {
		last := body + ending + len("-----END ")
		if dashes := strings.Index(s[last:min(len(s), last+maxKeyLabel)], "-----"); dashes >= 0 {
			return at, last + dashes + len("-----")
		}
	}
	return at, stop
}

// isKeyBody are base64, the headers of an encrypted key, and line ends however escaped.
func isKeyBody(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', '\\', '=', ':', ',', '.', '(', ')':
		return true
	}
	return isBase64(c)
}

// isDense reports whether a text has a line of base64: a sentence has none.
func isDense(text string) bool {
	for i := 0; i < len(text); i++ {
		end := run(text, i, isBase64, leastDense)
		if end-i == leastDense {
			return true
		}
		i = end
	}
	return false
}

func azureSecret(s string, at, end int) (from, to int) {
	from = at - 3
	to = run(s, end, func(c byte) bool { return isDotted(c) || c == '~' }, maxToken)
	if from < 0 || !startsWord(s, from) || to-end < 31 || run(s, from, isAlnum, 3) != at {
		return 0, 0
	}
	return from, end + len(strings.TrimRight(s[end:to], "."))
}

func telegramToken(s string, at, end int) (from, to int) {
	for from = at; from > 0 && at-from < 12 && isDigit(s[from-1]); from-- {
	}
	to = run(s, end, isBase64URL, maxToken)
	if at-from < 8 || to-end < 33 && !(to == len(s) && to-end >= leastCut) {
		return 0, 0
	}
	return from, to
}

func terraformToken(s string, at, end int) (from, to int) {
	from, to = at-14, run(s, end, isBase64URL, maxToken)
	if from < 0 || run(s, from, isAlnum, 14) != at || to-end < 40 && to < len(s) {
		return 0, 0
	}
	return from, to
}

const leastJWT = 10

// jwt has three parts, an encrypted one five.
func jwt(s string, at, end int) (from, to int) {
	header := run(s, end, isBase64URL, maxToken)
	if !startsWord(s, at) || header-end < leastJWT {
		return 0, 0
	}
	if header == len(s) {
		return at, header
	}
	to = run(s, header+1, isBase64URL, 4*maxToken)
	if s[header] != '.' || to-header-1 < leastJWT && to < len(s) {
		return 0, 0
	}
	for range 3 {
		if next := run(s, min(to+1, len(s)), isBase64URL, 4*maxToken); next > to+1 && s[to] == '.' {
			to = next
		}
	}
	return at, to
}

func bearer(s string, at, end int) (from, to int) {
	to = run(s, end, isCredential, maxToken)
	if !startsWord(s, at) || !isToken(s[end:to], value{}) {
		return 0, 0
	}
	return end, to
}

// isCredential are the characters of a token68.
func isCredential(c byte) bool { return isBase64(c) || c == '.' || c == '~' || c == '=' }

// basic is a name and a password in base64; what decodes to anything else is a word.
func basic(s string, at, end int) (from, to int) {
	to = run(s, end, isCredential, maxToken)
	text, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s[end:to], "="))
	if !startsWord(s, at) || to-end < 8 || err != nil && to < len(s) || !strings.Contains(string(text), ":") || contains(string(text), isControl) {
		return 0, 0
	}
	return end, to
}

func isControl(c byte) bool { return c < ' ' || c == 0x7f }

const maxAuthority = 1024

func urlPassword(s string, _, end int) (from, to int) {
	authority := s[end:run(s, end, isAuthority, maxAuthority)]
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return 0, 0
	}
	user, password, has := strings.Cut(authority[:at], ":")
	switch {
	case marker(authority) == authority[:at]:
	case has && password != "" && !isPlaceholder(password):
		return end + len(user) + 1, end + at
	case !has && isToken(user, value{}):
		return end, end + at
	}
	return 0, 0
}

func isAuthority(c byte) bool {
	return c > ' ' && c != 0x7f && !isQuote(c) && strings.IndexByte(`/?#<>\`, c) < 0
}
