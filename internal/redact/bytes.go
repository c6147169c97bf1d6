package redact

import "math"

func isDigit(c byte) bool     { return c >= '0' && c <= '9' }
func isLower(c byte) bool     { return c >= 'a' && c <= 'z' }
func isUpper(c byte) bool     { return c >= 'A' && c <= 'Z' }
func isLetter(c byte) bool    { return isLower(c) || isUpper(c) }
func isAlnum(c byte) bool     { return isLetter(c) || isDigit(c) }
func isWord(c byte) bool      { return isAlnum(c) || c == '_' }
func isHex(c byte) bool       { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }
func isBase64URL(c byte) bool { return isWord(c) || c == '-' }
func isBase64(c byte) bool    { return isBase64URL(c) || c == '+' || c == '/' }
func isDotted(c byte) bool    { return isBase64URL(c) || c == '.' }
func isBlank(c byte) bool     { return c == ' ' || c == '\t' }
func isQuote(c byte) bool     { return c == '"' || c == '\'' || c == '`' }

// run is the end of the characters of a class from i on, at most n of them.
func run(s string, i int, class func(byte) bool, n int) int {
	end := min(len(s), i+n)
	for i < end && class(s[i]) {
		i++
	}
	return i
}

// startsWord reports whether no word goes on at i. An escape in front of it, as JSON and
// URLs write them, is not part of the word.
func startsWord(s string, i int) bool {
	switch {
	case i == 0 || !isWord(s[i-1]):
		return true
	case i >= 2 && s[i-2] == '\\':
		return s[i-1] == 'n' || s[i-1] == 't' || s[i-1] == 'r' || s[i-1] == 'b' || s[i-1] == 'f'
	case i >= 3 && s[i-3] == '%':
		return isHex(s[i-2]) && isHex(s[i-1])
	}
	return i >= 6 && s[i-6:i-4] == `\u` && run(s, i-4, isHex, 4) == i
}

func contains(s string, class func(byte) bool) bool {
	for i := range len(s) {
		if class(s[i]) {
			return true
		}
	}
	return false
}

// entropy is Shannon's, in bits a byte.
func entropy(s string) float64 {
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	bits := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
