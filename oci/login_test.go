package oci

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// configText returns the current docker configuration, "" when there is none.
func configText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(os.Getenv("DOCKER_CONFIG"), "config.json"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

// keeping is a helper that really keeps what it is given, in a file of its own.
func keeping(t *testing.T, name string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "secret")
	helper(t, name, `F=`+file+`
case $1 in
store) cat > $F ;;
get) if [ -f $F ]; then cat $F; else echo 'credentials not found in native keychain'; exit 1; fi ;;
erase) rm $F ;;
esac`)
	return file
}

func TestLogin(t *testing.T) {
	for name, need := range map[string]func(*server) func(http.ResponseWriter, *http.Request) bool{
		"basic":  func(*server) func(http.ResponseWriter, *http.Request) bool { return needBasic },
		"bearer": needBearer,
	} {
		t.Run(name, func(t *testing.T) {
			s, c := newServer(t), plainClient(t)
			mustPush(t, c, s.ref(":1"), hello())
			s.sabotage(need(s))
			var log bytes.Buffer
			o := Options{PlainHTTP: true, Log: &log}
			err := Login(t.Context(), o, s.host(), "ada", "s3cret-w0rd")
			wantError(t, err, KindUnauthorized, "nothing was stored")
			if configText(t) != "" {
				t.Errorf("stored %s before the registry said yes", configText(t))
			}
			if err := Login(t.Context(), o, s.host(), "ada", "lovelace"); err != nil {
				t.Fatal(err)
			}
			// base64 of ada:lovelace, by coreutils.
			want := fmt.Sprintf("{\n\t\"auths\": {\n\t\t%q: {\n\t\t\t\"auth\": \"YWRhOmxvdmVsYWNl\"\n\t\t}\n\t}\n}\n", s.host())
			if configText(t) != want {
				t.Errorf("got %s, want %s", configText(t), want)
			}
			if info, err := os.Stat(filepath.Join(os.Getenv("DOCKER_CONFIG"), "config.json")); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v: others can read it", info, err)
			}
			if !strings.Contains(log.String(), "the password lies in") || strings.Contains(log.String()+err.Error(), "s3cret") || strings.Contains(log.String(), "lovelace") {
				t.Errorf("the log says %q", log.String())
			}
			if _, err := c.Pull(context.Background(), s.ref(":1")); err != nil {
				t.Errorf("the login does not count: %v", err)
			}
			if err := Logout(t.Context(), o, s.host()); err != nil {
				t.Error(err)
			}
			if _, err = c.Pull(context.Background(), s.ref(":1")); err == nil {
				t.Error("the logout does not count")
			}
			wantError(t, Logout(t.Context(), o, s.host()), KindNotFound, "")
		})
	}
}

func TestLoginToAnOpenRegistry(t *testing.T) {
	s := newServer(t)
	plainClient(t)
	var log bytes.Buffer
	if err := Login(t.Context(), Options{PlainHTTP: true, Log: &log}, s.host(), "ada", "x"); err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), "nobody checked them") {
		t.Errorf("no warning in %q", log.String())
	}
}

func TestLoginRefusals(t *testing.T) {
	s := newServer(t)
	plainClient(t)
	for name, c := range map[string]struct {
		host, user, password string
		kind                 Kind
	}{
		"no host":          {"", "ada", "x", KindInvalid},
		"a path":           {s.host() + "/me", "ada", "x", KindInvalid},
		"http":             {"http://" + s.host(), "ada", "x", KindInvalid},
		"user in the host": {"ada@" + s.host(), "ada", "x", KindInvalid},
		"no user":          {s.host(), "", "x", KindInvalid},
		"no password":      {s.host(), "ada", "", KindInvalid},
		"colon":            {s.host(), "a:b", "x", KindInvalid},
		"newline":          {s.host(), "ada", "x\n", KindInvalid},
		"the helper's own": {s.host(), "<token>", "x", KindInvalid},
		"nobody there":     {"127.0.0.1:1", "ada", "x", KindUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			wantError(t, Login(t.Context(), Options{PlainHTTP: true}, c.host, c.user, c.password), c.kind, "")
		})
	}
	s.sabotage(func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusNotFound)
		return true
	})
	wantError(t, Login(t.Context(), Options{PlainHTTP: true}, s.host(), "ada", "x"), KindNotRegistry, "")
	if configText(t) != "" {
		t.Errorf("something was stored: %s", configText(t))
	}
}

// Whatever else is in the file belongs to others: it keeps its value and its place.
func TestLoginKeepsTheFile(t *testing.T) {
	s := newServer(t)
	plainClient(t)
	dockerConfigFile(t, `{"zeta":1.0,"auths":{"b.example":{"auth":"Yjpi","x":9007199254740993},"https://`+s.host()+`/v1/":{"auth":"b2xkOm9sZA=="}},"alpha":{"k":[1, 2]}}`)
	file := filepath.Join(os.Getenv("DOCKER_CONFIG"), "config.json")
	target := filepath.Join(t.TempDir(), "elsewhere.json")
	if err := os.Rename(file, target); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, file); err != nil {
		t.Fatal(err)
	}
	if err := Login(t.Context(), Options{PlainHTTP: true}, s.host(), "ada", "lovelace"); err != nil {
		t.Fatal(err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(configText(t))); err != nil {
		t.Fatal(err)
	}
	want := `{"zeta":1.0,"auths":{"b.example":{"auth":"Yjpi","x":9007199254740993},"` + s.host() + `":{"auth":"YWRhOmxvdmVsYWNl"}},"alpha":{"k":[1,2]}}`
	if compact.String() != want {
		t.Errorf("got %s, want %s", compact.String(), want)
	}
	if to, err := os.Readlink(file); err != nil || to != target {
		t.Errorf("the link became a file: %v", err)
	}
}

// A file that cannot be read is not replaced by one that holds the login alone.
func TestLoginLeavesADamagedFile(t *testing.T) {
	s := newServer(t)
	plainClient(t)
	const damaged = `{"auths":{"a.example":{"auth":"c2VjcmV0`
	dockerConfigFile(t, damaged)
	err := Login(t.Context(), Options{PlainHTTP: true}, s.host(), "ada", "lovelace")
	wantError(t, err, KindLocal, "")
	if configText(t) != damaged || strings.Contains(err.Error(), "c2Vj") {
		t.Errorf("got %s, %v", configText(t), err)
	}
}

func TestLoginWithAHelper(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	mustPush(t, c, s.ref(":1"), hello())
	s.sabotage(needBasic)
	secret := keeping(t, "safe")
	dockerConfigFile(t, `{"credsStore":"safe"}`)
	o := Options{PlainHTTP: true}
	if err := Login(t.Context(), o, s.host(), "ada", "lovelace"); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{"ServerURL":%q,"Username":"ada","Secret":"lovelace"}`, s.host())
	if text, err := os.ReadFile(secret); err != nil || string(text) != want {
		t.Errorf("the helper got %s, %v, want %s", text, err, want)
	}
	if text := configText(t); strings.Contains(text, `"auth"`) || !strings.Contains(text, s.host()) {
		t.Errorf("the file holds %s", text)
	}
	if _, err := c.Pull(context.Background(), s.ref(":1")); err != nil {
		t.Error(err)
	}
	if err := Logout(t.Context(), o, s.host()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(secret); !os.IsNotExist(err) || strings.Contains(configText(t), s.host()) {
		t.Errorf("something is left: %v, %s", err, configText(t))
	}
}

// A helper that does not work loses no login silently, and what it prints is not shown.
func TestLoginWithABrokenHelper(t *testing.T) {
	s := newServer(t)
	plainClient(t)
	for name, script := range map[string]string{
		"fails":   "cat; exit 1",
		"hangs":   "sleep 60 & sleep 60",
		"chatter": "cat; yes lovelace",
	} {
		t.Run(name, func(t *testing.T) {
			helper(t, "bad", script)
			dockerConfigFile(t, `{"credsStore":"bad"}`)
			start := time.Now()
			err := Login(t.Context(), Options{PlainHTTP: true, Idle: time.Second}, s.host(), "ada", "lovelace")
			wantError(t, err, KindLocal, "")
			if !strings.Contains(err.Error(), "docker-credential-bad") || strings.Contains(err.Error(), "lovelace") {
				t.Errorf("got %v", err)
			}
			if time.Since(start) > 10*time.Second {
				t.Error("the helper was waited for")
			}
			if strings.Contains(configText(t), s.host()) {
				t.Errorf("stored all the same: %s", configText(t))
			}
		})
	}
}

// Twenty logins at one time lose none.
func TestLoginsAtOneTime(t *testing.T) {
	plainClient(t)
	done := make(chan error)
	for i := range 20 {
		go func() {
			c := NewClient(Options{})
			done <- c.keep(context.Background(), fmt.Sprintf("r%d.example", i), "ada", "x")
		}()
	}
	for range 20 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if n := strings.Count(configText(t), `"auth"`); n != 20 {
		t.Errorf("%d logins are left of 20", n)
	}
}

// FuzzMembers: whatever is an object comes back as the same object, and nothing panics.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{`{}`, `{"auths":{"a":{"auth":"eDp5"}},"n":1e400}`, `{"a":1,"a":2}`, `[]`, `null`, "{\"\\u0000\":\"\xff\"}", `{"a":{"b":[{}]}} x`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		parsed, err := parseAuthFile("fuzz", text)
		_, _, _ = parsed.entry("r.example", "me/hello")
		if err != nil || parsed.content == nil {
			return
		}
		var again authFile
		if again, err = parseAuthFile("fuzz", parsed.content.raw()); err != nil || len(again.content) != len(parsed.content) {
			t.Fatalf("%q became %q: %v", text, parsed.content.raw(), err)
		}
		for i, m := range again.content {
			if m.key != parsed.content[i].key {
				t.Errorf("key %q became %q", parsed.content[i].key, m.key)
			}
		}
	})
}

// FuzzPlainRange: the range that the library gets starts inside the blob.
func FuzzPlainRange(f *testing.F) {
	for _, seed := range []string{"bytes=0-1", "bytes=-5", "bytes=5-", "bytes=-9223372036854775808", "bytes= 1 - 2", "bytes=--1", "x"} {
		f.Add(seed, int64(10))
	}
	f.Fuzz(func(t *testing.T, header string, size int64) {
		plain, ok := plainRange(header, size)
		if !ok || plain == "" || size < 0 {
			return
		}
		from, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(plain), "bytes="), "-")
		if n, err := strconv.ParseInt(strings.TrimSpace(from), 10, 64); err != nil || n < 0 || n >= size {
			t.Errorf("%q of %d became %q", header, size, plain)
		}
	})
}
