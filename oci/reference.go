package oci

import (
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/aircoding/air/internal/lazyregexp"
)

// Reference names a bundle in a registry, by tag or by digest.
type Reference struct {
	Registry   string // host, with port where one is given
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
	if !ok || !isHost(host) {
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

// isHost tells a registry host from the first part of a repository name, as every
// OCI client does.
func isHost(s string) bool {
	if s != "localhost" && !strings.ContainsAny(s, ".:") {
		return false
	}
	_, err := name.NewRegistry(s, name.StrictValidation)
	return err == nil
}

func (r Reference) String() string {
	if r.Digest != "" {
		return r.Registry + "/" + r.Repository + "@" + r.Digest
	}
	return r.Registry + "/" + r.Repository + ":" + r.Tag
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
