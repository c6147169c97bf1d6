package oci

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"cuelabs.dev/go/oci/ociregistry"
	"cuelabs.dev/go/oci/ociregistry/ociref"
	"cuelabs.dev/go/oci/ociregistry/ociserver"
)

// endpoints answers requests. The library does, but for what it does not know: lists that
// are empty, a list of referrers in pages, the end of a blob as range, giving up an
// upload, a mount of what is not there.
type endpoints struct {
	store     *dirStore
	library   http.Handler
	manifests chan struct{} // a place for each that is being decoded
}

// maxDecoded is how many manifests are decoded at one time: each may take tens of
// megabytes.
const maxDecoded = 4

func newEndpoints(s *dirStore) http.Handler {
	return &endpoints{s, ociserver.New(s, &ociserver.Options{WriteError: writeError}), make(chan struct{}, maxDecoded)}
}

func (e *endpoints) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	repo, kind, last := splitPath(req.URL.Path)
	get, put := req.Method == http.MethodGet, req.Method == http.MethodPut
	switch {
	case get && kind == "referrers" && ValidDigest(last):
		e.referrers(w, req, repo, ociregistry.Digest(last))
	case get && kind == "tags" && last == "list":
		e.list(w, req, e.store.Tags(req.Context(), repo, req.URL.Query().Get("last")), func(tags []string) any {
			return map[string]any{"name": repo, "tags": tags}
		})
	case get && req.URL.Path == "/v2/_catalog":
		e.list(w, req, e.store.Repositories(req.Context(), req.URL.Query().Get("last")), func(names []string) any {
			return map[string]any{"repositories": names}
		})
	case kind == "uploads" && last != "":
		e.upload(w, req, strings.TrimSuffix(repo, "/blobs"), last)
	case kind == "uploads" && req.Method == http.MethodPost:
		e.library.ServeHTTP(w, e.mountable(req))
	case put && kind == "manifests" && strings.Contains(last, ":") && !ociref.IsValidDigest(last):
		writeError(w, req, ociregistry.ErrDigestInvalid)
	case put && kind == "manifests":
		e.manifest(w, req)
	case get && kind == "blobs" && req.Header.Get("Range") != "" && !e.satisfiable(w, req, repo, last):
	default:
		e.library.ServeHTTP(w, req)
	}
}

// manifest looks at a manifest before the library decodes it.
func (e *endpoints) manifest(w http.ResponseWriter, req *http.Request) {
	text, err := io.ReadAll(req.Body)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		refuse(w, http.StatusRequestEntityTooLarge, ociregistry.ErrSizeInvalid, fmt.Sprintf("a manifest may have %d bytes", tooLarge.Limit))
		return
	case err != nil:
		writeError(w, req, fmt.Errorf("%w: reading it: %w", ociregistry.ErrManifestInvalid, err))
		return
	}
	e.manifests <- struct{}{}
	defer func() { <-e.manifests }()
	if _, err := readReferences(text); err != nil {
		writeError(w, req, err)
		return
	}
	req.Body = io.NopCloser(bytes.NewReader(text))
	e.library.ServeHTTP(w, req)
}

// splitPath takes /v2/REPOSITORY/KIND/LAST apart.
func splitPath(path string) (repo, kind, last string) {
	path, last = cutLast(strings.TrimPrefix(path, "/v2/"))
	repo, kind = cutLast(path)
	return repo, kind, last
}

func cutLast(path string) (before, last string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}

// upload writes to an upload that has begun. One whose body breaks off is dropped, but for
// a chunk of a client that says where it stands, and so can go on.
func (e *endpoints) upload(w http.ResponseWriter, req *http.Request, repo, id string) {
	plain, err := base64.RawURLEncoding.DecodeString(id) // as the library writes it
	switch {
	case err != nil:
		writeError(w, req, ociregistry.ErrBlobUploadUnknown)
	case req.Method == http.MethodDelete:
		if err := e.store.giveUp(req.Context(), repo, string(plain)); err != nil {
			writeError(w, req, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	default:
		body := &brokenBody{ReadCloser: req.Body}
		req.Body = body
		e.library.ServeHTTP(w, req)
		if body.broken && req.Header.Get("Content-Range") == "" {
			_ = e.store.giveUp(req.Context(), repo, string(plain)) // it may be gone already
		}
	}
}

// brokenBody remembers that it did not come to its end.
type brokenBody struct {
	io.ReadCloser
	broken bool
}

func (b *brokenBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.broken = b.broken || err != nil && !errors.Is(err, io.EOF)
	return n, err
}

// mountable makes an ordinary upload of a mount whose blob is not there, as the spec
// wants it.
func (e *endpoints) mountable(req *http.Request) *http.Request {
	query := req.URL.Query()
	digest, from := query.Get("mount"), query.Get("from")
	if digest == "" || from == "" {
		return req
	}
	if _, err := e.store.ResolveBlob(req.Context(), from, ociregistry.Digest(digest)); err == nil {
		return req
	}
	query.Del("mount")
	query.Del("from")
	req = req.Clone(req.Context())
	req.URL.RawQuery = query.Encode()
	return req
}
