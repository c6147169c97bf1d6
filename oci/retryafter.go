package oci

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// maxRetryAfter is the longest wait that a server may ask for; what wants more is an
// error that says until when.
const maxRetryAfter = 5 * time.Minute

// maxWaits is how long all requests of one operation together wait because answers say so.
const maxWaits = 30 * time.Minute

type retryAfterKey struct{}

// noteRetryAfter puts what an answer says about coming back where the error of that
// answer carries it: go-containerregistry keeps the request of an answer, not its header.
func noteRetryAfter(resp *http.Response, sent *http.Request) {
	wait, ok := parseRetryAfter(resp.Header, time.Now())
	if !ok {
		return
	}
	request := resp.Request
	if request == nil {
		request = sent
	}
	resp.Request = request.WithContext(context.WithValue(request.Context(), retryAfterKey{}, wait))
}

// parseRetryAfter understands both forms, seconds and a date
// (https://www.rfc-editor.org/rfc/rfc9110#name-retry-after). A date counts by the
// server's own clock when the answer tells it.
func parseRetryAfter(header http.Header, now time.Time) (wait time.Duration, ok bool) {
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		now = date
	}
	return max(at.Sub(now), 0), true
}

// retryAfter returns how long the answer behind an error asks to wait.
func retryAfter(err error) (wait time.Duration, asked bool) {
	var answer *transport.Error
	if !errors.As(err, &answer) || answer.Request == nil {
		return 0, false
	}
	wait, asked = answer.Request.Context().Value(retryAfterKey{}).(time.Duration)
	return wait, asked
}

// tellWait says why nothing moves.
func (s *session) tellWait(err error, pause time.Duration) {
	var answer *transport.Error
	if errors.As(err, &answer) {
		s.warn("%s answered %s and asks to wait: next try in %v", answer.Request.URL.Host, s.status(answer), pause.Round(time.Second/10))
	}
}

// comeBack is the hint for an answer that says when to try again.
func comeBack(err error, otherwise string) string {
	wait, asked := retryAfter(err)
	if !asked || wait < time.Second {
		return otherwise
	}
	until := time.Now().Add(wait).UTC().Format("2006-01-02 15:04:05 UTC")
	return "it asks to wait until " + until + " (" + wait.Round(time.Second).String() + "); " + otherwise
}
