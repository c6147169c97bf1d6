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
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
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

// authOf returns what would be sent to a repository of host.
func authOf(t *testing.T, host, repository string, log *bytes.Buffer) authn.AuthConfig {
	t.Helper()
	repo, err := Reference{Registry: host, Repository: repository}.repository(false)
	if err != nil {
		t.Fatal(err)
	}
	c := NewClient(Options{Log: log, Idle: time.Second})
	auth, err := c.credentials(t.Context(), repo).Authorization()
	if err != nil {
		t.Fatal(err)
	}
	return *auth
}

// The keys that Docker, older Dockers and podman write. An entry of a narrower name
// counts more, one of another host never.
func TestCredentialKeys(t *testing.T) {
	noDockerConfig(t)
	entry := func(user string) string {
		return `{"auth":"` + base64.StdEncoding.EncodeToString([]byte(user+":p")) + `"}`
	}
	for _, c := range []struct{ auths, user string }{
		{`"r.example":` + entry("a"), "a"},
		{`"https://r.example":` + entry("a"), "a"},
		{`"https://r.example/v1/":` + entry("a"), "a"},
		{`"http://r.example/v2/":` + entry("a"), "a"},
		{`"r.example/v2/":` + entry("a"), "a"},
		{`"https://r.example/v1/":` + entry("old") + `,"r.example":` + entry("a"), "a"},
		{`"r.example":` + entry("host") + `,"r.example/me":` + entry("a"), "a"},
		{`"r.example/me/hello":` + entry("a") + `,"r.example/me":` + entry("b"), "a"},
		{`"r.example/you":` + entry("a"), ""},
		{`"example":` + entry("a") + `,"evil-r.example":` + entry("b") + `,"r.example.evil":` + entry("c") + `,"r.example:444":` + entry("d"), ""},
		{`"https://evil/r.example":` + entry("a"), ""},
		{`"r.example":{"username":"a","password":"p"}`, "a"},
		{`"broken.example":{"auth":"%%%"},"r.example":` + entry("a"), "a"},
		{`"r.example":{}`, ""},
	} {
		dockerConfigFile(t, `{"auths":{`+c.auths+`}}`)
		if got := authOf(t, "r.example", "me/hello", nil); got.Username != c.user {
			t.Errorf("%s: got user %q, want %q", c.auths, got.Username, c.user)
		}
	}
}

func TestCredentialTokens(t *testing.T) {
	noDockerConfig(t)
	dockerConfigFile(t, `{"auths":{"r.example":{"identitytoken":"t1"},"s.example":{"registrytoken":"t2"}},"credHelpers":{"h.example":"token"}}`)
	helper(t, "token", `echo '{"Username":"<token>","Secret":"t3"}'`)
	if got := authOf(t, "r.example", "x", nil); got.IdentityToken != "t1" {
		t.Errorf("got %+v", got)
	}
	if got := authOf(t, "s.example", "x", nil); got.RegistryToken != "t2" {
		t.Errorf("got %+v", got)
	}
	if got := authOf(t, "h.example", "x", nil); got.IdentityToken != "t3" || got.Password != "" {
		t.Errorf("got %+v", got)
	}
}

// Where credentials lie: what the environment names comes first, and a file without an
// entry is no reason to stop.
func TestCredentialFiles(t *testing.T) {
	noDockerConfig(t)
	put := func(path, user string) {
		t.Helper()
		auth := base64.StdEncoding.EncodeToString([]byte(user + ":p"))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(`{"auths":{"r.example":{"auth":"`+auth+`"}}}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := func(user string) {
		t.Helper()
		if got := authOf(t, "r.example", "x", nil); got.Username != user {
			t.Errorf("got user %q, want %q", got.Username, user)
		}
	}
	home := os.Getenv("HOME")
	t.Setenv("DOCKER_CONFIG", "")
	want("")
	put(filepath.Join(home, ".config", "containers", "auth.json"), "config")
	want("config")
	put(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "containers", "auth.json"), "podman")
	want("podman")
	put(filepath.Join(home, ".docker", "config.json"), "docker")
	want("docker")
	named := filepath.Join(t.TempDir(), "auth.json")
	put(named, "named")
	t.Setenv("REGISTRY_AUTH_FILE", named)
	want("named")
	dir := t.TempDir()
	t.Setenv("DOCKER_CONFIG", dir)
	want("named")
	put(filepath.Join(dir, "config.json"), "own")
	want("own")
	t.Setenv("DOCKER_AUTH_CONFIG", `{"auths":{"r.example":{"auth":"dmFyOnA="}}}`)
	want("var")
}

// A helper that knows one host and breaks for another; one that hangs with a child that
// holds its pipe; one that never stops talking; a name that is a path.
func TestOddHelpers(t *testing.T) {
	noDockerConfig(t)
	helper(t, "one", `read host; if [ "$host" = good.example ]; then echo '{"Username":"ada","Secret":"hush"}'; else echo hush; exit 1; fi`)
	helper(t, "hangs", "echo hush; sleep 60 & sleep 60")
	helper(t, "talks", "yes hush")
	helper(t, "empty", "true")
	helper(t, "unknown", "echo credentials not found in native keychain; exit 1")
	outside := filepath.Join(t.TempDir(), "ran")
	if err := os.WriteFile(filepath.Join(t.TempDir(), "docker-credential-x"), []byte("#!/bin/sh\ntouch "+outside), 0o700); err != nil {
		t.Fatal(err)
	}
	dockerConfigFile(t, `{"credsStore":"one","credHelpers":{"hang.example":"hangs","talk.example":"talks","empty.example":"empty",
		"unknown.example":"unknown","path.example":"../../../../bin/true","opt.example":"-x","both.example":"one"},
		"auths":{"both.example":{"auth":"YmVzaWRlOnA="}}}`)
	for _, c := range []struct{ host, user, warning string }{
		{"good.example", "ada", ""},
		{"bad.example", "", "docker-credential-one failed: exit status 1"},
		{"hang.example", "", "docker-credential-hangs did not answer for 1s"},
		{"talk.example", "", "docker-credential-talks answered more than"},
		{"empty.example", "", "docker-credential-empty gave an answer that holds no credentials"},
		{"unknown.example", "", ""},
		{"path.example", "", "is no name of a credential helper"},
		{"opt.example", "", "is no name of a credential helper"},
		{"both.example", "beside", ""},
	} {
		var log bytes.Buffer
		start := time.Now()
		got := authOf(t, c.host, "x", &log)
		if got.Username != c.user || !strings.Contains(log.String(), c.warning) || c.warning == "" && log.Len() > 0 {
			t.Errorf("%s: got user %q with %q, want %q with %q", c.host, got.Username, log.String(), c.user, c.warning)
		}
		if strings.Contains(log.String(), "hush") {
			t.Errorf("%s: %q shows what the helper printed", c.host, log.String())
		}
		if time.Since(start) > 8*time.Second {
			t.Errorf("%s: it took %v", c.host, time.Since(start))
		}
	}
}
