package patch

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aircoding/air/internal/fault"
)

const devNull = "/dev/null"

// plainName is a name behind --- or +++ as diff -u writes it.
type plainName struct {
	name  string
	null  bool // /dev/null
	never bool // its time is the beginning of time: there is no such file
}

var spacedTime = regexp.MustCompile(`^(.*?) +(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? [-+]\d\d:?\d\d)$`)

func parsePlainName(field string) plainName {
	field = strings.TrimSuffix(field, "\r")
	name, stamp, tabbed := strings.Cut(field, "\t")
	if quoted, rest, ok := unquote(field); ok {
		name, stamp = quoted, rest
	} else if found := spacedTime.FindStringSubmatch(field); found != nil && !tabbed {
		name, stamp = found[1], found[2]
	}
	return plainName{name: name, null: name == devNull, never: isEpoch(strings.TrimSpace(stamp))}
}

// isEpoch reports whether a time as diff -u writes it is that of files that do not exist.
func isEpoch(stamp string) bool {
	for _, layout := range []string{"2006-01-02 15:04:05.999999999 -0700", "2006-01-02 15:04:05.999999999 -07:00"} {
		if at, err := time.Parse(layout, stamp); err == nil {
			return at.Equal(time.Unix(0, 0))
		}
	}
	return false
}

// unquote reads a name in C's quotes at the beginning of a text.
func unquote(s string) (name, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		return "", "", false
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:], true
		case '\\':
			c, n, ok := unescape(s[i+1:])
			if !ok {
				return "", "", false
			}
			b.WriteByte(c)
			i += n
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", false
}

// escapes in C's quotes, and what they mean.
const letters, meanings = `abtnvfr"\`, "\a\b\t\n\v\f\r\"\\"

// unescape reads what follows a backslash, and says how long it is.
func unescape(s string) (c byte, length int, ok bool) {
	if s == "" {
		return 0, 0, false
	}
	if i := strings.IndexByte(letters, s[0]); i >= 0 {
		return meanings[i], 1, true
	}
	if len(s) < 3 {
		return 0, 0, false
	}
	n, err := strconv.ParseUint(s[:3], 8, 8)
	return byte(n), 3, err == nil
}

// Quote writes a name as git does: in C's quotes where it would be misread.
func Quote(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '"' || r == '\\' }) {
		return name
	}
	var b strings.Builder
	for _, c := range []byte(name) {
		switch i := strings.IndexByte(meanings, c); {
		case i >= 0:
			b.Write([]byte{'\\', letters[i]})
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return `"` + b.String() + `"`
}

// stripped takes n leading parts off a name.
func (p *parser) stripped(name string, n int) (string, error) {
	if goesUp(name) {
		return "", escapes(name)
	}
	rest := name
	for range n {
		_, after, ok := strings.Cut(rest, "/")
		if !ok || after == "" {
			return "", fault.New(fault.InvalidInput, "strip", "line %d of the patch: nothing is left of the name %.200q without its first %d parts", p.at+1, name, n).
				WithHint("strip is how many leading parts of the names go: 1 for a/ and b/, 0 where names are whole")
		}
		if rest[0] == '/' { // the part before is no name: the path is absolute
			return "", escapes(name)
		}
		rest = after
	}
	return rest, nil
}

const (
	maxName     = 4096
	maxStripped = 4096 // what goes before a name
)

func goesUp(name string) bool { return slices.Contains(strings.Split(name, "/"), "..") }

// checkName refuses what is no path below the project. It goes by the name alone, before
// anything is looked at.
func checkName(name string) error {
	switch {
	case strings.HasPrefix(name, "/"), goesUp(name):
		return escapes(name)
	case !utf8.ValidString(name), strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fault.New(fault.InvalidInput, "bad_path", "the patch names %.200q: a name in UTF-8 without control characters is wanted", name)
	case len(name) > maxName:
		return fault.New(fault.InvalidInput, "bad_path", "the patch names a path of %d bytes, the limit is %d", len(name), maxName)
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." {
			return fault.New(fault.InvalidInput, "bad_path", "the patch names %.200q: a plain path is wanted, without empty parts and dots", name)
		}
	}
	return nil
}

func escapes(name string) *fault.Error {
	return fault.New(fault.PermissionDenied, "path_escapes", "the patch names %.200q: a patch changes files below the project's folder and no others", name).
		WithHint("names in a patch are relative to the project, behind as many leading parts as strip says, and do not go up")
}

// checkFiles refuses a patch that changes a file twice, or makes a file where it needs a
// folder.
func checkFiles(files []File) error {
	changed := map[string]bool{}
	for i := range files {
		for _, name := range files[i].Changed() {
			if changed[name] {
				return fault.New(fault.InvalidInput, "duplicate_file", "the patch changes %s twice", name).
					WithHint("put all hunks of a file under one name; what replaces a file, or moves onto one, goes into a patch of its own")
			}
			changed[name] = true
		}
	}
	for name := range changed {
		for i := range name {
			if name[i] == '/' && changed[name[:i]] {
				return fault.New(fault.InvalidInput, "file_and_folder", "the patch changes both %s and %s: a file does not become a folder, or a folder a file, in one patch", name[:i], name)
			}
		}
	}
	return nil
}
