package artifact_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
)

type object = map[string]any

type created struct {
	ArtifactID string `json:"artifact_id"`
	URI        string
	Path       string
	SHA256     string
	SizeBytes  int64 `json:"size_bytes"`
}

func failed(t *testing.T, e runtime.Envelope, kind fault.Kind, code string) {
	t.Helper()
	if e.Error == nil || e.Error.Kind != kind || code != "" && e.Error.Code != code {
		t.Errorf("got %+v, want %s/%s", e.Error, kind, code)
	}
}

func TestCreateContent(t *testing.T) {
	r := rig.New(t, rig.Options{})
	var got created
	e := r.Must("artifact.create", object{
		"type": "report", "original_name": "r.json", "content": `{"a": 1}`,
		"associated_entity_type": "run", "associated_entity_id": "42", "metadata": object{"k": "v"},
	}, &got)
	record, err := r.Session.Artifacts.Get(r.Context(), got.ArtifactID)
	if err != nil {
		t.Fatal(err)
	}
	if got.URI != "air://"+r.Session.ID+"/"+got.ArtifactID || got.SizeBytes != 8 || got.Path != record.Path || got.SHA256 != record.SHA256 {
		t.Errorf("%+v", got)
	}
	if record.MediaType != "application/json" || record.EntityType != "run" || record.EntityID != "42" || string(record.Metadata) != `{"k":"v"}` || record.RunID != e.RunID || record.Capability != "" {
		t.Errorf("%+v", record)
	}
	if len(e.Artifacts) != 1 || e.Artifacts[0] != got.ArtifactID {
		t.Errorf("%v", e.Artifacts)
	}
}

func TestCreateFromFile(t *testing.T) {
	r := rig.New(t, rig.Options{})
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
	r.Put("shots/a.png", png)
	var got created
	r.Must("artifact.create", object{"type": "shot", "source_path": "shots/a.png"}, &got)
	record, err := r.Session.Artifacts.Get(r.Context(), got.ArtifactID)
	if err != nil || record.Name != "a.png" || record.MediaType != "image/png" || record.Size != int64(len(png)) {
		t.Errorf("%+v %v", record, err)
	}
	if b, err := os.ReadFile(got.Path); err != nil || string(b) != png {
		t.Errorf("%q %v", b, err)
	}
}

func TestCreateRefuses(t *testing.T) {
	r := rig.New(t, rig.Options{})
	r.Put("a.txt", "")
	r.Put(".env", "SECRET")
	r.Put(filepath.Join(r.Outside, "x"), "SECRET")
	failed(t, r.Call("artifact.create", object{"type": "report"}), fault.InvalidInput, "content_or_source")
	failed(t, r.Call("artifact.create", object{"type": "report", "content": "", "source_path": "a.txt"}), fault.InvalidInput, "content_or_source")
	failed(t, r.Call("artifact.create", object{"type": "report", "source_path": ".env"}), fault.PermissionDenied, "")
	failed(t, r.Call("artifact.create", object{"type": "report", "source_path": "../outside/x"}), fault.ApprovalRequired, "")
	failed(t, r.Call("artifact.create", object{"type": "report", "source_path": "none"}), fault.NotFound, "no_such_file")
	failed(t, r.Call("artifact.create", object{"type": "report", "source_path": "."}), fault.InvalidInput, "is_a_directory")
}

// G24: the type is a folder's name and nothing else.
func TestG24TypeEscapes(t *testing.T) {
	r := rig.New(t, rig.Options{})
	for _, name := range []string{"../x", "a/b", "", "A", ".hidden", "a\x00b", strings.Repeat("a", 33)} {
		failed(t, r.Call("artifact.create", object{"type": name, "content": "x"}), fault.InvalidInput, "schema")
	}
}

// Identical bytes share a file: its path would tell a capability that another one has
// stored the same.
func TestCapabilityIsNotToldThePath(t *testing.T) {
	guest := func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
		var made created
		e := rig.Call(ctx, access, "artifact.create", object{"type": "report", "content": "the same"})
		if err := json.Unmarshal(e.Output, &made); err != nil {
			return nil, err
		}
		if want := "report/" + made.ArtifactID; made.Path != want {
			t.Errorf("path %s, want %s", made.Path, want)
		}
		return object{}, nil
	}
	r := rig.New(t, rig.Options{Provider: rig.Guests{"a": guest}})
	r.Must("artifact.create", object{"type": "report", "content": "the same"}, nil)
	r.Must("a.run", object{}, nil)
}

type piece struct {
	Content, Encoding string
	SizeBytes         int64 `json:"size_bytes"`
	Truncated         bool
}

func TestRead(t *testing.T) {
	r := rig.New(t, rig.Options{})
	store := func(content string) string {
		r.Put("source", content)
		var made created
		r.Must("artifact.create", object{"type": "data", "source_path": "source"}, &made)
		return made.ArtifactID
	}
	text, binary, empty := store("aäb€"), store("\xff\x00\x01"), store("")
	large := store(strings.Repeat("ä", 200_000))
	for _, c := range []struct {
		name  string
		input object
		want  piece
	}{
		{"all", object{"artifact_id": text}, piece{"aäb€", "utf8", 7, false}},
		{"cut between characters", object{"artifact_id": text, "limit_bytes": 2}, piece{"a", "utf8", 7, true}},
		{"from a character on", object{"artifact_id": text, "offset_bytes": 1, "limit_bytes": 3}, piece{"äb", "utf8", 7, true}},
		{"from within a character", object{"artifact_id": text, "offset_bytes": 2}, piece{base64.StdEncoding.EncodeToString([]byte("\xa4b€")), "base64", 7, false}},
		{"less than a character", object{"artifact_id": text, "offset_bytes": 4, "limit_bytes": 1}, piece{"4g==", "base64", 7, true}},
		{"to the end", object{"artifact_id": text, "offset_bytes": 4, "limit_bytes": 3}, piece{"€", "utf8", 7, false}},
		{"at the end", object{"artifact_id": text, "offset_bytes": 7}, piece{"", "utf8", 7, false}},
		{"beyond the end", object{"artifact_id": text, "offset_bytes": 1 << 40}, piece{"", "utf8", 7, false}},
		{"binary", object{"artifact_id": binary}, piece{"/wAB", "base64", 3, false}},
		{"empty", object{"artifact_id": empty}, piece{"", "utf8", 0, false}},
		{"default limit", object{"artifact_id": large}, piece{strings.Repeat("ä", 128<<10), "utf8", 400_000, true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got piece
			r.Must("artifact.read", c.input, &got)
			if got != c.want {
				t.Errorf("got %.60q %s %d %v (%d bytes)", got.Content, got.Encoding, got.SizeBytes, got.Truncated, len(got.Content))
			}
		})
	}
	failed(t, r.Call("artifact.read", object{"artifact_id": "art_00000000-0000-7000-8000-000000000000"}), fault.NotFound, "")
	failed(t, r.Call("artifact.read", object{"artifact_id": text, "offset_bytes": -1}), fault.InvalidInput, "schema")
}

// A file that is gone from the store is an integrity error, and shows nothing.
func TestReadMissingFile(t *testing.T) {
	r := rig.New(t, rig.Options{})
	var made created
	r.Must("artifact.create", object{"type": "data", "content": "abc"}, &made)
	if err := os.Remove(made.Path); err != nil {
		t.Fatal(err)
	}
	failed(t, r.Call("artifact.read", object{"artifact_id": made.ArtifactID}), fault.Integrity, "")
}
