package oci

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestParseRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		value, date string
		want        time.Duration
		ok          bool
	}{
		{"0", "", 0, true},
		{"120", "", 2 * time.Minute, true},
		{"2147483647", "", 2147483647 * time.Second, true},
		{"Mon, 30 Nov 2026 12:01:30 GMT", "", 90 * time.Second, true},
		{"Monday, 30-Nov-26 12:01:30 GMT", "", 90 * time.Second, true},
		{"Mon, 30 Nov 2026 12:01:30 GMT", "Mon, 30 Nov 2026 12:01:00 GMT", 30 * time.Second, true}, // the server's clock
		{"Mon, 30 Nov 2026 11:00:00 GMT", "", 0, true},
		{"", "", 0, false},
		{"-1", "", 0, false},
		{"1.5", "", 0, false},
		{"soon", "", 0, false},
		{"99999999999999999999", "", 0, false},
	} {
		header := http.Header{}
		header.Set("Retry-After", c.value)
		header.Set("Date", c.date)
		if got, ok := parseRetryAfter(header, now); got != c.want || ok != c.ok {
			t.Errorf("%q at %q: got %v %v, want %v", c.value, c.date, got, ok, c.want)
		}
	}
}

// logged is a log that many downloads write to.
type logged struct{ lines chan string }

func (l logged) Write(p []byte) (int, error) {
	l.lines <- string(p)
	return len(p), nil
}

func TestRetryAfterIsHonouredAndShown(t *testing.T) {
	s := newServer(t)
	mustPush(t, plainClient(t), s.ref(":1"), big())
	log := logged{make(chan string, 10)}
	c := newClient(t, Options{PlainHTTP: true, Log: log})
	s.sabotage(once("GET", "/blobs/"+big().Layers[0].Digest, comeBackIn(429, "1")))
	start := time.Now()
	got, err := c.Pull(context.Background(), s.ref(":1"))
	if err != nil {
		t.Fatal(err)
	}
	wantBundle(t, got, big())
	if took := time.Since(start); took < time.Second || took > 5*time.Second {
		t.Errorf("took %v, want to wait a second", took)
	}
	if line := <-log.lines; !strings.HasPrefix(line, "warning: "+s.host()+" answered 429 Too Many Requests and asks to wait: next try in 1s") {
		t.Errorf("said %q", line)
	}
}

// What wants more patience than there is, is an error that says until when.
func TestRetryAfterBeyondTheLimit(t *testing.T) {
	date := time.Now().Add(2 * time.Hour).UTC().Format(http.TimeFormat)
	for _, c := range []struct {
		status   int
		value    string
		deadline time.Duration
		kind     Kind
		hint     string
	}{
		{429, "3600", time.Minute, KindRateLimited, "(1h0m0s)"},
		{429, "3600", time.Minute, KindRateLimited, "log in"},
		{503, "3600", time.Minute, KindUnreachable, "(1h0m0s)"},
		{503, date, time.Minute, KindUnreachable, "wait until " + time.Now().Add(2*time.Hour).UTC().Format("2006-01-02 15:")},
		{429, "301", time.Hour, KindRateLimited, "5m1s"},
		{429, "60", 5 * time.Second, KindRateLimited, "1m0s"}, // the caller has no minute
	} {
		s, client := newServer(t), plainClient(t)
		s.sabotage(on(manifestGet, comeBackIn(c.status, c.value)))
		ctx, cancel := context.WithTimeout(context.Background(), c.deadline)
		defer cancel()
		start := time.Now()
		_, err := client.Pull(ctx, s.ref(":1"))
		wantError(t, err, c.kind, c.hint)
		if n := s.count("/manifests/"); n != 1 || time.Since(start) > 3*time.Second {
			t.Errorf("%s: %d requests, %v", c.value, n, time.Since(start))
		}
	}
}

// A registry that says when to come back is asked more often than one that just fails,
// and not for ever.
func TestTriesOfARateLimit(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	mustPush(t, c, s.ref(":1"), big())
	var n atomic.Int64
	s.sabotage(on(func(r *http.Request) bool { return blob(r) && n.Add(1) <= 8 }, comeBackIn(429, "0")))
	if _, err := c.Pull(context.Background(), s.ref(":1")); err != nil {
		t.Error(err)
	}
	s.sabotage(on(manifestGet, comeBackIn(429, "0")))
	_, err := c.Pull(context.Background(), s.ref(":1"))
	wantError(t, err, KindRateLimited, "wait")
	if got := s.count("/manifests/"); got != politeTries {
		t.Errorf("%d requests, want %d", got, politeTries)
	}
}

// The token server's limit counts like the registry's.
func TestRetryAfterOfTheTokenServer(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	mustPush(t, c, s.ref(":1"), hello())
	var asked atomic.Int64
	s.sabotage(func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.URL.Path == "/token" && asked.Add(1) == 1:
			comeBackIn(429, "1")(w, r)
		case r.URL.Path == "/token":
			_, _ = io.WriteString(w, `{"token":"t"}`)
		case r.Header.Get("Authorization") != "Bearer t":
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="%s/token",service="x"`, s.URL))
			w.WriteHeader(http.StatusUnauthorized)
		default:
			return false
		}
		return true
	})
	start := time.Now()
	var log bytes.Buffer
	got, err := newClient(t, Options{PlainHTTP: true, Log: &log}).Pull(context.Background(), s.ref(":1"))
	if err != nil {
		t.Fatal(err)
	}
	wantBundle(t, got, hello())
	if asked.Load() != 2 || time.Since(start) < time.Second || !strings.Contains(log.String(), "asks to wait") {
		t.Errorf("asked %d times in %v: %s", asked.Load(), time.Since(start), log.String())
	}
}
