package permission

import (
	"os"
	"path/filepath"
	"testing"
)

// TestGuardedNamesThatAreLinks: what is closed, or obeyed, under a name is so where a link
// of that name leads. F22 and F20.
func TestGuardedNamesThatAreLinks(t *testing.T) {
	p := newPlace(t)
	p.put("tools/real.env", "SECRET")
	p.put("tools/vs/tasks.json", "{}")
	p.put("docs/gh/workflows/ci.yml", "")
	p.put("plain.txt", "")
	p.link("tools/real.env", ".env")
	p.link(".env", "again")
	p.link("tools/vs", ".vscode")
	p.link("docs/gh", ".github")
	p.link("plain.txt", "link.txt")
	p.link("plain.txt", "certificate.pem")
	p.link(p.outside, "secrets.key")
	p.put(p.outside+"/x", "")
	for _, c := range []struct {
		kind   Kind
		path   string
		target string
		class  Class
	}{
		{Read, ".env", "tools/real.env", ClassProtected},
		{Write, ".env", "tools/real.env", ClassProtected},
		{Read, "again", "tools/real.env", ClassProtected},
		{Delete, ".env", ".env", ClassProtected},
		{Read, "tools/real.env", "tools/real.env", ClassProject}, // under its own name it is what that says
		{Read, ".vscode/tasks.json", "tools/vs/tasks.json", ClassProject},
		{Write, ".vscode/tasks.json", "tools/vs/tasks.json", ClassObeyed},
		{Write, ".vscode/new.json", "tools/vs/new.json", ClassObeyed},
		{Write, ".vscode/sub/../new.json", "tools/vs/new.json", ClassObeyed},
		{Delete, ".vscode/tasks.json", "tools/vs/tasks.json", ClassObeyed},
		{Write, ".github/workflows/ci.yml", "docs/gh/workflows/ci.yml", ClassObeyed},
		{Write, ".github/CODEOWNERS", "docs/gh/CODEOWNERS", ClassProject},
		{Write, ".github", "docs/gh", ClassObeyed},
		{Read, "certificate.pem", "plain.txt", ClassProtected},
		{Write, "link.txt", "plain.txt", ClassProject},
		{Read, "secrets.key/x", p.outside + "/x", ClassOutside}, // it is asked about as what it is
	} {
		if e := p.resolve(c.kind, c.path); e.Target != p.abs(c.target) || e.Class != c.class {
			t.Errorf("%s(%s) is %s in class %s, want %s in %s", c.kind, c.path, e.Target, e.Class, p.abs(c.target), c.class)
		}
	}
	none := p.engine("")
	p.want(p.decide(none, Read, ".env"), Deny, CodeProtectedPath)
	p.want(p.decide(none, Read, ".env", reader()), Deny, CodeProtectedPath)
	p.want(p.decide(none, Write, ".vscode/tasks.json"), Ask, CodeObeyedFile)
	p.want(p.decide(p.engine("schema_version: 1\nrules:\n  - allow: read(tools/**)\n"), Read, ".env"), Deny, CodeProtectedPath)
	p.want(p.decide(p.engine("schema_version: 1\nrules:\n  - allow: read(tools/real.env)\n"), Read, ".env"), Allow, "")
}

// A capability learns nothing from a guarded name: it is refused the same whether a file, a
// link or nothing is there.
func TestGuardedLinksTellNothing(t *testing.T) {
	p := newPlace(t)
	e := p.engine("")
	told := func() DeniedError {
		d := p.decide(e, Read, ".env", reader())
		return *(&DeniedError{Decision: d}).ToCapability()
	}
	missing := told()
	p.put("plain.txt", "")
	p.link("plain.txt", ".env")
	if link := told(); link.Decision.Verdict != Deny || link.Error() != missing.Error() {
		t.Errorf("with a link it is %q, and without %q", link.Error(), missing.Error())
	}
}

// TestFoldersAboveWhatIsObeyed: what becomes .github as a whole brings its workflows along.
func TestFoldersAboveWhatIsObeyed(t *testing.T) {
	p := newPlace(t)
	for path, want := range map[string]Class{
		".github": ClassObeyed, "sub/.Cargo": ClassObeyed, ".github/CODEOWNERS": ClassProject, "x.github": ClassProject, "github": ClassProject,
	} {
		if e := p.resolve(Write, path); e.Class != want {
			t.Errorf("%s is of class %s, want %s", e, e.Class, want)
		}
	}
	p.mkdir(p.root + "/.github")
	if e := p.resolve(Write, ".github"); e.Kind != Overwrite || e.Class != ClassObeyed {
		t.Errorf("%s is of class %s", e, e.Class)
	}
	if e := p.resolve(Read, ".github"); e.Class != ClassProject {
		t.Errorf("%s is of class %s", e, e.Class)
	}
}

// TestS19EmbeddedRepository: git obeys a folder that is a repository, whatever its name is.
func TestS19EmbeddedRepository(t *testing.T) {
	p := newPlace(t)
	p.put("bare/HEAD", "ref: refs/heads/m\n")
	p.put("linked/HEAD", "ref: refs/heads/m\n")
	p.put("linked/commondir", "../elsewhere\n")
	p.put("half/HEAD", "ref: refs/heads/m\n")
	p.mkdir(p.root + "/half/objects")
	for _, dir := range []string{"bare/objects", "bare/refs", "src/hooks", "src/refs"} {
		p.mkdir(p.root + "/" + dir)
	}
	for _, c := range []struct {
		paths []string
		want  []Class
	}{
		{[]string{"src/HEAD", "src/config", "src/hooks/useThing.ts", "src/refs/x"}, []Class{ClassProject, ClassProject, ClassProject, ClassProject}},
		{[]string{"config", "objects/x", "refs/x"}, []Class{ClassProject, ClassProject, ClassProject}},
		{[]string{"new/HEAD", "new/config", "new/objects/x", "new/refs/x", "new/a.txt"}, []Class{ClassObeyed, ClassObeyed, ClassObeyed, ClassObeyed, ClassProject}},
		{[]string{"new/HEAD", "new/commondir"}, []Class{ClassObeyed, ClassObeyed}},
		{[]string{"half/refs/heads/m"}, []Class{ClassObeyed}},
		{[]string{"half/Refs"}, []Class{ClassProject}},
		{[]string{"half/config"}, []Class{ClassProject}},
		{[]string{"bare/config", "bare/hooks/post-checkout", "bare/refs/heads/a/b", "bare/README", "bare/HEAD", "bare/HEAD/x"},
			[]Class{ClassProtected, ClassProtected, ClassProtected, ClassProject, ClassProtected, ClassProtected}},
		{[]string{"linked/config", "linked/commondir", "linked/config.worktree"}, []Class{ClassProtected, ClassProtected, ClassProtected}},
	} {
		var effects []Effect
		for _, path := range c.paths {
			effects = append(effects, p.resolve(Write, path))
		}
		p.paths.MarkRepositories(effects)
		for i, e := range effects {
			if e.Class != c.want[i] {
				t.Errorf("of %s, %s is of class %s, want %s", c.paths, p.paths.Show(e.Target), e.Class, c.want[i])
			}
		}
	}
	reads := []Effect{p.resolve(Read, "bare/config")}
	if p.paths.MarkRepositories(reads); reads[0].Class != ClassProject {
		t.Errorf("reading it is of class %s", reads[0].Class)
	}
	gone := []Effect{p.resolve(Delete, "bare/hooks"), p.resolve(Delete, "half/HEAD")}
	if p.paths.MarkRepositories(gone); gone[0].Class != ClassProtected || gone[1].Class != ClassProject {
		t.Errorf("deleting is of classes %s and %s", gone[0].Class, gone[1].Class)
	}
	if err := os.Remove(filepath.Join(p.root, "bare/HEAD")); err != nil {
		t.Fatal(err)
	}
}
