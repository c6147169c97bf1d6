package runtime

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/permission"
)

// redirect is where an answer leads, "" for one that is the end.
func (t *transfer) redirect(answer HTTPAnswer) string {
	switch answer.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect: // RFC 9110 section 15.4
		return answer.Headers["location"]
	}
	return ""
}

// follow makes the request the one that a redirect asks for, and returns its host, which is
// decided where it is another one.
func (t *transfer) follow(ctx context.Context, from permission.Effect, answer HTTPAnswer, location string) (permission.Effect, error) {
	to, err := resolved(t.request.URL, location)
	if err != nil {
		return from, err
	}
	host, err := permission.NetTarget(to)
	if err != nil || !strings.HasPrefix(host.Target, "http://") && !strings.HasPrefix(host.Target, "https://") {
		return from, fault.New(fault.Unavailable, "bad_redirect", "%s redirects to %.200q, which is no URL to follow", from.Target, permission.Printable(location))
	}
	t.request.URL = to
	t.method(answer.Status)
	if host.Target == from.Target {
		return from, nil
	}
	t.secrets, t.request.Headers = nil, harmless(t.request.Headers)
	if err := t.access.Commands.decide(ctx, []permission.Effect{host}); err != nil {
		return from, redirected(from, host, err)
	}
	return host, nil
}

func resolved(base, location string) (string, error) {
	from, err := url.Parse(base)
	if err != nil {
		return "", fault.New(fault.InvalidInput, "bad_url", "the URL %.200q cannot be read", base)
	}
	to, err := from.Parse(location)
	if err != nil {
		return "", fault.New(fault.Unavailable, "bad_redirect", "the redirect %.200q cannot be read", permission.Printable(location))
	}
	to.Fragment, to.RawFragment = "", ""
	return to.String(), nil
}

// method is GET from where the answer lies elsewhere; 307 and 308 repeat the request.
func (t *transfer) method(status int) {
	switch {
	case status == http.StatusTemporaryRedirect || status == http.StatusPermanentRedirect || t.request.Method == http.MethodGet || t.request.Method == http.MethodHead:
	case status == http.StatusSeeOther || t.request.Method == http.MethodPost:
		t.request.Method, t.request.Body, t.request.Size = http.MethodGet, nil, 0
		t.request.Headers = maps.Clone(t.request.Headers)
		maps.DeleteFunc(t.request.Headers, func(name, _ string) bool { return strings.EqualFold(name, "content-type") })
	}
}

// harmless are headers that say which answer is wanted, and nothing about who asks.
func harmless(headers map[string]string) map[string]string {
	kept := map[string]string{}
	for name, value := range headers {
		switch strings.ToLower(name) {
		case "accept", "accept-language", "accept-encoding", "content-type", "user-agent", "range":
			kept[name] = value
		}
	}
	return kept
}

// redirected says of a refusal that it is about a redirect.
func redirected(from, to permission.Effect, err error) error {
	f := *fault.From(err)
	f.Message = from.Target + " redirects to " + to.Target + ": " + f.Message
	return &f
}
