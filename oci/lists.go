package oci

import (
	"cmp"
	"encoding/json"
	"errors"
	"iter"
	"math"
	"net/http"
	"net/url"
	"strconv"

	"cuelabs.dev/go/oci/ociregistry"
	imagespec "github.com/opencontainers/image-spec/specs-go/v1"
)

// maxReferrersPage is how many bytes of descriptors one answer lists; the next page has
// the rest.
const maxReferrersPage = 1 << 20

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
			w.Header().Set("Link", nextPage(req, string(index.Manifests[len(index.Manifests)-1].Digest)))
			break
		}
		index.Manifests = append(index.Manifests, desc)
	}
	if artifactType != "" {
		w.Header().Set("OCI-Filters-Applied", "artifactType")
	}
	answerJSON(w, imagespec.MediaTypeImageIndex, index)
}

func nextPage(req *http.Request, last string) string {
	query := req.URL.Query()
	query.Set("last", last)
	next := url.URL{Path: req.URL.Path, RawQuery: query.Encode()}
	return "<" + next.String() + `>; rel="next"`
}

// list answers with the first n names, none as none, and where the next are.
func (e *endpoints) list(w http.ResponseWriter, req *http.Request, names iter.Seq2[string, error], answer func([]string) any) {
	n, err := strconv.Atoi(cmp.Or(req.URL.Query().Get("n"), strconv.Itoa(math.MaxInt)))
	if err != nil || n < 0 {
		refuse(w, http.StatusBadRequest, ociregistry.ErrUnsupported, "n is no number of names")
		return
	}
	page := []string{}
	for name, err := range names {
		if err != nil {
			writeError(w, req, err)
			return
		}
		if len(page) == n {
			if n > 0 {
				w.Header().Set("Link", nextPage(req, page[n-1]))
			}
			break
		}
		page = append(page, name)
	}
	answerJSON(w, "application/json", answer(page))
}

func answerJSON(w http.ResponseWriter, contentType string, v any) {
	body, _ := json.Marshal(v) // texts and descriptors that came as JSON
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // the client is gone
}
