package runtime_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
)

// reading is a guest that returns what artifact.read gives it for the id in its input.
func reading(ctx context.Context, access *runtime.Access, input json.RawMessage) (any, error) {
	var in struct{ ID string }
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	e := rig.Call(ctx, access, "artifact.read", object{"artifact_id": in.ID})
	if e.Error != nil {
		return nil, e.Error
	}
	return e.Output, nil
}

func personal(t *testing.T, r *rig.Rig) (id string) {
	t.Helper()
	var made struct {
		ID string `json:"artifact_id"`
	}
	r.Must("artifact.create", object{"type": "report", "content": "SECRET"}, &made)
	return made.ID
}

// A person who names an artifact in an input hands it over.
func TestHandedArtifact(t *testing.T) {
	r := with(t, reading)
	r.Must("a.run", object{"ID": personal(t, r)}, nil)
}

func TestOwnArtifact(t *testing.T) {
	r := with(t, func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
		var made struct {
			ID string `json:"artifact_id"`
		}
		e := rig.Call(ctx, access, "artifact.create", object{"type": "report", "content": "mine"})
		if e.Error != nil {
			return nil, e.Error
		}
		if err := json.Unmarshal(e.Output, &made); err != nil {
			return nil, err
		}
		failed(t, rig.Call(ctx, access, "artifact.create", object{"type": "other", "content": "x"}), fault.PermissionDenied, "")
		return reading(ctx, access, json.RawMessage(`{"ID": "`+made.ID+`"}`))
	})
	r.Must("a.run", object{}, nil)
}

// G24: knowing the id of another's artifact is not holding it, however it is repeated.
func TestG24ForeignArtifact(t *testing.T) {
	var id string
	var direct, echoed, viaOther runtime.Envelope
	r := rig.New(t, rig.Options{Provider: rig.Guests{
		"a": func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
			direct = rig.Call(ctx, access, "artifact.read", object{"artifact_id": id})
			rig.Call(ctx, access, "fs.write", object{"path": "echo", "content": id})
			rig.Call(ctx, access, "fs.read", object{"path": "echo"}) // names the id
			echoed = rig.Call(ctx, access, "artifact.read", object{"artifact_id": id})
			viaOther = rig.Call(ctx, access, "b.run", object{"ID": id}) // hands over what it does not hold
			return object{}, nil
		},
		"b": reading,
	}})
	id = personal(t, r)
	r.Must("a.run", object{}, nil)
	for name, e := range map[string]runtime.Envelope{"direct": direct, "echoed": echoed, "via another": viaOther} {
		if e.OK || e.Error.Code != "foreign_artifact" {
			t.Errorf("%s: %+v %s", name, e.Error, e.Output)
		}
	}
}

// other is a capability under the id of another, with other code.
type other struct {
	rig.Guests
	digest string
}

func (o other) Tool(ctx context.Context, name string) (*runtime.Tool, error) {
	t, err := o.Guests.Tool(ctx, name)
	if err == nil {
		t.Owner.Digest = o.digest
	}
	return t, err
}

// An artifact belongs to the code that made it, and not to who has its name.
func TestArtifactsBelongToDigests(t *testing.T) {
	var made struct {
		ID string `json:"artifact_id"`
	}
	run := rig.Guest(func(ctx context.Context, access *runtime.Access, input json.RawMessage) (any, error) {
		if made.ID != "" {
			return reading(ctx, access, json.RawMessage(`{"ID": "`+made.ID+`"}`))
		}
		e := rig.Call(ctx, access, "artifact.create", object{"type": "report", "content": "mine"})
		if err := json.Unmarshal(e.Output, &made); err != nil {
			return nil, err
		}
		return reading(ctx, access, json.RawMessage(`{"ID": "`+made.ID+`"}`))
	})
	for maker, readers := range map[string]map[string]bool{
		"sha256:1": {"sha256:1": true, "sha256:2": false, "": false},
		"":         {"sha256:1": false, "": false}, // any bare module has no digest
	} {
		made.ID = ""
		dir := t.TempDir()
		at := func(digest string) *rig.Rig {
			return rig.New(t, rig.Options{Dir: dir, Approver: rig.Yes, Provider: other{rig.Guests{"a": run}, digest}})
		}
		at(maker).Must("a.run", object{}, nil) // reads in the same call what it made
		for reader, may := range readers {
			if e := at(reader).Call("a.run", object{}); e.OK != may || !may && e.Error.Code != "foreign_artifact" {
				t.Errorf("made by %q, read by %q: %+v", maker, reader, e.Error)
			}
		}
		at("sha256:2").Must("a.run", object{"handed": made.ID}, nil)
	}
}

// A capability hands its own artifacts on to those it calls, and they back in results.
func TestArtifactsAreHandedOn(t *testing.T) {
	creating := func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
		e := rig.Call(ctx, access, "artifact.create", object{"type": "report", "content": "b's"})
		return e.Output, nil
	}
	r := rig.New(t, rig.Options{Provider: rig.Guests{
		"a": func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
			var made struct {
				ID string `json:"artifact_id"`
			}
			if err := json.Unmarshal(rig.Call(ctx, access, "b.run", object{}).Output, &made); err != nil {
				return nil, err
			}
			return reading(ctx, access, json.RawMessage(`{"ID": "`+made.ID+`"}`))
		},
		"b": creating,
	}})
	var got struct{ Content string }
	r.Must("a.run", object{}, &got)
	if got.Content != "b's" {
		t.Errorf("%+v", got)
	}
}

// A capability that may replace a file but not read it does not get its backup.
func TestBackupIsNotTheWriters(t *testing.T) {
	var backup string
	r := rig.New(t, rig.Options{Approver: rig.Yes, Provider: rig.Guests{
		"a": func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
			var written struct {
				Backup string `json:"backup_artifact_id"`
			}
			e := rig.Call(ctx, access, "fs.write", object{"path": "a.txt", "content": "new"})
			if e.Error != nil {
				return nil, e.Error
			}
			if err := json.Unmarshal(e.Output, &written); err != nil {
				return nil, err
			}
			backup = written.Backup
			return object{}, rig.Call(ctx, access, "artifact.read", object{"artifact_id": backup}).Error
		},
	}})
	r.Put("a.txt", "SECRET")
	failed(t, r.Call("a.run", object{}), fault.PermissionDenied, "foreign_artifact")
	r.Must("artifact.read", object{"artifact_id": backup}, nil) // a person may
}
