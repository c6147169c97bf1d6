package oci

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/aircoding/air/internal/text"
)

// explainPing is explain for the first contact: whatever has no registry's answer to
// give there is no registry.
func (s *session) explainPing(ctx context.Context, err error) error {
	var answer *transport.Error
	if errors.As(err, &answer) && ctx.Err() == nil && s.notRegistry(answer) {
		return fail(KindNotRegistry, s.hintHost(), "%s is no OCI registry: it answered %s", s.ref.Registry, s.status(answer))
	}
	return s.explain(ctx, err)
}

func (s *session) notRegistry(answer *transport.Error) bool {
	switch answer.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusRequestTimeout:
		return false
	}
	return answer.StatusCode < 500
}

// explain gives an error of the network or of the registry its kind and hint, and keeps
// secrets out of it.
func (s *session) explain(ctx context.Context, err error) error {
	err = s.explained(ctx, err)
	if err == nil {
		return nil
	}
	clean := s.gate.hide(err.Error())
	if clean == err.Error() {
		return err
	}
	e := localError(err)
	var ours *Error
	if errors.As(err, &ours) {
		e = ours
	}
	return &Error{Kind: e.Kind, Hint: e.Hint, Err: errors.New(clean)}
}

func (s *session) explained(ctx context.Context, err error) error {
	var (
		ours   *Error
		answer *transport.Error
		sent   *sentError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &ours):
		return err
	case ctx.Err() != nil:
		return localError(ctx.Err())
	case errors.As(err, &answer):
		return s.explainAnswer(answer)
	case errors.Is(err, errNotEncrypted):
		return fail(KindUnreachable, "if that is meant to be, say --plain-http", "%s: %w", s.ref.Registry, errNotEncrypted)
	case errors.As(err, &sent):
		return s.explainNetwork(sent.err)
	case errors.Is(err, errPlainHTTP):
		hint := "AIR follows no link from https to http"
		if s.client.options.PlainHTTP {
			hint = "--plain-http is about " + s.ref.Registry + " alone"
		}
		return fail(KindUnreachable, hint, "%s refers to another plain http address", s.ref.Registry)
	}
	return s.explainNetwork(err)
}

func (s *session) explainAnswer(answer *transport.Error) error {
	host := s.ref.Registry
	switch code := answer.StatusCode; {
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return fail(KindUnauthorized, "log in with air login "+host+" (what docker login stored counts too), or check the repository's rights",
			"%s refuses access to %s: %s", host, s.ref.Repository, s.status(answer))
	case code == http.StatusNotFound && isHTML(answer):
		return fail(KindNotRegistry, s.hintHost(), "%s is no OCI registry: it answered 404 with a web page", host)
	case code == http.StatusNotFound:
		return fail(KindNotFound, "check repository, tag and digest; some registries also answer so without a login",
			"%s has no such thing: %s", host, s.status(answer))
	case code == http.StatusTooManyRequests:
		return fail(KindRateLimited, comeBack(answer, "wait a while, or log in for a higher limit"), "%s limits the rate of requests: %s", host, s.status(answer))
	case code == http.StatusRequestEntityTooLarge:
		return fail(KindTooLarge, "ask who runs the registry for a higher limit", "%s refuses the size: %s", host, s.status(answer))
	case code >= 500, code == http.StatusRequestTimeout:
		return fail(KindUnreachable, comeBack(answer, "the registry is in trouble; try again later"), "%s answered %s", host, s.status(answer))
	case len(answer.Errors) == 0:
		return fail(KindNotRegistry, s.hintHost(), "%s does not answer like an OCI registry: %s", host, s.status(answer))
	}
	return fail(KindInvalid, "", "%s refuses the request: %s", host, s.status(answer))
}

func (s *session) hintHost() string {
	if s.client.options.PlainHTTP {
		return "check host and port; a registry that speaks https needs no --plain-http"
	}
	return "check host and port"
}

// status describes an answer without repeating a page the server made up, or a secret.
func (s *session) status(answer *transport.Error) string {
	words := strings.TrimSpace(strconv.Itoa(answer.StatusCode) + " " + http.StatusText(answer.StatusCode))
	if len(answer.Errors) > 0 {
		words += " (" + s.quote(answer.Errors[0].String()) + ")"
	}
	return words
}

// maxQuoted is how many characters a message repeats of what others wrote.
const maxQuoted = 200

// quote hides secrets before the text is cut, which would leave a part of one.
func (s *session) quote(foreign string) string { return text.Line(s.gate.hide(foreign), maxQuoted) }

// warn is the client's, for texts in which there may be something of the registry's.
func (s *session) warn(format string, args ...any) {
	s.client.warn("%s", s.gate.hide(fmt.Sprintf(format, args...)))
}

func isHTML(answer *transport.Error) bool {
	return len(answer.Errors) == 0 && strings.Contains(strings.ToLower(answer.Error()), "<html")
}

func (s *session) explainNetwork(err error) error {
	var (
		certificate *tls.CertificateVerificationError
		name        *net.DNSError
		timeout     net.Error
		host        = s.ref.Registry
		what        = s.quote(err.Error())
	)
	switch {
	case errors.As(err, &certificate):
		return fail(KindUnreachable, "name its authority with --ca-file, or, on a network you trust, --insecure", "the certificate of %s is not trusted: %s", host, s.quote(certificate.Err.Error()))
	case errors.As(err, &name):
		return fail(KindUnreachable, "check the host name and the network", "%s: %s", host, what)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fail(KindUnreachable, "check that a registry runs there", "%s: %s", host, what)
	case errors.As(err, &timeout) && timeout.Timeout():
		return fail(KindUnreachable, "the registry or the network hangs; try again later", "%s: next to nothing moved for %v: %s", host, s.client.options.idle(), what)
	case transient(err):
		return fail(KindUnreachable, "the registry or the network is in trouble; try again later: a download continues where it stopped", "%s broke off its answer: %s", host, what)
	case strings.HasPrefix(err.Error(), "no token in bearer response"): // and all of the answer
		return fail(KindUnreachable, s.hintHost(), "the token server of %s gave no token", host)
	}
	return fail(KindUnreachable, s.hintHost(), "%s: %s", host, what)
}
