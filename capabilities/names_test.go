package capabilities

import (
	"strings"
	"testing"
)

func TestSplitID(t *testing.T) {
	digits := strings.Repeat("0123456789abcdef", 4)
	for _, c := range []struct {
		arg, id, digest string
		ok              bool
	}{
		{"acme-csv", "acme-csv", "", true},
		{"acme-csv@sha256:01234567", "acme-csv", "sha256:01234567", true},
		{"a@sha256:" + digits, "a", "sha256:" + digits, true},
		{"acme-csv@sha256:0123456", "", "", false},
		{"acme-csv@sha256:" + digits + "0", "", "", false},
		{"acme-csv@SHA256:01234567", "", "", false},
		{"acme-csv@", "", "", false},
		{"acme-csv@s", "", "", false},
		{"@sha256:01234567", "", "", false},
		{"host:5000/acme-csv@sha256:01234567", "", "", false},
		{strings.Repeat("a", 65), "", "", false},
		{"../x", "", "", false},
		{"", "", "", false},
	} {
		id, digest, ok := SplitID(c.arg)
		if id != c.id || digest != c.digest || ok != c.ok {
			t.Errorf("%q: got %q, %q, %v", c.arg, id, digest, ok)
		}
	}
}
