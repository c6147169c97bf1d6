package permission

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
)

// FuzzResolve: no path makes the classifier panic, and what it takes for the project's
// lies in the project, without links, and is not protected.
func FuzzResolve(f *testing.F) {
	for _, seed := range []string{
		"a", "../x", "/etc/shadow", "link/../x", ".git/config", ".GIT/x", "a//./.git/", "sub/.env.x", "dangling/x", "~", "\x00", "/proc/self/root/x",
		"link/.env", "loop", ".gi\u200ct", "\u00df", "a/\xff\xfe", ".env\u0301", "link/sub/../../outside/x", ".\u017fsh", "in/../.env",
	} {
		f.Add(seed, uint8(len(seed)))
	}
	top, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	root := top + "/project"
	if err := errors.Join(os.MkdirAll(root+"/sub", 0o755), os.MkdirAll(root+"/.git", 0o755), os.MkdirAll(top+"/outside/sub", 0o755),
		os.Symlink(top+"/outside", root+"/link"), os.Symlink("loop", root+"/loop"), os.Symlink("gone", root+"/dangling"), os.Symlink("sub", root+"/in"), os.Symlink(".git", root+"/g")); err != nil {
		f.Fatal(err)
	}
	p := NewPaths(PathsConfig{ProjectRoot: root, Home: top + "/person", AirHome: top + "/person/.air"})
	f.Fuzz(func(t *testing.T, path string, which uint8) {
		kind := []Kind{Read, Write, Delete}[which%3]
		e, err := p.Resolve(Effect{Kind: kind, Target: path})
		if err != nil {
			var known *fault.Error
			if !errors.As(err, &known) || strings.ContainsAny(err.Error(), "\x1b\r\x00") {
				t.Errorf("refused with %q", err)
			}
			return
		}
		if e.Class == "" || e.Kind == Write || !filepath.IsAbs(e.Target) || filepath.Clean(e.Target) != e.Target {
			t.Fatalf("%q: %s in class %q", path, e, e.Class)
		}
		again, err := p.Resolve(e)
		if err != nil || again != e {
			t.Errorf("%q: canonical %s resolves to %s, %v", path, e, again, err)
		}
		if e.Class == ClassProject || e.Class == ClassObeyed {
			checkInside(t, root, e)
		}
	})
}

// checkInside knows what it wants by other means than the classifier.
func checkInside(t *testing.T, root string, e Effect) {
	t.Helper()
	rel, err := filepath.Rel(root, e.Target)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		t.Fatalf("%s counts as project", e)
	}
	parent := filepath.Dir(e.Target)
	if real, err := filepath.EvalSymlinks(parent); err == nil && real != parent {
		t.Errorf("%s has a link in it: %s", e, real)
	}
	for _, name := range strings.Split(rel, "/") {
		if strings.EqualFold(name, ".git") || (e.Kind != Read && strings.EqualFold(name, ".air")) {
			t.Errorf("%s counts as project", e)
		}
	}
	name := strings.ToLower(filepath.Base(rel))
	if name == ".env" || strings.HasPrefix(name, ".env.") || name == "auth.json" || slices.Contains([]string{".pem", ".key", ".p12", ".kdbx"}, filepath.Ext(name)) {
		t.Errorf("%s counts as project", e)
	}
}

// FuzzRules: no rule file makes the loader panic, a refusal names the file, and what
// loads can be matched, listed and written again.
func FuzzRules(f *testing.F) {
	for _, seed := range []string{
		"schema_version: 1\nrules:\n  - allow: read(data/**)\n    match: [data/x]\n    for: csv\n    expires: 2026-12-31\n",
		"schema_version: 1\nrules:\n  - deny: write(~/{a,b}/[c]*)\n    not_match: [x]\n",
		"schema_version: 1\nrules:\n  - ask: tool(fs.*)\n    reason: \"\\u202e\"\n",
		"schema_version: 1\nrules: [{allow: \"read(\\\\\\\\)\"}, {deny: \"run(a ** )\"}]\n",
		"schema_version: 1\nrules: [{allow: read(/)}, {allow: read(.)}, {deny: read(**/**/**)}]\n",
		"schema_version: 1\nrules: [{allow: \"run(a 'b c' ** [x]*)\", match: [a 'b c' x]}, {deny: \"net(*://*.a:*)\"}, {allow: net(https://b.a), after: secret(x)}, {ask: \"run(** --f)\"}]\n",
		"schema_version: 1\nrules: [{deny: 'read({a,b}/**)'}, {allow: 'read(a/[!b]**)', for: c}, {allow: 'tool({a,*}.b)'}]\n",
		"rules: {", "schema_version: 1e400", "a: &a [*a]",
	} {
		f.Add(seed, "data/x")
	}
	root := f.TempDir()
	p := NewPaths(PathsConfig{ProjectRoot: root, Home: root + "/home"})
	f.Fuzz(func(t *testing.T, text, target string) {
		rules, err := parseRules([]byte(text), "rules.yaml", TierUser, p)
		if err != nil {
			if !fault.Is(err, fault.InvalidInput) || !strings.HasPrefix(err.Error(), "rules.yaml:") {
				t.Errorf("refused with %v", err)
			}
			return
		}
		for _, r := range rules {
			verdict, kind, pattern, err := parseRule(r.text())
			if err != nil || verdict != r.verdict || kind != r.kind || pattern != r.pattern {
				t.Errorf("%q reads as %v %v %q, %v", r.text(), verdict, kind, pattern, err)
			}
			text := target
			if r.kind.IsPath() {
				text = root + "/" + target
			}
			anyMatches(r.matchers, targetOf(r.kind, text))
		}
		describe(rules)
	})
}

// FuzzEscape: the pattern of a path matches that path and nothing that differs.
func FuzzEscape(f *testing.F) {
	f.Add("a*b", "ab")
	f.Add("~/x", "y")
	f.Add(`\{a,b}[c]?`, "a")
	root := f.TempDir()
	p := NewPaths(PathsConfig{ProjectRoot: root, Home: "/elsewhere"})
	f.Fuzz(func(t *testing.T, path, other string) {
		one, two := filepath.Join(root, "/"+path), filepath.Join(root, "/"+other)
		pattern := p.rulePattern(one)
		if CheckPathPattern(pattern) != nil {
			return // invisible characters: such a path gets no rule
		}
		r := rule{verdict: Allow, kind: Read, pattern: pattern}
		if err := r.compile(p); err != nil {
			return
		}
		if !anyMatches(r.matchers, targetOf(Read, one)) {
			t.Errorf("%q does not match its own path %q", pattern, one)
		}
		if normal(one) != normal(two) && anyMatches(r.matchers, targetOf(Read, two)) {
			t.Errorf("%q, made of %q, matches %q", pattern, one, two)
		}
	})
}
