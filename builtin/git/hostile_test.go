package git_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
)

// marked is a program in the project that leaves a mark when it runs, in the project and,
// where it can, beside it. It passes its input on.
func (p project) marked(name string) string {
	p.Helper()
	path := p.Put("tools/"+name, fmt.Sprintf("#!/bin/sh\necho ran >> %s/mark-%s\necho ran >> %s/mark-%s\necho ran >> /tmp/mark-%[2]s\ncat\n", p.Root, name, p.Outside, name))
	if err := os.Chmod(path, 0o755); err != nil {
		p.Fatal(err)
	}
	return path
}

func (p project) unmarked() {
	p.Helper()
	for _, dir := range []string{p.Root, p.Outside, filepath.Join(p.Project.Dir, "state", "home")} {
		found, _ := filepath.Glob(filepath.Join(dir, "mark-*"))
		if len(found) > 0 {
			p.Errorf("something ran: %q", found)
		}
	}
}

// hostile configures a program of its own wherever git can be told to run one.
func (p project) hostile(dir string) {
	p.Helper()
	set := func(name, value string) { p.gitIn(dir, "config", name, value) }
	for name, program := range map[string]string{
		"core.fsmonitor": "fsmonitor", "diff.external": "external", "core.pager": "pager", "core.editor": "editor",
		"core.sshCommand": "ssh", "core.askPass": "askpass", "gpg.program": "gpg", "core.alternateRefsCommand": "alternate",
		"diff.conv.textconv": "textconv", "diff.conv.command": "command",
		"filter.f.clean": "clean", "filter.f.smudge": "smudge", "filter.a=b.c.clean": "equals", "filter.proc.process": "process",
		"merge.m.driver": "driver", "credential.helper": "credential", "alias.status": "alias", "alias.diff": "alias2",
		"pager.status": "pagerstatus", "pager.diff": "pagerdiff", "interactive.diffFilter": "filter", "uploadpack.packObjectsHook": "pack",
	} {
		set(name, p.marked(program))
	}
	set("filter.proc.required", "true")
	set("filter.f.required", "true")
	set("commit.gpgSign", "true")
	set("merge.default", "m")
	set("core.hooksPath", filepath.Join(p.Root, "hooks"))
	set("status.submoduleSummary", "true")
	set("submodule.recurse", "true")
	for _, hook := range []string{"post-checkout", "post-merge", "pre-commit", "post-commit", "reference-transaction", "post-index-change", "pre-merge-commit", "prepare-commit-msg"} {
		text := p.read(p.marked(hook))
		for _, at := range []string{"hooks/" + hook, ".git/hooks/" + hook} {
			if err := os.Chmod(p.Put(at, text), 0o755); err != nil {
				p.Fatal(err)
			}
		}
	}
	p.Put(".git/info/attributes", "*.conv diff=conv\n*.f filter=f merge=m\n*.eq filter=a=b.c\n*.proc filter=proc\n")
	// More comes by an inclusion that depends on the branch.
	p.Put(".git/extra", fmt.Sprintf("[filter \"late\"]\n\tclean = %s\n\tsmudge = %[1]s\n", p.marked("late")))
	set("includeIf.onbranch:work/**.path", "extra")
	p.Put(".gitattributes", "*.late filter=late\n")
}

// all calls every tool of the project, with changes that make git look at contents.
func (p project) all() {
	p.Helper()
	for _, name := range []string{"x.conv", "x.f", "x.eq", "x.proc", "x.late", "x.txt"} {
		p.Put(name, "changed "+name+"\n")
	}
	p.Call("git.status", object{"cwd": "."})
	p.Call("git.diff", object{"cwd": "."})
	p.Call("git.diff", object{"cwd": ".", "staged": true})
}

// TestS18ConfiguredPrograms: a configured fsmonitor, textconv or diff.external, and all
// else that git runs. F14: hooks and filters.
func TestS18ConfiguredPrograms(t *testing.T) {
	p := newProject(t, rig.Options{Approver: rig.Yes})
	for _, name := range []string{"x.conv", "x.f", "x.eq", "x.proc", "x.late", "x.txt"} {
		p.Put(name, "content of "+name+"\n")
	}
	p.commit(p.Root, "one")
	p.hostile(p.Root)
	p.all()
	p.unmarked()
	s := p.status(".")
	want(t, "modified", s.Modified, []string{"x.conv", "x.f", "x.eq", "x.proc", "x.late", "x.txt"})
	d := p.diff(object{})
	if !strings.Contains(d.Diff, "+changed x.conv") || !strings.Contains(d.Diff, "+changed x.proc") {
		t.Errorf("%s", d.Diff)
	}
	p.git("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "stash", "-q", "--", "x.txt")
	for _, f := range []string{"x.conv", "x.f", "x.eq", "x.proc", "x.late"} {
		p.Put(f, "content of "+f+"\n")
	}
	p.clearMarks()
	w := p.workspace("w")
	p.unmarked()
	for _, f := range []string{"x.f", "x.late", "x.proc"} {
		if got := p.read(w.Path + "/" + f); got != "content of "+f+"\n" {
			t.Errorf("%s: %q", f, got)
		}
	}
	p.Put(w.Path+"/x.f", "from the workspace\n")
	p.Put(w.Path+"/x.late", "from the workspace\n")
	p.Put(w.Path+"/n.late", "new\n")
	out, e := p.merge(w, "patch_apply")
	if out.Status != "merged" || p.read("x.late") != "from the workspace\n" {
		t.Errorf("%+v %+v", out, e.Error)
	}
	p.unmarked()
}

func (p project) clearMarks() {
	for _, dir := range []string{p.Root, p.Outside} {
		found, _ := filepath.Glob(filepath.Join(dir, "mark-*"))
		for _, f := range found {
			_ = os.Remove(f)
		}
	}
}

// TestS18Driver: merge drivers do not run in a merge.
func TestS18Driver(t *testing.T) {
	p := newProject(t, rig.Options{Approver: rig.Yes})
	p.Put("x.f", "1\n2\n3\n4\n5\n6\n7\n8\n")
	p.commit(p.Root, "one")
	w := p.workspace("w")
	p.Put(w.Path+"/x.f", "one\n2\n3\n4\n5\n6\n7\n8\n")
	p.commit(w.Path, "theirs")
	p.Put("x.f", "1\n2\n3\n4\n5\n6\n7\neight\n")
	p.commit(p.Root, "ours")
	p.hostile(p.Root)
	p.git("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "config", "--remove-section", "filter.f")
	p.clearMarks()
	before := p.everything()
	_, e := p.merge(w, "manual_merge")
	p.fails(e, fault.Conflict, "merge_driver")
	p.same(before)
	p.unmarked()
}

// TestS19EmbeddedBareRepository: a folder that is a bare repository, with programs in its
// configuration.
func TestS19EmbeddedBareRepository(t *testing.T) {
	p := newProject(t, rig.Options{})
	p.Put("bare/HEAD", "ref: refs/heads/main\n")
	p.Put("bare/config", fmt.Sprintf("[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = %s\n", p.marked("fsmonitor")))
	for _, dir := range []string{"objects", "refs"} {
		p.Put("bare/"+dir+"/.keep", "")
	}
	p.commit(p.Root, "one")
	for _, cwd := range []string{"bare", "bare/refs", "."} {
		s := p.status(cwd)
		if s.Branch != "main" || !s.Clean {
			t.Errorf("%s: %+v", cwd, s)
		}
		p.diff(object{"cwd": cwd})
	}
	p.unmarked()
	r := project{rig.New(t, rig.Options{})}
	r.Put("bare/HEAD", "ref: refs/heads/main\n")
	r.Put("bare/config", fmt.Sprintf("[core]\n\tbare = false\n\tworktree = ..\n\tfsmonitor = %s\n", r.marked("fsmonitor")))
	r.Put("bare/objects/.keep", "")
	r.Put("bare/refs/.keep", "")
	r.fails(r.Call("git.status", object{"cwd": "bare"}), fault.NotFound, "no_repository")
	r.unmarked()
}

// TestS21Promisor: an object that is missing and could be had by a program.
func TestS21Promisor(t *testing.T) {
	p := newProject(t, rig.Options{})
	p.Put("x.txt", "one\n")
	p.commit(p.Root, "one")
	id := strings.TrimSpace(p.git("rev-parse", "HEAD:x.txt"))
	for name, value := range map[string]string{
		"core.repositoryformatversion": "1", "extensions.partialClone": "origin", "protocol.allow": "always", "protocol.ext.allow": "always", "protocol.file.allow": "always",
		"remote.origin.promisor": "true", "remote.origin.url": p.Root, "remote.origin.uploadpack": p.marked("uploadpack"), "remote.origin.partialclonefilter": "blob:none",
	} {
		p.git("config", name, value)
	}
	if err := os.Remove(filepath.Join(p.Root, ".git/objects", id[:2], id[2:])); err != nil {
		t.Fatal(err)
	}
	p.Put("x.txt", "two\n")
	e := p.Call("git.diff", object{"cwd": "."})
	if e.Error == nil {
		t.Errorf("%s", e.Output)
	}
	p.git("config", "remote.origin.url", "ext::"+p.marked("ext"))
	p.Call("git.diff", object{"cwd": "."})
	p.Call("git.status", object{"cwd": "."})
	p.unmarked()
}

// TestS21Submodule: a submodule's clean filter at status.
func TestS21Submodule(t *testing.T) {
	p := newProject(t, rig.Options{})
	lib := filepath.Join(p.Root, "lib")
	p.gitIn(p.Root, "init", "-q", "-b", "main", "lib")
	p.gitIn(lib, "config", "user.name", "x")
	p.gitIn(lib, "config", "user.email", "x@example.com")
	p.Put("lib/f.f", "1\n")
	p.commit(lib, "one")
	p.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "./lib", "lib")
	p.commit(p.Root, "with a submodule")
	p.gitIn(lib, "config", "filter.f.clean", p.marked("clean"))
	p.gitIn(lib, "config", "core.fsmonitor", p.marked("fsmonitor"))
	p.Put("lib/.git/info/attributes", "* filter=f\n")
	p.Put("lib/f.f", "2\n")
	p.git("config", "submodule.lib.update", "!"+p.marked("update"))
	p.git("config", "-f", ".gitmodules", "submodule.lib.ignore", "none")
	for _, cwd := range []string{".", "lib"} {
		p.status(cwd)
		p.diff(object{"cwd": cwd})
	}
	p.unmarked()
}

// TestF12ForeignGitdir: a .git file, link or common folder that leads out of the project.
func TestF12ForeignGitdir(t *testing.T) {
	for name, make := range map[string]func(p project, foreign string){
		"a file":          func(p project, foreign string) { p.Put("sub/.git", "gitdir: "+foreign+"\n") },
		"a relative file": func(p project, foreign string) { p.Put("sub/.git", "gitdir: ../../outside/repo/.git\n") },
		"a link": func(p project, foreign string) {
			p.Put("sub/x", "")
			if err := os.Symlink(foreign, p.Root+"/sub/.git"); err != nil {
				p.Fatal(err)
			}
		},
		"a common folder": func(p project, foreign string) {
			p.gitIn(p.Root, "init", "-q", "sub")
			p.Put("sub/.git/commondir", foreign+"\n")
		},
		"in the project, under another name": func(p project, foreign string) {
			p.gitIn(p.Root, "init", "-q", "--bare", "data")
			p.Put("sub/.git", "gitdir: ../data\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, rig.Options{})
			p.gitIn(p.Outside, "init", "-q", "repo")
			foreign := filepath.Join(p.Outside, "repo", ".git")
			p.gitIn(filepath.Dir(foreign), "config", "core.fsmonitor", p.marked("fsmonitor"))
			make(p, foreign)
			for _, tool := range []string{"git.status", "git.diff"} {
				p.fails(p.Call(tool, object{"cwd": "sub"}), fault.PermissionDenied, "foreign_gitdir")
			}
			p.unmarked()
		})
	}
}

// TestS18Worktree: the files of a repository are those around it.
func TestS18Worktree(t *testing.T) {
	p := newProject(t, rig.Options{})
	p.commit(p.Root, "one")
	p.Put(p.Outside+"/secret", "x")
	p.git("config", "core.worktree", p.Outside)
	if s := p.status("."); !s.Clean {
		t.Errorf("%+v", s)
	}
}

// TestConfigurationIsListed: git is asked what a repository configures, once, unless that is
// plain to see and names no program.
func TestConfigurationIsListed(t *testing.T) {
	for _, c := range []struct {
		name   string
		listed bool
		do     func(p project)
	}{
		{"as git makes it", false, func(project) {}},
		{"with a remote", false, func(p project) { p.git("remote", "add", "origin", "https://example.com/x.git") }},
		{"with a filter", true, func(p project) { p.git("config", "filter.f.clean", "cat") }},
		{"with an old way to write a filter", true, func(p project) { p.Put(".git/config", p.read(".git/config")+"[filter.f]\nclean = cat\n") }},
		{"with an inclusion", true, func(p project) { p.git("config", "include.path", "extra") }},
		{"with an inclusion on a condition", true, func(p project) { p.git("config", "includeIf.onbranch:main.path", "extra") }},
		{"of each worktree", true, func(p project) { p.git("config", "extensions.worktreeConfig", "true") }},
		{"that is large", true, func(p project) { p.Put(".git/config", p.read(".git/config")+strings.Repeat("# a comment\n", 6000)) }},
		{"behind a link", true, func(p project) {
			config := filepath.Join(p.Root, ".git/config")
			if err := errors.Join(os.Rename(config, filepath.Join(p.Root, "moved")), os.Symlink("../moved", config)); err != nil {
				p.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, rig.Options{})
			p.Put("a", "a\n")
			p.commit(p.Root, "one")
			c.do(p)
			var commands []string
			e := p.Call("git.status", object{"cwd": "."})
			if e.Error != nil {
				t.Fatal(e.Error)
			}
			for _, seen := range p.Events(e.RunID) {
				if seen.Type == "command.started" {
					commands = append(commands, string(seen.Payload))
				}
			}
			if listed := strings.Contains(strings.Join(commands, "\n"), "config --list"); listed != c.listed || len(commands) > 2 {
				t.Errorf("%q", commands)
			}
		})
	}
}
