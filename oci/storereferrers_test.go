package oci

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cuelabs.dev/go/oci/ociregistry"
	imagespec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/aircoding/air/internal/canon"
)

const emptyBlob = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a" // of {}, by sha256sum

// pushReferrer pushes a manifest with a subject, which need not be there.
func pushReferrer(t *testing.T, s *dirStore, subject, artifactType, note string) ociregistry.Digest {
	t.Helper()
	pushBlob(t, s, "{}")
	if artifactType != "" {
		artifactType = `"artifactType":"` + artifactType + `",`
	}
	text := fmt.Sprintf(`{"schemaVersion":2,%s"config":{"mediaType":"application/vnd.config","digest":%q,"size":2},"layers":[],
		"subject":{"mediaType":%q,"digest":%q,"size":1},"annotations":{"note":%q}}`, artifactType, emptyBlob, mediaTypeManifest, subject, note)
	desc, err := s.PushManifest(t.Context(), "a/b", "", []byte(text), mediaTypeManifest)
	if err != nil {
		t.Fatal(err)
	}
	return desc.Digest
}

func referrers(t *testing.T, s *dirStore, subject, artifactType, after string) (found []ociregistry.Digest) {
	t.Helper()
	for desc, err := range s.referrersAfter(t.Context(), "a/b", ociregistry.Digest(subject), artifactType, after) {
		if err != nil {
			if errors.Is(err, ociregistry.ErrNameUnknown) {
				return nil
			}
			t.Fatal(err)
		}
		found = append(found, desc.Digest)
	}
	return found
}

func TestStoreReferrers(t *testing.T) {
	s := newStore(t)
	if got := referrers(t, s, goldenDigest, "", ""); len(got) != 0 {
		t.Errorf("an empty store has %q", got)
	}
	one := pushReferrer(t, s, goldenDigest, "application/x.sig", "1")
	two := pushReferrer(t, s, goldenDigest, "", "2") // counts as its config's type
	pushReferrer(t, s, emptyBlob, "application/x.sig", "of something else")
	both := []ociregistry.Digest{one, two}
	slices.Sort(both)
	if got := referrers(t, s, goldenDigest, "", ""); !slices.Equal(got, both) {
		t.Errorf("got %q, want %q", got, both)
	}
	if got := referrers(t, s, goldenDigest, "", string(both[0])); !slices.Equal(got, both[1:]) {
		t.Errorf("got %q, want %q", got, both[1:])
	}
	if got := referrers(t, s, goldenDigest, "application/x.sig", ""); !slices.Equal(got, []ociregistry.Digest{one}) {
		t.Errorf("got %q, want %q", got, one)
	}
	for desc, err := range s.Referrers(t.Context(), "a/b", goldenDigest, "application/vnd.config") {
		if err != nil || desc.Digest != two || desc.ArtifactType != "application/vnd.config" || desc.MediaType != mediaTypeManifest || desc.Annotations["note"] != "2" || desc.Size == 0 {
			t.Errorf("got %+v, %v", desc, err)
		}
	}
	if err := s.DeleteManifest(t.Context(), "a/b", one); err != nil {
		t.Fatal(err)
	}
	if got := referrers(t, s, goldenDigest, "", ""); !slices.Equal(got, []ociregistry.Digest{two}) {
		t.Errorf("after deleting: got %q, want %q", got, two)
	}
}

// An index has a subject too, and no type of its own when it names none; a Docker
// manifest has none.
func TestStoreReferrersOfOtherKinds(t *testing.T) {
	i := newStore(t)
	text := fmt.Sprintf(`{"schemaVersion":2,"manifests":[],"subject":{"mediaType":%q,"digest":%q,"size":1}}`, mediaTypeManifest, goldenDigest)
	desc, err := i.PushManifest(t.Context(), "a/b", "", []byte(text), imagespec.MediaTypeImageIndex)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.PushManifest(t.Context(), "a/b", "", []byte(text+" "), "application/vnd.docker.distribution.manifest.v2+json"); err != nil {
		t.Fatal(err)
	}
	if got := referrers(t, i, goldenDigest, "", ""); !slices.Equal(got, []ociregistry.Digest{desc.Digest}) {
		t.Errorf("got %q, want %q", got, desc.Digest)
	}
}

// What a crash left between the two files of a referrer is not listed, and a second
// push mends it.
func TestReferrerWithoutItsManifest(t *testing.T) {
	s := newStore(t)
	one := pushReferrer(t, s, goldenDigest, "x/y", "1")
	path, err := s.manifestPath("a/b", one)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := referrers(t, s, goldenDigest, "", ""); len(got) != 0 {
		t.Errorf("got %q", got)
	}
	pushReferrer(t, s, goldenDigest, "x/y", "1")
	if got := referrers(t, s, goldenDigest, "", ""); len(got) != 1 {
		t.Errorf("got %q", got)
	}
}

var nextLink = regexp.MustCompile(`^<([^>]+)>; rel="next"$`)

// getReferrers follows the pages and returns the digests and how many pages there were.
func getReferrers(t *testing.T, addr, query string) (found []string, pages int) {
	t.Helper()
	url := "http://" + addr + "/v2/a/b/referrers/" + goldenDigest + query
	for url != "" {
		resp, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		var index imagespec.Index
		err = json.NewDecoder(resp.Body).Decode(&index)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != 200 || resp.Header.Get("Content-Type") != imagespec.MediaTypeImageIndex || index.MediaType != imagespec.MediaTypeImageIndex || index.Manifests == nil {
			t.Fatalf("got %s, %+v, %v", resp.Status, index, err)
		}
		if filtered := resp.Header.Get("OCI-Filters-Applied"); (filtered == "artifactType") != strings.Contains(query, "artifactType") {
			t.Errorf("filters applied: %q", filtered)
		}
		for _, d := range index.Manifests {
			found = append(found, string(d.Digest))
		}
		pages++
		url = ""
		if link := nextLink.FindStringSubmatch(resp.Header.Get("Link")); link != nil {
			url = "http://" + addr + link[1]
		}
	}
	return found, pages
}

// A list longer than one answer comes in pages, and survives a restart.
func TestStoreReferrersInPages(t *testing.T) {
	dir := t.TempDir()
	s, err := newDirStore(t.Context(), dir, defaultQuota)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		pushReferrer(t, s, goldenDigest, "x/y", strings.Repeat("n", 300<<10)+fmt.Sprint(i))
	}
	pushReferrer(t, s, goldenDigest, "x/z", "small")
	addr := serveTest(t, ServeOptions{Dir: dir})
	if found, pages := getReferrers(t, addr, ""); len(slices.Compact(found)) != 6 || pages != 2 || !slices.IsSorted(found) {
		t.Errorf("got %q in %d pages", found, pages)
	}
	if found, pages := getReferrers(t, addr, "?artifactType=x%2Fz"); len(found) != 1 || pages != 1 {
		t.Errorf("got %q in %d pages", found, pages)
	}
	if found, _ := getReferrers(t, serveTest(t, ServeOptions{}), ""); len(found) != 0 {
		t.Errorf("a registry that knows nothing lists %q", found)
	}
}

// fill makes n manifests without syncing each, all with one subject or none.
func fill(t testing.TB, s *dirStore, n int, subject string) {
	t.Helper()
	dir, err := s.repoPath("a/b")
	if err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"_manifests", "_tags", "_referrers/" + strings.TrimPrefix(subject, "sha256:")} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		text := fmt.Appendf(nil, `{"schemaVersion":2,"config":{"mediaType":"a/b","digest":%q,"size":2},"layers":[],"annotations":{"i":"%d"}}`, emptyBlob, i)
		digest := canon.Digest(text)
		hex := strings.TrimPrefix(digest, "sha256:")
		files := map[string]string{
			filepath.Join(s.dir, "blobs", "sha256", hex):    string(text),
			filepath.Join(dir, "_manifests", hex):           mediaTypeManifest,
			filepath.Join(dir, "_tags", fmt.Sprint("v", i)): digest + "\n",
		}
		if subject != "" {
			files[filepath.Join(dir, "_referrers", strings.TrimPrefix(subject, "sha256:"), hex)] = `{"mediaType":"` + mediaTypeManifest + `","digest":"` + digest + `","size":1}`
		}
		for path, content := range files {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Thousands of manifests in a repository are no load for what concerns one of them.
func TestManyManifests(t *testing.T) {
	dir := t.TempDir()
	s, err := newDirStore(t.Context(), dir, defaultQuota)
	if err != nil {
		t.Fatal(err)
	}
	const many = 2000
	pushBlob(t, s, "{}")
	fill(t, s, many, "")
	quick := func(what string, limit time.Duration, do func()) {
		t.Helper()
		start := time.Now()
		do()
		if took := time.Since(start); took > limit {
			t.Errorf("%s took %v, more than %v", what, took, limit)
		} else {
			t.Logf("%s: %v", what, took)
		}
	}
	quick("starting", 2*time.Second, func() { s, err = newDirStore(t.Context(), dir, defaultQuota) })
	if err != nil {
		t.Fatal(err)
	}
	quick("a push, with fsync", 500*time.Millisecond, func() { pushReferrer(t, s, goldenDigest, "x/y", "1") })
	quick("its referrers", 100*time.Millisecond, func() {
		if got := referrers(t, s, goldenDigest, "", ""); len(got) != 1 {
			t.Errorf("got %q", got)
		}
	})
	quick("a tag", 100*time.Millisecond, func() {
		if _, err := s.GetTag(t.Context(), "a/b", "v77"); err != nil {
			t.Error(err)
		}
	})
	quick("all tags", time.Second, func() {
		if tags, err := ociregistry.All(s.Tags(context.Background(), "a/b", "")); err != nil || len(tags) != many {
			t.Errorf("got %d, %v", len(tags), err)
		}
	})
	fill(t, s, many, emptyBlob)
	quick("many referrers of one", 2*time.Second, func() {
		if got := referrers(t, s, emptyBlob, "", ""); len(got) != many {
			t.Errorf("got %d", len(got))
		}
	})
}
