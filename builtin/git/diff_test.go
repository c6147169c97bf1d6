package git_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
)

func TestDiff(t *testing.T) {
	p := newProject(t, rig.Options{})
	if d := p.diff(object{}); d.Diff != "" {
		t.Errorf("nothing is tracked yet: %q", d.Diff)
	}
	p.Put("a.txt", "one\n")
	p.Put("sub/b.txt", "one\n")
	p.Put("sub/old.txt", strings.Repeat("the same\n", 30))
	p.git("add", "-A")
	if d := p.diff(object{"staged": true}); !strings.Contains(d.Diff, "+++ b/sub/b.txt") {
		t.Errorf("staged before the first commit: %q", d.Diff)
	}
	first := p.commit(p.Root, "one")
	p.Put("a.txt", "two\n")
	p.Put("sub/b.txt", "two\n")
	p.git("add", "a.txt")
	p.git("mv", "sub/old.txt", "sub/new.txt")
	for name, c := range map[string]struct {
		input   object
		has, no []string
	}{
		"all":           {object{}, []string{"a.txt", "b.txt", "rename from sub/old.txt"}, nil},
		"from below":    {object{"cwd": "sub"}, []string{"--- a/a.txt", "sub/b.txt"}, nil},
		"staged":        {object{"staged": true}, []string{"a.txt", "rename to sub/new.txt"}, []string{"b.txt"}},
		"a folder":      {object{"pathspecs": []string{"sub"}}, []string{"b.txt"}, []string{"a/a.txt"}},
		"below a cwd":   {object{"cwd": "sub", "pathspecs": []string{"*.txt"}}, []string{"b.txt"}, []string{"a/a.txt"}},
		"an option":     {object{"pathspecs": []string{"--output=x"}}, nil, []string{"diff"}},
		"a base":        {object{"base_ref": first}, []string{"a.txt"}, nil},
		"a branch":      {object{"base_ref": "main"}, []string{"a.txt"}, nil},
		"an expression": {object{"base_ref": "main^0"}, []string{"a.txt"}, nil},
	} {
		d := p.diff(c.input)
		for _, text := range c.has {
			if !strings.Contains(d.Diff, text) {
				t.Errorf("%s: no %q in\n%s", name, text, d.Diff)
			}
		}
		for _, text := range c.no {
			if strings.Contains(d.Diff, text) {
				t.Errorf("%s: %q in\n%s", name, text, d.Diff)
			}
		}
		if d.Truncated || d.ArtifactID != "" {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if _, err := p.tryGit(p.Root, "apply", "--check", "-R", "-"); err == nil {
		t.Log("git apply reads nothing here")
	}
}

func TestDiffRefused(t *testing.T) {
	p := newProject(t, rig.Options{})
	p.commit(p.Root, "one")
	for _, ref := range []string{"--output=x", "-h", "nothing", "main..main", "--all", "\x00", "main\nmain", ":0:a"} {
		e := p.Call("git.diff", object{"cwd": ".", "base_ref": ref})
		if e.Error == nil || e.Error.Code != "unknown_ref" && e.Error.Code != "bad_ref" {
			t.Errorf("base_ref %q: %+v %s", ref, e.Error, e.Output)
		}
	}
	for _, spec := range []string{":(top)x", ":/", ":!x", ":(attr:x)y", "a\x00b"} {
		e := p.Call("git.diff", object{"cwd": ".", "pathspecs": []string{spec}})
		p.fails(e, fault.InvalidInput, "bad_pathspec")
	}
	e := p.Call("git.diff", object{"cwd": ".", "pathspecs": []string{"../outside"}})
	if e.Error == nil || !strings.Contains(e.Error.Message, "outside repository") {
		t.Errorf("%+v", e.Error)
	}
}

func TestDiffTruncated(t *testing.T) {
	p := newProject(t, rig.Options{})
	p.Put("big.txt", "")
	p.commit(p.Root, "one")
	var b strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&b, "line number %d\n", i)
	}
	p.Put("big.txt", b.String())
	d := p.diff(object{})
	if !d.Truncated || len(d.Diff) > 256<<10 || !strings.HasSuffix(d.Diff, "\n") {
		t.Fatalf("truncated %v, %d bytes", d.Truncated, len(d.Diff))
	}
	if whole := p.artifact(d.ArtifactID); !strings.HasPrefix(whole, d.Diff) || !strings.HasSuffix(whole, "+line number 29999\n") {
		t.Errorf("the artifact has %d bytes", len(whole))
	}
	p.Put("big.txt", "caf\xe9\n")
	if d := p.diff(object{}); !strings.Contains(d.Diff, "caf\uFFFD") || !strings.Contains(p.artifact(d.ArtifactID), "caf\xe9") || d.Truncated {
		t.Errorf("%+v", d)
	}
}

func TestDiffHidesSecrets(t *testing.T) {
	p := newProject(t, rig.Options{Rules: "schema_version: 1\nrules:\n  - deny: read(private/**)\n  - allow: read(.env.example)\n"})
	names := []string{".env", "deep/.ENV", ".env.local", "private/x", "keys/server.pem", "id_rsa/inner"}
	for _, name := range append(names, ".env.example", "open.txt") {
		p.Put(name, "old\n")
	}
	p.commit(p.Root, "one")
	for _, name := range append(names, ".env.example", "open.txt") {
		p.Put(name, "hush "+name+"\n")
	}
	for _, input := range []object{{}, {"pathspecs": []string{".env", "deep", "."}}, {"base_ref": "HEAD"}} {
		d := p.diff(input)
		for _, name := range names {
			if strings.Contains(d.Diff, "hush "+name) && name != ".env" || strings.Contains(d.Diff, "hush .env\n") {
				t.Errorf("%v shows %s:\n%s", input, name, d.Diff)
			}
		}
		if !strings.Contains(d.Diff, "hush .env.example") {
			t.Errorf("%v: what a rule opens is not there:\n%s", input, d.Diff)
		}
	}
	p.git("mv", "-f", ".env", "open.txt") // what is readable now is shown, what it was is not
	if d := p.diff(object{"staged": true}); strings.Contains(d.Diff, "-old\n--- a/.env") || strings.Contains(d.Diff, "rename from .env") {
		t.Errorf("a rename from a secret:\n%s", d.Diff)
	}
}
