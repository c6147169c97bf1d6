package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/aircoding/air/oci"
)

// Whoever starts a registry is told what it keeps, and when nobody may push to it.
func TestNoteRegistry(t *testing.T) {
	const gone, readOnly = "gone when this registry stops", "read-only"
	for _, c := range []struct {
		addr  string
		o     oci.ServeOptions
		wants []string
	}{
		{"127.0.0.1:5000", oci.ServeOptions{}, []string{gone}},
		{"[::1]:5000", oci.ServeOptions{Dir: "/srv/x"}, []string{"kept in /srv/x"}},
		{"[::]:5400", oci.ServeOptions{}, []string{gone, readOnly}},
		{"0.0.0.0:5400", oci.ServeOptions{Token: "t"}, []string{gone}},
	} {
		var told bytes.Buffer
		a := app{stderr: &told}
		a.noteRegistry(c.addr, c.o)
		lines := strings.Split(strings.TrimSpace(told.String()), "\n")
		if len(lines) != len(c.wants) {
			t.Errorf("%s: got %q, want %q", c.addr, lines, c.wants)
			continue
		}
		for i, want := range c.wants {
			if !strings.Contains(lines[i], want) {
				t.Errorf("%s: got %q, want %q", c.addr, lines[i], want)
			}
		}
	}
}
