//go:build cosign

package oci

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"cuelabs.dev/go/oci/ociregistry/ocimem"
	"cuelabs.dev/go/oci/ociregistry/ociserver"
)

// cosign finds what Attach attached where cosign itself would have put it, with and
// without a referrers API, and the other way round.
func TestCosignFindsWhatIsAttached(t *testing.T) {
	cosign := tool(t, "cosign")
	t.Setenv("COSIGN_PASSWORD", "x")
	keys := t.TempDir()
	cmd := exec.CommandContext(t.Context(), cosign, "generate-key-pair")
	cmd.Dir = keys
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	from := serverOf(t, ociserver.New(ocimem.New(), nil))
	signatures := [][]byte{}
	for _, to := range []*server{from, serverOf(t, withoutReferrers()), serverOf(t, ggcrRegistry())} {
		c := plainClient(t)
		mustPush(t, c, to.ref(":0.1.0"), hello())
		for _, s := range signatures {
			mustAttach(t, c, to, Signature(s))
		}
		if len(signatures) == 0 {
			cosignSign(t, cosign, keys, to)
		}
		run(t, cosign, "verify", "--key", filepath.Join(keys, "cosign.pub"), "--insecure-ignore-tlog", "--allow-http-registry", to.ref("@"+goldenDigest))
		if len(signatures) == 0 {
			signatures = append(signatures, mustReferrers(t, c, to)[0].Content)
			continue
		}
		cosignSign(t, cosign, keys, to)
		if got := mustReferrers(t, c, to); len(got) != 2 || !json.Valid(got[1].Content) {
			t.Errorf("after cosign signed: %q", contents(got))
		}
	}
}

func cosignSign(t *testing.T, cosign, keys string, s *server) {
	t.Helper()
	run(t, cosign, "sign", "--key", filepath.Join(keys, "cosign.key"), "--allow-http-registry", "--tlog-upload=false", "--use-signing-config=false", "--yes", s.ref("@"+goldenDigest))
}
