package permission

import (
	"slices"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/home"
)

func TestC11ChangedSharedFile(t *testing.T) {
	p := newPlace(t)
	project := home.Project{Root: p.root, Dir: p.air + "/projects/x"}
	const first = "schema_version: 1\nrules: []\n"
	p.put(".air/shared/permissions.yaml", first)
	files, err := Shared(project)
	if err != nil || len(files) != 1 || files[0].Path != "permissions.yaml" || len(files[0].SHA256) != 64 {
		t.Fatalf("%+v, %v", files, err)
	}
	a, err := LoadAcceptance(project)
	if err != nil || a.Covers("permissions.yaml", []byte(first)) {
		t.Fatalf("accepted before anybody did: %v", err)
	}
	if err := a.Accept(files); err != nil {
		t.Fatal(err)
	}
	if a, err = LoadAcceptance(project); err != nil || !a.Covers("permissions.yaml", []byte(first)) || len(a.Pending(files)) != 0 {
		t.Fatalf("not accepted after a person did: %v", err)
	}
	p.put(".air/shared/permissions.yaml", "schema_version: 1\nrules:\n  - allow: write(**)\n")
	p.put(".air/shared/capabilities.yaml", "schema_version: 1\n")
	changed, err := Shared(project)
	if err != nil || !slices.Equal(a.Pending(changed), changed) || len(changed) != 2 {
		t.Errorf("after a pull: %+v, %v", changed, err)
	}
	if before := a.Before("permissions.yaml"); string(before) != first {
		t.Errorf("the difference would be shown to %q", before)
	}
	if before := a.Before("capabilities.yaml"); before != nil {
		t.Errorf("a new file was %q before", before)
	}
	if err := a.Accept(files); !fault.Is(err, fault.Conflict) {
		t.Errorf("accepting what is not there any more: %v", err)
	}
	if again, err := LoadAcceptance(project); err != nil || !again.Covers("permissions.yaml", []byte(first)) {
		t.Errorf("what was accepted before is lost: %v", err)
	}
	if a.Covers("capabilities.yaml", []byte(first)) {
		t.Error("the digest of one file is accepted for another")
	}
}

func TestSharedFilesAreRegular(t *testing.T) {
	p := newPlace(t)
	p.put(p.outside+"/x", "schema_version: 1\n")
	p.link(p.outside+"/x", ".air/shared/permissions.yaml")
	if _, err := Shared(home.Project{Root: p.root}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a shared file that is a link: %v", err)
	}
	if files, err := Shared(home.Project{}); err != nil || files != nil {
		t.Errorf("without a project: %v, %v", files, err)
	}
}

func TestBrokenAcceptance(t *testing.T) {
	p := newPlace(t)
	p.put(p.air+"/state/accepted.json", `{"schema_version":1,"files":"all"}`)
	if _, err := LoadAcceptance(home.Project{Root: p.root, Dir: p.air}); !fault.Is(err, fault.Integrity) {
		t.Errorf("a broken file: %v", err)
	}
}
