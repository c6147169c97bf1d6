package runtime

import (
	"maps"
	"slices"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/redact"
	"github.com/aircoding/air/runtime/permission"
)

// complete is the request with its secrets, each of which was decided. Nothing but Send
// gets to see it.
func (t *transfer) complete() (HTTPRequest, error) {
	r := t.request
	r.Headers = maps.Clone(r.Headers)
	if r.Headers == nil {
		r.Headers = map[string]string{}
	}
	for _, header := range slices.Sorted(maps.Keys(t.secrets)) {
		value, err := t.secret(t.secrets[header])
		if err != nil {
			return HTTPRequest{}, err
		}
		r.Headers[header] = value
		t.values = append(t.values, value)
		if _, token, hasScheme := strings.Cut(value, " "); hasScheme { // as in Bearer TOKEN
			t.values = append(t.values, strings.TrimSpace(token))
		}
	}
	t.scan = redact.New(t.values)
	return r, nil
}

func (t *transfer) secret(name string) (string, error) {
	r := t.access.registry
	if err := r.permits(t.access.run, t.access.Commands.decisions, permission.Effect{Kind: permission.Secret, Target: name}); err != nil {
		return "", err
	}
	if r.config.Secret == nil {
		return "", fault.New(fault.Unavailable, "no_secrets", "no secrets are kept here")
	}
	value, err := r.config.Secret(name)
	if err != nil {
		return "", err
	}
	value = strings.TrimSpace(value)
	if value == "" || strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
		return "", fault.New(fault.InvalidInput, "bad_secret", "the secret %s has several lines or nothing in it: no header can hold it", name)
	}
	return value, nil
}

// check refuses an answer that repeats a secret that was sent to its host or to one before,
// and one that cannot be looked through.
func (t *transfer) check(answer HTTPAnswer) error {
	if len(t.values) == 0 {
		return nil
	}
	if answer.Truncated {
		return fault.New(fault.PermissionDenied, "answer_withheld", "the answer is too large to be looked through for the secret that was sent")
	}
	if answer.Encoded {
		return fault.New(fault.PermissionDenied, "answer_withheld", "the answer has the encoding %.40q, and cannot be looked through for the secret that was sent", answer.Headers["content-encoding"]).
			WithHint("leave the header Accept-Encoding out")
	}
	texts := []string{string(answer.Body)}
	for name, value := range answer.Headers {
		texts = append(texts, name, value)
	}
	for _, text := range texts {
		if t.repeats(text) {
			return fault.New(fault.PermissionDenied, "answer_withheld", "the answer repeats the secret that was sent, and is withheld").
				WithHint("do not work around this; ask for something that does not repeat it")
		}
	}
	return nil
}

// repeats reports whether a text has a secret in it, in whichever case names are written.
func (t *transfer) repeats(text string) bool {
	return t.scan.Knows(text) || slices.ContainsFunc(t.values, func(v string) bool {
		return strings.Contains(text, v) || strings.Contains(text, strings.ToLower(v))
	})
}
