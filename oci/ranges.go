package oci

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"cuelabs.dev/go/oci/ociregistry"
)

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
		refuse(w, http.StatusRequestedRangeNotSatisfiable, ociregistry.ErrRangeInvalid,
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
