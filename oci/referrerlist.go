package oci

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

const (
	mediaTypeIndex = "application/vnd.oci.image.index.v1+json"
	maxPages       = 100
)

// list returns what a registry says refers to a bundle and may be of a type: from its
// referrers API, or, where it has none, from the index that clients keep under a tag
// (https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md#unavailable-referrers-api).
func (s *session) list(ctx context.Context, digest, artifactType string) ([]entry, error) {
	list, native, err := s.nativeList(ctx, digest, artifactType)
	if native || err != nil {
		return list, err
	}
	known, err := s.readIndex(ctx, indexTag(digest))
	return candidates(known, digest, artifactType), err
}

// nativeList asks the referrers API, page by page, until there are more than are looked at.
// native is false when the registry has no such API.
func (s *session) nativeList(ctx context.Context, digest, artifactType string) (list []entry, native bool, err error) {
	query := url.Values{"artifactType": {artifactType}}.Encode()
	asked := map[string]bool{}
	for !asked[query] && len(asked) < maxPages {
		asked[query] = true
		page, next, err := s.page(ctx, digest, query)
		if noReferrersAPI(err) && len(asked) == 1 {
			return nil, false, nil
		}
		if err != nil {
			return nil, true, err
		}
		list = candidates(append(list, page...), digest, artifactType)
		if next == "" || len(list) > maxListed {
			return list, true, nil
		}
		query = next
	}
	return nil, true, fail(KindInvalid, s.hintHost(), "%s lists what refers to %s in pages that do not end", s.ref.Registry, digest)
}

// page returns one page of the referrers API and the query of the next one. Of the link
// to it only the query counts: it leads to no other host or path.
func (s *session) page(ctx context.Context, digest, query string) (list []entry, next string, err error) {
	raw, header, err := s.read(ctx, "referrers/"+digest+"?"+query, mediaTypeIndex, MaxManifest)
	if err != nil {
		return nil, "", err
	}
	known, err := parseIndex(raw)
	for i := range known {
		known[i].raw = nil // of many pages
	}
	return known, nextQuery(header), err
}

// noReferrersAPI reports whether an answer says that there is no such thing. The
// specification has 404; registries of before answer what they answer to any nonsense.
func noReferrersAPI(err error) bool {
	return answered(err, http.StatusNotFound, http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusNotImplemented)
}

// nextQuery reads a Link header (RFC 8288).
func nextQuery(header http.Header) string {
	for _, link := range header.Values("Link") {
		target, params, _ := strings.Cut(link, ";")
		target = strings.TrimSpace(target)
		rel := strings.NewReplacer(" ", "", `"`, "").Replace(strings.ToLower(params))
		if !strings.Contains(rel, "rel=next") || !strings.HasPrefix(target, "<") || !strings.HasSuffix(target, ">") {
			continue
		}
		if u, err := url.Parse(target[1 : len(target)-1]); err == nil {
			return u.RawQuery
		}
	}
	return ""
}

// candidates are the entries of a list that may be of a type, each once. Some registries
// give the type of the config, which is empty, or none; the manifest decides. One lists
// the subject itself.
func candidates(list []entry, subject, artifactType string) []entry {
	var out []entry
	seen := map[string]bool{subject: true}
	for _, e := range list {
		fits := e.artifactType == artifactType || e.artifactType == "" || e.artifactType == mediaTypeEmpty
		if fits && !seen[e.digest] && ValidDigest(e.digest) {
			seen[e.digest] = true
			out = append(out, e)
		}
	}
	return out
}
