package undo_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime/sandbox"
)

type commandUndone struct {
	undone
	Partial bool
}

// commands is a project in which everything is allowed, where commands can run.
func commands(t *testing.T) *rig.Rig {
	t.Helper()
	p, err := sandbox.Command{Argv: []string{"true"}, Mounts: sandbox.System()}.Start(t.Context())
	if err != nil {
		t.Skip(err)
	}
	_, err = p.Wait()
	must(t, err)
	return rig.New(t, rig.Options{Approver: rig.Yes})
}

// What a command line names to change is undone: files that it overwrites, deletes, moves
// and makes, also by words that are known only while it runs.
func TestUndoesCommands(t *testing.T) {
	for command, want := range map[string]struct {
		changes string // sorted by the order of the undo
		partial bool
	}{
		"echo new > a.txt":                          {"restored a.txt", false},
		"echo more >> a.txt":                        {"restored a.txt", false},
		"echo x > made.txt":                         {"removed made.txt", false},
		"rm a.txt":                                  {"restored a.txt", false},
		"rm a.txt b.txt; exit 3":                    {"restored b.txt, restored a.txt", false},
		"mv a.txt c.txt":                            {"", false},
		"cp a.txt b.txt":                            {"restored b.txt", false},
		"sed -i s/a/x/ a.txt":                       {"restored a.txt", false},
		"for f in a b; do echo new > $f.txt; done":  {"", false},
		"x=$(cat name.txt); echo new > \"$x\"":      {"restored a.txt", false},
		"touch -d 2020-01-01 a.txt; echo o > o.txt": {"removed o.txt", false},
		"mkdir -p d/e; echo x > d/e/f.txt":          {"removed d/e/f.txt", false},
		"mkdir g; echo new > a.txt; rmdir g":        {"restored a.txt", false},
		"echo new > a.txt; sh ./change.sh":          {"restored a.txt", true},
	} {
		t.Run(command, func(t *testing.T) {
			r := commands(t)
			for name, text := range map[string]string{"a.txt": "a\n", "b.txt": "b\n", "name.txt": "a.txt", "change.sh": "exit 0"} {
				r.Put(name, text)
			}
			before := tree(t, r.Root)
			e := r.Call("shell.run", object{"command": command, "cwd": "."})
			if e.Error != nil {
				t.Fatal(e.Error)
			}
			if tree(t, r.Root) == before {
				t.Fatalf("nothing changed: %s", e.Output)
			}
			var out commandUndone
			r.Must("air.undo", object{}, &out)
			if got := tree(t, r.Root); got != before {
				t.Errorf("after undo\n%s\nbefore\n%s", got, before)
			}
			if want.changes != "" && out.changes() != want.changes || out.Partial != want.partial {
				t.Errorf("%s, partial %v", out.changes(), out.Partial)
			}
		})
	}
}

// Of a command that only reads there is nothing to undo, and one that may have changed what
// it does not name says so.
func TestUndoOfUnknownChanges(t *testing.T) {
	r := commands(t)
	r.Put("a.txt", "a\n")
	r.Put("change.sh", "echo changed > a.txt")
	r.Must("fs.write", object{"path": "w.txt", "content": "w"}, nil)
	r.Must("shell.run", object{"command": "cat a.txt", "cwd": "."}, nil)
	script := r.Must("shell.run", object{"command": "sh ./change.sh", "cwd": "."}, nil)
	if content(t, filepath.Join(r.Root, "a.txt")) != "changed\n" {
		t.Fatal("the script did not run")
	}
	e := r.Call("air.undo", object{"run_id": script.RunID})
	failed(t, e, fault.NotFound, "nothing_kept")
	if !strings.Contains(e.Error.Message, "may have changed files") {
		t.Errorf("%v", e.Error)
	}
	var out commandUndone
	r.Must("air.undo", object{}, &out) // of the write before
	if out.changes() != "removed w.txt" || out.Partial {
		t.Errorf("%+v", out)
	}
}

// What changed again after the command is left alone.
func TestCommandChangedSince(t *testing.T) {
	r := commands(t)
	path := r.Put("a.txt", "a\n")
	r.Must("shell.run", object{"command": "echo new > a.txt", "cwd": "."}, nil)
	must(t, os.WriteFile(path, []byte("theirs"), 0o644))
	failed(t, r.Call("air.undo", object{}), fault.Conflict, "changed_since")
	if content(t, path) != "theirs" {
		t.Error("it was overwritten")
	}
}

// Outside the project a command changes nothing that is not kept first, and what it changes
// there is undone.
func TestCommandOutside(t *testing.T) {
	r := commands(t)
	path := r.Put(filepath.Join(r.Outside, "o.txt"), "old\n")
	r.Must("shell.run", object{"command": "echo new > " + path, "cwd": "."}, nil)
	if content(t, path) != "new\n" {
		t.Skip("the sandbox does not write there")
	}
	var out commandUndone
	r.Must("air.undo", object{}, &out)
	if content(t, path) != "old\n" {
		t.Errorf("%q", content(t, path))
	}
	large := r.Put(filepath.Join(r.Outside, "large"), "")
	must(t, os.Truncate(large, 16<<20+1))
	r.Put(filepath.Join(r.Outside, "folder", "x"), "x")
	for _, command := range []string{"echo new > " + large, "rm " + large, "rm -r " + filepath.Join(r.Outside, "folder")} {
		failed(t, r.Call("shell.run", object{"command": command, "cwd": "."}), fault.ResourceExhausted, "no_backup")
	}
	if info, err := os.Stat(large); err != nil || info.Size() != 16<<20+1 {
		t.Errorf("%v %v", info, err)
	}
	content(t, filepath.Join(r.Outside, "folder", "x"))
}

// A large file of the project is left to the command, and the undo says that there was more.
func TestCommandLargeFile(t *testing.T) {
	r := commands(t)
	r.Put("a.txt", "a\n")
	large := r.Put("large", "")
	must(t, os.Truncate(large, 16<<20+1))
	r.Must("shell.run", object{"command": "rm large a.txt", "cwd": "."}, nil)
	var out commandUndone
	r.Must("air.undo", object{}, &out)
	if out.changes() != "restored a.txt" || !out.Partial {
		t.Errorf("%+v", out)
	}
}
