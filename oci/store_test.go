package oci

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cuelabs.dev/go/oci/ociregistry"

	"github.com/aircoding/air/internal/canon"
)

func newStore(t testing.TB) *dirStore {
	t.Helper()
	s, err := newDirStore(t.Context(), t.TempDir(), defaultQuota)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func pushBlob(t *testing.T, s *dirStore, content string) ociregistry.Digest {
	t.Helper()
	digest := ociregistry.Digest(canon.Digest([]byte(content)))
	desc := ociregistry.Descriptor{MediaType: "application/octet-stream", Digest: digest, Size: int64(len(content))}
	if _, err := s.PushBlob(context.Background(), "a/b", desc, strings.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	return digest
}

func pushImage(t *testing.T, s *dirStore, tag, text string) ociregistry.Digest {
	t.Helper()
	blob := pushBlob(t, s, text)
	manifest := `{"schemaVersion":2,"config":{"mediaType":"a/b","digest":"` + string(blob) + `","size":3},"layers":[]}`
	desc, err := s.PushManifest(context.Background(), "a/b", tag, []byte(manifest), mediaTypeManifest)
	if err != nil {
		t.Fatal(err)
	}
	return desc.Digest
}

func content(t *testing.T, r ociregistry.BlobReader, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestStoreBlobs(t *testing.T) {
	s := newStore(t)
	ctx := context.Background()
	digest := pushBlob(t, s, "0123456789")
	r, err := s.GetBlob(ctx, "a/b", digest)
	if got := content(t, r, err); got != "0123456789" {
		t.Errorf("got %q", got)
	}
	for _, c := range []struct {
		from, to int64
		want     string
	}{{0, -1, "0123456789"}, {3, 5, "34"}, {8, 100, "89"}, {10, -1, ""}} {
		r, err := s.GetBlobRange(ctx, "a/b", digest, c.from, c.to)
		if got := content(t, r, err); got != c.want {
			t.Errorf("range %d-%d: got %q, want %q", c.from, c.to, got, c.want)
		}
	}
	if _, err := s.GetBlobRange(ctx, "a/b", digest, 11, -1); err == nil {
		t.Error("a range behind the end was answered")
	}
	if _, err := s.GetBlob(ctx, "a/b", goldenDigest); !errors.Is(err, ociregistry.ErrBlobUnknown) {
		t.Errorf("got %v", err)
	}
	bad := ociregistry.Descriptor{MediaType: "a/b", Digest: goldenDigest, Size: 3}
	if _, err := s.PushBlob(ctx, "a/b", bad, strings.NewReader("abc")); err == nil {
		t.Error("a blob with another digest was taken")
	}
}

func TestStoreChunkedUpload(t *testing.T) {
	s := newStore(t)
	ctx := context.Background()
	w, err := s.PushBlobChunked(ctx, "a/b", 0)
	if err != nil {
		t.Fatal(err)
	}
	id := w.ID()
	write := func(offset int64, text string) error {
		w, err := s.PushBlobChunkedResume(ctx, "a/b", id, offset, len(text))
		if err != nil {
			return err
		}
		defer func() { _ = w.Close() }()
		_, err = io.WriteString(w, text)
		return err
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(write(0, "abc"), write(3, "def")); err != nil {
		t.Fatal(err)
	}
	if err := write(3, "xyz"); !errors.Is(err, ociregistry.ErrRangeInvalid) {
		t.Errorf("a chunk at the wrong place: got %v", err)
	}
	if w, err = s.PushBlobChunkedResume(ctx, "a/b", id, -1, 0); err != nil || w.Size() != 6 {
		t.Fatalf("got %v, want 6 bytes so far", err)
	}
	desc, err := w.Commit(ociregistry.Digest(canon.Digest([]byte("abcdef"))))
	if err != nil || desc.Size != 6 {
		t.Errorf("got %+v, %v", desc, err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

func TestStoreManifestsAndTags(t *testing.T) {
	s := newStore(t)
	ctx := context.Background()
	one, two := pushImage(t, s, "v1", "one"), pushImage(t, s, "v2", "two")
	pushImage(t, s, "latest", "two")
	if desc, err := s.ResolveTag(ctx, "a/b", "v1"); err != nil || desc.Digest != one || desc.MediaType != mediaTypeManifest {
		t.Errorf("got %+v, %v, want %s", desc, err, one)
	}
	tags, err := ociregistry.All(s.Tags(ctx, "a/b", ""))
	if err != nil || !slices.Equal(tags, []string{"latest", "v1", "v2"}) {
		t.Errorf("got %q, %v", tags, err)
	}
	if repos, err := ociregistry.All(s.Repositories(ctx, "")); err != nil || !slices.Equal(repos, []string{"a/b"}) {
		t.Errorf("got %q, %v", repos, err)
	}
	if _, err := s.ResolveTag(ctx, "a/b", "v3"); !errors.Is(err, ociregistry.ErrManifestUnknown) {
		t.Errorf("got %v", err)
	}
	if _, err := s.ResolveTag(ctx, "a", "v1"); !errors.Is(err, ociregistry.ErrNameUnknown) {
		t.Errorf("got %v", err)
	}
	if err := s.DeleteTag(ctx, "a/b", "v1"); err != nil {
		t.Error(err)
	}
	if err := s.DeleteTag(ctx, "a/b", "v1"); !errors.Is(err, ociregistry.ErrManifestUnknown) {
		t.Errorf("got %v", err)
	}
	if _, err := s.GetManifest(ctx, "a/b", one); err != nil {
		t.Errorf("the manifest went with its tag: %v", err)
	}
	if err := s.DeleteManifest(ctx, "a/b", two); err != nil {
		t.Error(err)
	}
	if _, err := s.GetTag(ctx, "a/b", "v2"); !errors.Is(err, ociregistry.ErrManifestUnknown) {
		t.Errorf("a tag outlived its manifest: %v", err)
	}
}

func TestStoreRefusesDanglingManifest(t *testing.T) {
	s := newStore(t)
	pushBlob(t, s, "something")
	_, err := s.PushManifest(context.Background(), "a/b", "v1", []byte(goldenManifest), mediaTypeManifest)
	if err == nil {
		t.Error("a manifest without its blobs was taken")
	}
	if _, err := s.ResolveTag(context.Background(), "a/b", "v1"); err == nil {
		t.Error("its tag exists")
	}
}

// No name from a request reaches the file system unchecked.
func TestDirStoreNames(t *testing.T) {
	dir := t.TempDir()
	s, err := newDirStore(t.Context(), filepath.Join(dir, "store"), defaultQuota)
	if err != nil {
		t.Fatal(err)
	}
	before := tree(t, dir)
	ctx := context.Background()
	for _, repo := range []string{"", "..", "../x", "a/../../x", "/a", "a//b", "_tags", "a/_tags", "A", `a\b`} {
		if _, err := s.PushManifest(ctx, repo, "v1", []byte("{}"), mediaTypeManifest); err == nil {
			t.Errorf("repository %q: accepted", repo)
		}
		if _, err := s.PushBlobChunked(ctx, repo, 0); err == nil {
			t.Errorf("repository %q: accepted", repo)
		}
		if _, err := s.GetTag(ctx, repo, "v1"); err == nil {
			t.Errorf("repository %q: accepted", repo)
		}
	}
	for _, name := range []string{"..", "../x", "a/b", "", "-a", strings.Repeat("a", 200)} {
		if _, err := s.ResolveTag(ctx, "a", name); err == nil {
			t.Errorf("tag %q: accepted", name)
		}
		if _, err := s.PushBlobChunkedResume(ctx, "a", name, 0, 0); err == nil {
			t.Errorf("upload %q: accepted", name)
		}
		if _, err := s.GetBlob(ctx, "a", ociregistry.Digest("sha256:"+name)); err == nil {
			t.Errorf("digest %q: accepted", name)
		}
	}
	if after := tree(t, dir); !slices.Equal(before, after) {
		t.Errorf("something was written: %q", after)
	}
}

func tree(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func TestDirStoreOneWriterPerUpload(t *testing.T) {
	s, err := newDirStore(t.Context(), t.TempDir(), defaultQuota)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	w, err := s.PushBlobChunked(ctx, "a", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.PushBlobChunkedResume(ctx, "a", w.ID(), 0, 0); !errors.Is(err, ociregistry.ErrBlobUploadInvalid) {
		t.Errorf("got %v, want the second writer refused", err)
	}
	if _, err := w.Commit(goldenDigest); !errors.Is(err, ociregistry.ErrDigestInvalid) {
		t.Errorf("got %v, want the digest refused", err)
	}
	if err := w.Cancel(); err != nil {
		t.Error(err)
	}
	if left := tree(t, filepath.Join(s.dir, "uploads")); len(left) != 1 {
		t.Errorf("left %q", left)
	}
}

func TestUploadLimit(t *testing.T) {
	s, err := newDirStore(t.Context(), t.TempDir(), defaultQuota)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.PushBlobChunked(context.Background(), "a", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Cancel() }()
	if err := os.Truncate(s.uploadPath(w.ID()), maxBlobBody); err != nil { // sparse
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w, err = s.PushBlobChunkedResume(context.Background(), "a", w.ID(), -1, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(w, bytes.NewReader([]byte("x"))); !errors.Is(err, ociregistry.ErrSizeInvalid) {
		t.Errorf("got %v, want the byte too many refused", err)
	}
}
