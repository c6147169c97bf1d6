package oci

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/aircoding/air/internal/canon"
)

// send makes one request about the repository; object is the rest of the path and may
// end in a query. Its answer has one of the codes, and its body is the caller's to close.
func (s *session) send(ctx context.Context, method, object string, header map[string]string, body []byte, codes ...int) (*http.Response, error) {
	url := s.repo.Scheme() + "://" + s.ref.Registry + "/v2/" + s.ref.Repository + "/" + object
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return nil, err
	}
	if err := transport.CheckError(resp, codes...); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

const anything = "*/*" // as a media type that is accepted

// read returns the body of one object, at most limit bytes, and the answer's header.
func (s *session) read(ctx context.Context, object, accept string, limit int64) (body []byte, header http.Header, err error) {
	err = s.retry(ctx, func() error {
		resp, err := s.send(ctx, http.MethodGet, object, map[string]string{"Accept": accept}, nil, http.StatusOK)
		if err != nil {
			return err
		}
		defer func() { _ = resp.Body.Close() }()
		header = resp.Header
		body, err = io.ReadAll(io.LimitReader(resp.Body, limit+1))
		return err
	})
	switch {
	case err != nil:
		return nil, nil, err
	case int64(len(body)) > limit:
		return nil, nil, fail(KindTooLarge, "", "%s sends more than %d bytes", s.ref.Registry, limit)
	case accept != anything && strings.Contains(header.Get("Content-Type"), "html"):
		return nil, nil, fail(KindNotRegistry, s.hintHost(), "%s is no OCI registry: it answered with a web page", s.ref.Registry)
	}
	return body, header, nil
}

// object returns a blob or a manifest of which the bytes are what its digest promises.
func (s *session) object(ctx context.Context, kind string, d Descriptor, limit int64) ([]byte, error) {
	if d.Data != nil {
		return d.Data, nil
	}
	accept := anything
	if kind == "manifests" {
		accept = acceptManifests
	}
	body, _, err := s.read(ctx, kind+"/"+d.Digest, accept, limit)
	if err != nil {
		return nil, err
	}
	if got := canon.Digest(body); got != d.Digest {
		return nil, mismatch("%s sent something with digest %s, want %s", s.ref.Registry, got, d.Digest)
	}
	return body, nil
}

// answered reports whether an error is the registry's answer with one of some codes.
func answered(err error, codes ...int) bool {
	var answer *transport.Error
	return errors.As(err, &answer) && slices.Contains(codes, answer.StatusCode)
}

// checkJSON bounds a document from a registry or an archive before it is decoded.
func checkJSON(what string, raw []byte, limit int) error {
	if err := canon.Check(raw, canon.Limits{Bytes: int64(limit), Depth: 32, Values: 200_000, Strict: true}); err != nil {
		return fail(KindInvalid, "", "%s is no acceptable JSON: %w", what, err)
	}
	return nil
}
