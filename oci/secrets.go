package oci

import (
	"cmp"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// secrets are what was sent to a registry as credentials. It may answer with them, and
// nothing repeats them.
type secrets struct {
	mu    sync.Mutex
	known []string // longer ones first
}

func (s *secrets) note(req *http.Request) {
	_, sent, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	_, password, _ := req.BasicAuth()
	form := formOf(req)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range []string{sent, password, form.Get("refresh_token"), form.Get("password")} {
		for _, spelling := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
			if spelling != "" && !slices.Contains(s.known, spelling) {
				s.known = append(s.known, spelling)
			}
		}
	}
	slices.SortFunc(s.known, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
}

// formOf returns what a token server is sent instead of a header.
func formOf(req *http.Request) url.Values {
	if req.GetBody == nil || req.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
		return nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(body, maxHelperAnswer)) // strings cannot fail
	form, _ := url.ParseQuery(string(text))                      // the library made it
	return form
}

// hide replaces the secrets in a text.
func (s *secrets) hide(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range s.known {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return text
}
