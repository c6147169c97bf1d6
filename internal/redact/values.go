package redact

import "strings"

const (
	leastPassword = 4
	leastToken    = 16
	leastCutToken = 8
	maxSecret     = 512
	// leastEntropy in bits a byte lets through what repeats itself.
	leastEntropy = 3.0
)

// isPassword takes any text that nothing speaks against: a person made it up.
func isPassword(text string, v value) bool {
	if len(text) < leastPassword || len(text) > maxSecret || isPlaceholder(text) || strings.Contains(text, "://") {
		return false
	}
	if v.quoted {
		return !isCodeOrLabel(text)
	}
	return !strings.ContainsAny(text, "([{") && !isPath(text) && !isIdentifier(text, v.tight)
}

// isCodeOrLabel is what stands between two quotes, and is no secret: a sentence for a
// person, or the code between two texts.
func isCodeOrLabel(text string) bool {
	if !strings.ContainsAny(text, " \t") {
		return false
	}
	return strings.ContainsAny(text, "()={};") || !contains(text, isDigit)
}

// isIdentifier is what code and prose put behind the word. Where nothing stands between
// name and value, only a chain of names is taken for code.
func isIdentifier(text string, tight bool) bool {
	for i := range len(text) {
		if c := text[i]; !isLetter(c) && c != '_' && c != '.' && c != '-' && c != '/' {
			return false
		}
	}
	return !tight || strings.Contains(strings.TrimRight(text, "."), ".")
}

func isPath(text string) bool {
	return strings.HasPrefix(text, "/") || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") || strings.HasPrefix(text, "~/")
}

// isToken takes what no person would make up.
func isToken(text string, v value) bool {
	least := leastToken
	if v.cut {
		least = leastCutToken
	}
	switch {
	case len(text) < least, len(text) > maxSecret, isPlaceholder(text), isPath(text):
		return false
	case strings.ContainsAny(text, " \t()[]{}<>,;\\"), strings.Contains(text, "://"), strings.HasPrefix(text, "data:"):
		return false
	}
	return contains(text, isDigit) && !isWords(text) && (v.cut || entropy(text) >= leastEntropy)
}

// isWords reports whether a text is words and numbers that - _ . / : join, as names of
// things are: each a word, a short number, or a word with a short number.
func isWords(text string) bool {
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune("-_./:=@", r) }) {
		letters := run(part, 0, isLetter, len(part))
		if run(part, letters, isDigit, 4) != len(part) || letters > 24 {
			return false
		}
	}
	return true
}

// isPlaceholder is what stands for a secret.
func isPlaceholder(text string) bool {
	if marker(text) == text && text != "" {
		return true
	}
	lower := strings.ToLower(text)
	switch lower {
	case "", "true", "false", "null", "none", "nil", "undefined", "string", "required", "optional", "yes", "no", "prompt",
		"password", "passwd", "passphrase", "secret", "token", "example", "redacted", "hidden", "masked", "empty", "unset", "default":
		return true
	}
	for _, prefix := range []string{"$", "%", "{", "<", "*", "--", "xxx", "...", "…", "your", "os.", "env.", "process.env", "getenv", "secrets."} {
		if strings.HasPrefix(lower, prefix) {
			return true
		}
	}
	return strings.Trim(text, text[:1]) == "" // one character again and again
}
