package canon

import (
	"fmt"
	"strconv"
)

// checkShape looks at the bytes before encoding/json, which recurses: it bounds nesting
// and refuses escapes that name half a character, which decoders read differently.
func checkShape(doc []byte, depth int) error {
	level, inString := 0, false
	for i := 0; i < len(doc); i++ {
		switch b := doc[i]; {
		case inString && b == '\\':
			if loneSurrogate(doc, i) {
				return fmt.Errorf("byte %d: half a surrogate pair", i)
			}
			i += escapeLength(doc, i) - 1
		case b == '"':
			inString = !inString
		case inString:
		case b == '{' || b == '[':
			if level++; level > depth {
				return fmt.Errorf("nesting deeper than %d levels", depth)
			}
		case b == '}' || b == ']':
			level--
		}
	}
	return nil
}

// escapeLength is how many bytes of an escape belong together: a surrogate pair does.
func escapeLength(doc []byte, at int) int {
	if unit, ok := escapedUnit(doc, at); ok && unit>>11 == 0x1B {
		return 12
	}
	return 2
}

// loneSurrogate reports whether the escape at a backslash is a UTF-16 surrogate
// without its other half.
func loneSurrogate(doc []byte, at int) bool {
	first, ok := escapedUnit(doc, at)
	if !ok || first>>11 != 0x1B {
		return false
	}
	second, ok := escapedUnit(doc, at+6)
	return first>>10 != 0x36 || !ok || second>>10 != 0x37
}

func escapedUnit(doc []byte, at int) (unit uint64, ok bool) {
	if at+6 > len(doc) || doc[at] != '\\' || doc[at+1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(doc[at+2:at+6]), 16, 16)
	return unit, err == nil
}
