package capabilities

import (
	"bytes"
	"context"
	"testing"

	"github.com/aircoding/air/oci"
)

// An installed bundle goes through an archive into another store as the same bundle, with
// its signatures, and without the reference that the archive claims: nobody checked it.
func TestABundleThroughAnArchive(t *testing.T) {
	ctx := context.Background()
	b := openSample(t)
	from := OpenStore(t.TempDir())
	placed, err := from.Place(ctx, b, Source{Kind: "local_path", Path: b.Dir})
	if err != nil {
		t.Fatal(err)
	}
	installed, err := from.Verify(placed.CapabilityID, placed.Digest)
	if err != nil {
		t.Fatal(err)
	}
	placed.Reference, placed.Signatures = "registry.example/acme/hello:0.1.0", [][]byte{[]byte(`{"a":1}`)}
	var archive bytes.Buffer
	if err := oci.Save(ctx, &archive, "", installed.Kept(placed)); err != nil {
		t.Fatal(err)
	}
	loaded, err := oci.Load(ctx, &archive, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	got, err := OpenStore(t.TempDir()).PlaceFrom(ctx, loaded[0].Pulled, Source{Kind: "local_path", Path: "/x/hello.air"}, loaded[0].Signatures)
	if err != nil {
		t.Fatal(err)
	}
	if got.Digest != placed.Digest || got.ManifestHash != placed.ManifestHash || got.Reference != "" || len(got.Signatures) != 1 {
		t.Errorf("got %+v, want %+v", got, placed)
	}
	if loaded[0].Claimed != placed.Reference {
		t.Errorf("claims %q", loaded[0].Claimed)
	}
}
