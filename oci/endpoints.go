package oci

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"cuelabs.dev/go/oci/ociregistry"
	"cuelabs.dev/go/oci/ociregistry/ociref"
	"cuelabs.dev/go/oci/ociregistry/ociserver"
	imagespec "github.com/opencontainers/image-spec/specs-go/v1"
)

// maxReferrersPage is how many bytes of descriptors one answer lists; the next page has
// the rest.
const maxReferrersPage = 1 << 20

// endpoints answers requests. The library does, but for what it does not know: a list
// of referrers in pages, the end of a blob as range, giving up an upload, a mount of
// what is not there.
type endpoints struct {
	store   storage
	library http.Handler
}

func newEndpoints(s storage) http.Handler {
	return &endpoints{store: s, library: ociserver.New(s, &ociserver.Options{WriteError: writeError})}
}

func (e *endpoints) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	repo, kind, last := splitPath(req.URL.Path)
	switch {
	case kind == "referrers" && req.Method == http.MethodGet && ValidDigest(last):
		e.referrers(w, req, repo, ociregistry.Digest(last))
		return
	case kind == "uploads" && last != "" && req.Method == http.MethodDelete:
		e.giveUp(w, req, strings.TrimSuffix(repo, "/blobs"), last)
		return
	case kind == "uploads" && last == "" && req.Method == http.MethodPost:
		req = e.mountable(req)
	case kind == "manifests" && req.Method == http.MethodPut && strings.Contains(last, ":") && !ociref.IsValidDigest(last):
		writeError(w, req, ociregistry.ErrDigestInvalid)
		return
	case kind == "blobs" && req.Method == http.MethodGet && req.Header.Get("Range") != "":
		if !e.satisfiable(w, req, repo, last) {
			return
		}
	}
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

// referrers lists the manifests that have a subject. A repository that is not known has
// none, as one has whose first push is still to come.
func (e *endpoints) referrers(w http.ResponseWriter, req *http.Request, repo string, digest ociregistry.Digest) {
	artifactType, after := req.URL.Query().Get("artifactType"), req.URL.Query().Get("last")
	index := imagespec.Index{MediaType: imagespec.MediaTypeImageIndex, Manifests: []ociregistry.Descriptor{}}
	index.SchemaVersion = 2
	size := 0
	for desc, err := range e.store.referrersAfter(req.Context(), repo, digest, artifactType, after) {
		if errors.Is(err, ociregistry.ErrNameUnknown) {
			break
		}
		if err != nil {
			writeError(w, req, err)
			return
		}
		text, _ := json.Marshal(desc) // it came as JSON
		if size += len(text); size > maxReferrersPage && len(index.Manifests) > 0 {
			w.Header().Set("Link", nextPage(req, index.Manifests))
			break
		}
		index.Manifests = append(index.Manifests, desc)
	}
	if artifactType != "" {
		w.Header().Set("OCI-Filters-Applied", "artifactType")
	}
	body, _ := json.Marshal(index)
	w.Header().Set("Content-Type", imagespec.MediaTypeImageIndex)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // the client is gone
}

func nextPage(req *http.Request, page []ociregistry.Descriptor) string {
	query := req.URL.Query()
	query.Set("last", string(page[len(page)-1].Digest))
	next := url.URL{Path: req.URL.Path, RawQuery: query.Encode()}
	return "<" + next.String() + `>; rel="next"`
}

// giveUp drops an upload.
func (e *endpoints) giveUp(w http.ResponseWriter, req *http.Request, repo, id string) {
	plain, err := base64.RawURLEncoding.DecodeString(id) // as the library writes it
	if err != nil {
		writeError(w, req, ociregistry.ErrBlobUploadUnknown)
		return
	}
	upload, err := e.store.PushBlobChunkedResume(req.Context(), repo, string(plain), -1, 0)
	if err == nil {
		err = upload.Cancel()
	}
	if err != nil {
		writeError(w, req, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
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

// satisfiable rewrites the range that a request asks for into the one form the library
// knows, or answers that there is no such range.
func (e *endpoints) satisfiable(w http.ResponseWriter, req *http.Request, repo, digest string) bool {
	desc, err := e.store.ResolveBlob(req.Context(), repo, ociregistry.Digest(digest))
	if err != nil {
		return true // the library says what is wrong
	}
	plain, ok := plainRange(req.Header.Get("Range"), desc.Size)
	if !ok {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes */%d", desc.Size))
		refuse(w, http.StatusRequestedRangeNotSatisfiable, ociregistry.ErrRangeInvalid.Code(),
			fmt.Sprintf("the blob has %d bytes", desc.Size))
		return false
	}
	if plain == "" {
		req.Header.Del("Range")
		return true
	}
	req.Header.Set("Range", plain)
	return true
}

// plainRange turns bytes=-N into bytes=FROM-. What is no range of one part counts as
// none, as RFC 9110 section 14.2 allows: the answer is the whole blob.
func plainRange(header string, size int64) (plain string, ok bool) {
	spec, isBytes := strings.CutPrefix(header, "bytes=")
	from, to, isRange := strings.Cut(strings.TrimSpace(spec), "-")
	if !isBytes || !isRange || strings.ContainsAny(spec, ",") {
		return "", true
	}
	if from == "" {
		n, err := strconv.ParseInt(to, 10, 64)
		if err != nil || n < 0 {
			return "", true
		}
		return fmt.Sprintf("bytes=%d-", max(size-n, 0)), n > 0 && size > 0
	}
	start, err := strconv.ParseInt(from, 10, 64)
	if err != nil || start < 0 {
		return "", true
	}
	return header, start < size
}
