package home_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/home"
)

func TestInitThenFind(t *testing.T) {
	p := newPerson(t)
	made, created, err := p.air.Init(t.Context(), p.work)
	if err != nil || !slices.Equal(created, []string{".air/shared/project.json"}) {
		t.Fatal(created, err)
	}
	var file map[string]any
	if text, err := os.ReadFile(made.Shared("project.json")); err != nil || json.Unmarshal(text, &file) != nil {
		t.Fatal(err)
	}
	if file["schema_version"] != 1.0 || file["project_id"] != made.ID || len(made.ID) != 36 || len(file) != 2 {
		t.Errorf("project.json: %v, id %s", file, made.ID)
	}
	sum := sha256.Sum256([]byte(p.work))
	want := home.Project{Root: p.work, ID: made.ID, Dir: p.air.Path("projects", hex.EncodeToString(sum[:]))}
	if made != want || !made.Exists() {
		t.Errorf("got %+v", made)
	}
	again, created, err := p.air.Init(t.Context(), p.work)
	if again != want || len(created) != 0 || err != nil {
		t.Errorf("again: %+v %v %v", again, created, err)
	}
	deep := filepath.Join(p.work, "a", "b")
	mkdir(t, deep)
	for _, start := range []string{p.work, deep, deep + "/..", filepath.Join(p.work, ".air", "shared")} {
		if found, err := p.air.Find(start); found != want || err != nil {
			t.Errorf("from %s: %+v %v", start, found, err)
		}
	}
}

func TestFindWithoutProject(t *testing.T) {
	p := newPerson(t)
	got, err := p.air.Find(p.work)
	if err != nil || got.Exists() || got.ID != "" || got.Dir != p.air.Path("projects", "none") {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := p.air.Find(filepath.Join(p.work, "missing")); !fault.Is(err, fault.NotFound) {
		t.Errorf("missing: %v", err)
	}
	write(t, filepath.Join(p.work, "file"), "")
	if _, err := p.air.Find(filepath.Join(p.work, "file")); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("file: %v", err)
	}
}

func TestFindTakesTheNearest(t *testing.T) {
	p := newPerson(t)
	inner := filepath.Join(p.work, "inner")
	mkdir(t, inner)
	if _, _, err := p.air.Init(t.Context(), p.work); err != nil {
		t.Fatal(err)
	}
	want, _, err := p.air.Init(t.Context(), inner)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.air.Find(inner); got != want || err != nil {
		t.Errorf("%+v %v", got, err)
	}
}

func TestFindResolvesLinks(t *testing.T) {
	p := newPerson(t)
	want, _, err := p.air.Init(t.Context(), p.work)
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(p.dir, "link")
	if err := os.Symlink(p.work, link); err != nil {
		t.Fatal(err)
	}
	if got, err := p.air.Find(link); got != want || err != nil {
		t.Errorf("%+v %v", got, err)
	}
	if got, created, err := p.air.Init(t.Context(), link); got != want || created != nil || err != nil {
		t.Errorf("%+v %v %v", got, created, err)
	}
}

// F2: a repository cannot bring along a link that makes other files its shared ones.
func TestF2LinkedSharedFolder(t *testing.T) {
	p := newPerson(t)
	mkdir(t, filepath.Join(p.dir, "elsewhere", "shared"))
	for _, c := range []struct{ link, target string }{
		{".air", filepath.Join(p.dir, "elsewhere")},
		{".air/shared", filepath.Join(p.dir, "elsewhere", "shared")},
		{".air", "../../home/elsewhere"},
	} {
		root := filepath.Join(p.work, filepath.Base(t.TempDir()))
		mkdir(t, filepath.Dir(filepath.Join(root, c.link)))
		if err := os.Symlink(c.target, filepath.Join(root, c.link)); err != nil {
			t.Fatal(err)
		}
		_, err := p.air.Find(root)
		contains(t, err, "symbolic link")
		if _, _, err := p.air.Init(t.Context(), root); code(err) != "bad_project" {
			t.Errorf("init: %v", err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(p.dir, "elsewhere", "shared")); err != nil || len(left) != 0 {
		t.Errorf("init wrote through the link: %v %v", left, err)
	}
}

// A person may keep ~/.air elsewhere: that link is no project's.
func TestLinkedHomeIsNoProject(t *testing.T) {
	p := newPerson(t)
	mkdir(t, filepath.Join(p.work, "air"))
	if err := os.Symlink(filepath.Join(p.work, "air"), p.air.Dir); err != nil {
		t.Fatal(err)
	}
	deep := filepath.Join(p.dir, "code")
	mkdir(t, deep)
	if got, err := p.air.Find(deep); err != nil || got.Exists() {
		t.Errorf("%+v %v", got, err)
	}
}

func TestF23ProjectAtDangerousPlaces(t *testing.T) {
	p := newPerson(t)
	moved, err := home.Locate(env(map[string]string{"HOME": p.dir, "AIR_HOME": filepath.Join(p.work, "deep", "air")}))
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(filepath.Dir(p.dir), "link-to-home")
	if err := os.Symlink(p.dir, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, root, why string
		air             home.Home
	}{
		{"home folder", p.dir, "home folder", p.air},
		{"link to it", link, "home folder", p.air},
		{"above ~/.air", filepath.Dir(p.dir), "air's own folder", p.air},
		{"above AIR_HOME", p.work, "air's own folder", moved},
		{"AIR_HOME itself", moved.Dir, "air's own folder", moved},
		{"below AIR_HOME", moved.Path("capabilities", "x"), "air's own folder", moved},
	} {
		mkdir(t, filepath.Join(c.root, ".air", "shared"))
		inside := filepath.Join(c.root, "some", "folder")
		mkdir(t, inside)
		for _, start := range []string{c.root, inside} {
			_, err := c.air.Find(start)
			contains(t, err, c.why)
			if code(err) != "bad_project_root" || !fault.Is(err, fault.InvalidInput) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		_, _, err := c.air.Init(t.Context(), c.root)
		contains(t, err, c.why)
		if err := os.RemoveAll(filepath.Join(c.root, ".air", "shared")); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err = p.air.Init(t.Context(), "/")
	contains(t, err, "root of the file system")
}

// F23, under sudo: HOME is another one than that of the folder's owner.
func TestF23HomeOfTheFoldersOwner(t *testing.T) {
	root, err := user.LookupId("0")
	if err != nil {
		t.Fatal(err)
	}
	other, err := home.Locate(env(map[string]string{"HOME": "/nonexistent/home", "AIR_HOME": "/nonexistent/air"}))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = other.Init(t.Context(), root.HomeDir)
	contains(t, err, "home folder")
}

// The refusal is of the nearest folder: an outer project must not take over.
func TestF23NearestFolderIsRefusedNotSkipped(t *testing.T) {
	p := newPerson(t)
	outer := filepath.Dir(p.dir)
	mkdir(t, filepath.Join(outer, ".air", "shared"))
	mkdir(t, filepath.Join(p.dir, ".air", "shared"))
	_, err := p.air.Find(p.dir)
	contains(t, err, "home folder")
}

func TestProjectFileIsStrict(t *testing.T) {
	const id = "01890a5d-ac96-774b-bcce-b302099a8057"
	for _, c := range []struct{ text, want string }{
		{`{"schema_version":1,"project_id":"` + id + `","display_name":"x","profile":{"any":[1]}}`, ""},
		{`{"schema_version":2,"project_id":"` + id + `"}`, "schema_version is 2"},
		{`{"project_id":"` + id + `"}`, "schema_version is 0"},
		{`{"schema_version":1,"project_id":"../../etc"}`, "no lower-case UUID"},
		{`{"schema_version":1}`, "no lower-case UUID"},
		{"{\"schema_version\":1,\n\"project\":\"" + id + `"}`, `line 2: unknown key "project", did you mean "project_id"?`},
		{`{"schema_version":1,"project_id":"` + id + `","project_id":"` + id + `"}`, "duplicate key"},
		{`{`, "unexpected end"},
		{strings.Repeat(" ", 300<<10) + `{}`, "its limit of 262144 bytes"},
	} {
		p := newPerson(t)
		write(t, filepath.Join(p.work, ".air", "shared", "project.json"), c.text)
		found, err := p.air.Find(p.work)
		switch {
		case c.want != "":
			contains(t, err, c.want)
			contains(t, err, "project.json")
			if code(err) != "bad_project" {
				t.Errorf("code %s", code(err))
			}
		case err != nil || found.ID != id:
			t.Errorf("%s: %+v %v", c.text, found, err)
		}
	}
}

func TestProjectFileIsARegularFile(t *testing.T) {
	p := newPerson(t)
	path := filepath.Join(p.work, ".air", "shared", "project.json")
	mkdir(t, filepath.Dir(path))
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := p.air.Find(p.work) // would wait for ever for a writer
	contains(t, err, "no regular file")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hostname", path); err != nil {
		t.Fatal(err)
	}
	if _, err := p.air.Find(p.work); code(err) != "bad_project" {
		t.Errorf("link: %v", err)
	}
}

func TestManyInitsAgree(t *testing.T) {
	p := newPerson(t)
	var (
		mu      sync.Mutex
		found   = map[string]bool{}
		creator int
		group   sync.WaitGroup
	)
	for range 8 {
		group.Go(func() {
			project, created, err := p.air.Init(t.Context(), p.work)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			found[project.ID] = true
			creator += len(created)
		})
	}
	group.Wait()
	if len(found) != 1 || creator != 1 {
		t.Errorf("ids %v, created %d times", found, creator)
	}
}
