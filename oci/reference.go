package oci

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/aircoding/air/internal/lazyregexp"
)

// Reference names a bundle in a registry, by tag or by digest, in the one form that all
// spellings of it have in common.
type Reference struct {
	Registry   string // host in lower case, with the port unless that is https's own
	Repository string
	Tag        string // empty when Digest is set: a digest is stronger than a tag beside it
	Digest     string
}

// Grammar of https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md#pulling-manifests
var (
	repositoryGrammar = lazyregexp.New(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)
	tagGrammar        = lazyregexp.New(`^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$`)
)

// ParseReference reads HOST[:PORT]/REPOSITORY:TAG or …@sha256:…, with or without
// "oci://" in front. There is no default registry and no default tag: what runs as a
// tool is named in full. Its error is an *Error.
func ParseReference(s string) (Reference, error) {
	const hint = "write HOST[:PORT]/REPOSITORY:TAG or HOST[:PORT]/REPOSITORY@sha256:DIGEST"
	var r Reference
	rest := strings.TrimPrefix(s, "oci://")
	if strings.Contains(rest, "://") {
		return r, fail(KindInvalid, hint, "a reference takes no URL scheme but oci://")
	}
	host, rest, ok := strings.Cut(rest, "/")
	if host, ok = normalHost(host, ok); !ok {
		return r, fail(KindInvalid, hint, "the reference names no registry host; AIR has no default registry")
	}
	rest, digest, byDigest := strings.Cut(rest, "@")
	repository, tag, byTag := strings.Cut(rest, ":")
	switch {
	case len(repository) > 255 || !repositoryGrammar.MatchString(repository):
		return r, fail(KindInvalid, hint, "%.100q is no repository name: lower-case letters, digits, and . _ - / between them", repository)
	case byTag && !tagGrammar.MatchString(tag):
		return r, fail(KindInvalid, hint, "%.100q is no tag", tag)
	case byDigest && !ValidDigest(digest):
		return r, fail(KindInvalid, hint, "%.100q is no sha256 digest", digest)
	case !byTag && !byDigest:
		return r, fail(KindInvalid, hint, "the reference names neither a tag nor a digest")
	}
	r = Reference{Registry: host, Repository: repository, Tag: tag, Digest: digest}
	if byDigest {
		r.Tag = ""
	}
	return r, nil
}

// hostGrammar is that of Docker's references, with the dot that may end a DNS name.
var hostGrammar = lazyregexp.New(`^(?:(?:[a-z0-9]|[a-z0-9][a-z0-9-]*[a-z0-9])(?:\.(?:[a-z0-9]|[a-z0-9][a-z0-9-]*[a-z0-9]))*\.?|\[[0-9a-f:.]+\])(?::[0-9]+)?$`)

// normalHost tells a registry host from the first part of a repository name, as every
// OCI client does, and writes it as it is written everywhere.
func normalHost(s string, ok bool) (string, bool) {
	s = strings.ToLower(s)
	if !ok || !hostGrammar.MatchString(s) {
		return "", false
	}
	host, port := s, ""
	if i := strings.LastIndexByte(s, ':'); i > strings.LastIndexByte(s, ']') {
		host, port = s[:i], s[i+1:]
	}
	host = strings.TrimSuffix(host, ".")
	if strings.HasPrefix(host, "[") {
		addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
		if err != nil || !addr.Is6() {
			return "", false
		}
		host = "[" + addr.String() + "]"
	}
	if host, ok = withPort(host, port); !ok || !isHost(host) {
		return "", false
	}
	return host, true
}

// withPort leaves out the port that is https's own, unless the name alone would then
// read as the first part of a repository.
func withPort(host, port string) (string, bool) {
	if port == "" {
		return host, true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return "", false
	}
	if n == 443 && isHost(host) {
		return host, true
	}
	return host + ":" + strconv.FormatUint(n, 10), true
}

func isHost(s string) bool {
	if s != "localhost" && !strings.ContainsAny(s, ".:") {
		return false
	}
	_, err := name.NewRegistry(s, name.StrictValidation)
	return err == nil
}

// Place is the repository alone, which patterns of references are held against.
func (r Reference) Place() string { return r.Registry + "/" + r.Repository }

func (r Reference) String() string {
	if r.Digest != "" {
		return r.Place() + "@" + r.Digest
	}
	return r.Place() + ":" + r.Tag
}

// repository is r for the library; plain makes it expect http.
func (r Reference) repository(plain bool) (name.Repository, error) {
	options := []name.Option{name.StrictValidation}
	if plain {
		options = append(options, name.Insecure)
	}
	registry, err := name.NewRegistry(r.Registry, options...)
	if err != nil {
		return name.Repository{}, fail(KindInvalid, "", "%w", err)
	}
	return registry.Repo(strings.Split(r.Repository, "/")...), nil
}
