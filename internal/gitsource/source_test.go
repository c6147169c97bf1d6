package gitsource

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
)

func TestParse(t *testing.T) {
	here, err := filepath.Abs("x")
	if err != nil {
		t.Fatal(err)
	}
	for arg, want := range map[string]struct{ record, rev, remote string }{
		"https://h.example/a/b.git":                       {"https://h.example/a/b.git", "", "https://h.example/a/b.git"},
		"https://h.example/a/b@v1":                        {"https://h.example/a/b", "v1", "https://h.example/a/b"},
		"https://h.example/a/b@v1#x/y":                    {"https://h.example/a/b#x/y", "v1", "https://h.example/a/b"},
		"https://h.example/a/b#x/y/":                      {"https://h.example/a/b#x/y", "", "https://h.example/a/b"},
		"https://h.example/a/b@#.":                        {"https://h.example/a/b", "", "https://h.example/a/b"},
		"https://h.example/a/b@pkg@1.0.0":                 {"https://h.example/a/b", "pkg@1.0.0", "https://h.example/a/b"},
		"https://h.example/a/b@feature/x":                 {"https://h.example/a/b", "feature/x", "https://h.example/a/b"},
		"https://h.example/%40a/b@v1":                     {"https://h.example/%40a/b", "v1", "https://h.example/%40a/b"},
		"https://ada:pass@h.example:8443/a@v1":            {"https://h.example:8443/a", "v1", "https://h.example:8443/a"},
		"https://token@h.example/a":                       {"https://h.example/a", "", "https://h.example/a"},
		"ssh://git@h.example:22/a/b@v1":                   {"ssh://git@h.example:22/a/b", "v1", "ssh://git@h.example:22/a/b"},
		"ssh://git:pass@h.example/a":                      {"ssh://git@h.example/a", "", "ssh://git@h.example/a"},
		"git@h.example:a/b.git":                           {"git@h.example:a/b.git", "", "git@h.example:a/b.git"},
		"git@h.example:a/b.git@v1#c":                      {"git@h.example:a/b.git#c", "v1", "git@h.example:a/b.git"},
		"file:///srv/a@main":                              {"file:///srv/a", "main", "file:///srv/a"},
		"/srv/a b@main#c":                                 {"/srv/a b#c", "main", "file:///srv/a%20b"},
		"x@main":                                          {here, "main", "file://" + here},
		"./x":                                             {here, "", "file://" + here},
		"./a:b":                                           {filepath.Dir(here) + "/a:b", "", "file://" + filepath.Dir(here) + "/a:b"},
		"/srv/a@0123456789012345678901234567890123456789": {"/srv/a", "0123456789012345678901234567890123456789", "file:///srv/a"},
	} {
		s, err := Parse("git:" + arg)
		if err != nil || s.Record() != want.record || s.Rev != want.rev || s.remote != want.remote {
			t.Errorf("%s: got %q %q %q, %v", arg, s.Record(), s.Rev, s.remote, err)
		}
		again, err := Recorded(s.Record(), s.Rev)
		if s.user, s.password = "", ""; err != nil || again != s {
			t.Errorf("%s: %q is read back as %+v, %v", arg, s.Record(), again, err)
		}
	}
}

// What git would take for an option, a helper, an expression or another protocol.
func TestParseRefuses(t *testing.T) {
	for _, arg := range []string{
		"", "@v1", "#x", "-x", "--upload-pack=touch x", "ext::sh -c touch% x", "fd::17", "a::b", "transport::https://h/x",
		"http://h.example/a", "git://h.example/a", "ftp://h.example/a", "git+ssh://h.example/a", "HTTP://h.example/a",
		"https:///a", "https://h.example", "https://h.example/", "https://h.example/a?token=x", "https://-h.example/a", "file://host/a", "file://u@/a",
		"ssh://-oProxyCommand=x/a", "ssh://-l@h.example/a", "ssh://h.example\n/a", "https://h.example/a\x00b", "https://a%0d%0ab:c@h.example/a",
		"/srv/a@-x", "/srv/a@--upload-pack=x", "/srv/a@+x", "/srv/a@a:b", "/srv/a@^x", "/srv/a@a..b", "/srv/a@a@{1}", "/srv/a@@", "/srv/a@/x",
		"/srv/a@x/", "/srv/a@x.", "/srv/a@.x", "/srv/a@a/.b", "/srv/a@a//b", "/srv/a@*", "/srv/a@a b", "/srv/a@a\x1b[m", "/srv/a@x.lock", "/srv/a@x.lock/y",
		"/srv/a@" + strings.Repeat("x", 251),
		"/srv/a#../x", "/srv/a#/x", "/srv/a#a/../b", "/srv/a#a//b", "/srv/a#a\\b", "/srv/a#a#b", "/srv/a#a\nb", "/srv/a#./x",
	} {
		if s, err := Parse("git:" + arg); err == nil {
			t.Errorf("%q was taken as %+v", arg, s)
		} else if e := fault.From(err); e.Kind != fault.InvalidInput || strings.ContainsAny(e.Message, "\x1b\n") {
			t.Errorf("%q: %+v", arg, e)
		}
	}
}

// Whatever is wrong with a URL, its password is in no error.
func TestPasswordsAreNotShown(t *testing.T) {
	for _, arg := range []string{
		"http://ada:hunter22@h.example/a", "https://ada:hunter22@h.example", "https://ada:hunter22@h.example/a?x", "https://ada:hunter22@:x/a",
		"ssh://-a:hunter22@h.example/a", "-://ada:hunter22@h.example/a", "https://ada:hunter22@h.example/a\n", "https://ada:hunter22@h.example/%zz",
	} {
		_, err := Parse("git:" + arg)
		if err == nil || strings.Contains(err.Error(), "hunter22") {
			t.Errorf("%q: %v", arg, err)
		}
	}
}

func TestWhatTravels(t *testing.T) {
	for record, want := range map[string]bool{
		"https://h.example/a": true, "git@h.example:a": true, "file:///srv/a#b": true, "/srv/a": false, "a#b": false, "": false,
	} {
		if Travels(record) != want {
			t.Errorf("%q: got %v", record, !want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("git:https://ada:b@h.example/a@v1#c")
	f.Add("git:git@h.example:a@b#c")
	f.Add("git:-x")
	f.Fuzz(func(t *testing.T, arg string) {
		s, err := Parse(arg)
		if err != nil {
			return
		}
		if strings.HasPrefix(s.remote, "-") || strings.HasPrefix(s.Rev, "-") || helperName.MatchString(s.remote) {
			t.Errorf("%q becomes %q %q", arg, s.remote, s.Rev)
		}
		if again, err := Recorded(s.Record(), s.Rev); err != nil || again.remote != s.remote || again.Dir != s.Dir {
			t.Errorf("%q is recorded as %q, which is %+v, %v", arg, s.Record(), again, err)
		}
	})
}
