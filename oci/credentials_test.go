package oci

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// dockerConfigFile makes a docker configuration of this content the current one.
func dockerConfigFile(t *testing.T, content string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("DOCKER_CONFIG", dir)
}

func login(t *testing.T, host, user, password string) {
	t.Helper()
	auth := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	dockerConfigFile(t, fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, host, auth))
}

// helper puts a credential helper of this text on PATH.
func helper(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "docker-credential-"+name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// needBasic lets only ada in.
func needBasic(w http.ResponseWriter, r *http.Request) bool {
	if user, password, _ := r.BasicAuth(); user == "ada" && password == "lovelace" {
		return false
	}
	w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
	w.WriteHeader(http.StatusUnauthorized)
	return true
}

// needBearer hands tokens to ada, and lets only tokens in.
func needBearer(s *server) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/token" {
			if !needBasic(w, r) {
				_, _ = w.Write([]byte(`{"token":"t0ken"}`))
			}
			return true
		}
		if r.Header.Get("Authorization") == "Bearer t0ken" {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Bearer realm="`+s.URL+`/token",service="x"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
}

func TestCredentials(t *testing.T) {
	for name, need := range map[string]func(*server) func(http.ResponseWriter, *http.Request) bool{
		"basic":  func(*server) func(http.ResponseWriter, *http.Request) bool { return needBasic },
		"bearer": needBearer,
	} {
		t.Run(name, func(t *testing.T) {
			s, c := newServer(t), plainClient(t)
			mustPush(t, c, s.ref(":1"), hello())
			s.sabotage(need(s))
			_, err := c.Pull(context.Background(), s.ref(":1"))
			wantError(t, err, KindUnauthorized, "log in")
			login(t, s.host(), "ada", "wrong")
			_, err = c.Pull(context.Background(), s.ref(":1"))
			wantError(t, err, KindUnauthorized, "log in")
			login(t, s.host(), "ada", "lovelace")
			if _, err := c.Pull(context.Background(), s.ref(":1")); err != nil {
				t.Errorf("pulling: %v", err)
			}
			mustPush(t, c, s.ref(":2"), hello())
		})
	}
}

func TestCredentialHelper(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	mustPush(t, c, s.ref(":1"), hello())
	s.sabotage(needBasic)
	helper(t, "good", `echo '{"ServerURL":"x","Username":"ada","Secret":"lovelace"}'`)
	dockerConfigFile(t, fmt.Sprintf(`{"credHelpers":{%q:"good"}}`, s.host()))
	if _, err := c.Pull(context.Background(), s.ref(":1")); err != nil {
		t.Error(err)
	}
}

// A broken helper is named, and a public pull works all the same.
func TestBrokenHelperWarns(t *testing.T) {
	for name, c := range map[string]struct{ config, want string }{
		"fails":       {`{"credHelpers":{%q:"bad"}}`, "docker-credential-bad"},
		"missing":     {`{"credHelpers":{%q:"missing"}}`, "docker-credential-missing"},
		"store":       {`{"auths":{%q:{}},"credsStore":"bad"}`, "docker-credential-bad"},
		"no JSON":     {`{"auths":%q`, "config.json"},
		"says rubish": {`{"credHelpers":{%q:"rubbish"}}`, "docker-credential-rubbish"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			var log bytes.Buffer
			client := newClient(t, Options{PlainHTTP: true, Log: &log})
			mustPush(t, client, s.ref(":1"), hello())
			helper(t, "bad", `printf 'no\342\200\256\033[2J'; exit 3`)
			helper(t, "rubbish", "echo '<html>'")
			dockerConfigFile(t, fmt.Sprintf(c.config, s.host()))
			if _, err := client.Pull(context.Background(), s.ref(":1")); err != nil {
				t.Errorf("anonymous pull: %v", err)
			}
			if !strings.Contains(log.String(), c.want) || strings.Count(log.String(), "\n") != 1 {
				t.Errorf("warning %q does not name %s in one line", log.String(), c.want)
			}
			if strings.ContainsAny(log.String(), "\u202e\x1b") {
				t.Errorf("%q steers the terminal", log.String())
			}
			s.sabotage(needBasic)
			_, err := client.Pull(context.Background(), s.ref(":1"))
			wantError(t, err, KindUnauthorized, "log in")
		})
	}
}
