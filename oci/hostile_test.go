package oci

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aircoding/air/internal/canon"
)

// drip sends a byte at a time, so that something moves always.
func drip(pause time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte("x"))
			_ = http.NewResponseController(w).Flush()
			time.Sleep(pause)
		}
	}
}

// An answer that goes on for ever holds nobody, whatever leads to it.
func TestAnswersWithoutEnd(t *testing.T) {
	elsewhere := func(answer http.HandlerFunc) sabotage {
		return func(w http.ResponseWriter, r *http.Request) bool {
			switch {
			case isPing(r):
				http.Redirect(w, r, "/x", http.StatusFound)
			case r.URL.Path == "/x":
				answer(w, r)
			default:
				return false
			}
			return true
		}
	}
	for name, c := range map[string]struct {
		fault sabotage
		kind  Kind // empty: the pull succeeds
	}{
		"endless ping behind a redirect":  {elsewhere(send(1<<40, false)), ""},
		"dripping ping behind a redirect": {elsewhere(drip(time.Millisecond)), ""},
		"dripping manifest":               {on(manifestGet, drip(time.Millisecond)), KindUnreachable},
		"dripping error":                  {on(manifestGet, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(404); drip(time.Millisecond)(w, r) }), KindUnreachable},
		"dripping blob":                   {on(blob, drip(time.Millisecond)), KindUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			s, client := newServer(t), newClient(t, Options{PlainHTTP: true, Idle: 200 * time.Millisecond})
			mustPush(t, client, s.ref(":1"), big())
			s.sabotage(c.fault)
			start := time.Now()
			_, err := client.Pull(context.Background(), s.ref(":1"))
			if c.kind != "" {
				wantError(t, err, c.kind, "hangs")
			} else if err != nil {
				t.Error(err)
			}
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// All requests of one operation have one budget for waiting.
func TestWaitsOfOneOperationAreBounded(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	ref, err := ParseReference(s.ref(":1"))
	if err != nil {
		t.Fatal(err)
	}
	session, err := c.session(ref)
	if err != nil {
		t.Fatal(err)
	}
	s.sabotage(on(everything, comeBackIn(429, "0")))
	session.waited.Store(int64(maxWaits))
	wantError(t, session.authenticate(context.Background(), nil), KindRateLimited, "")
	if n := s.count(""); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// --plain-http is about the registry: no other http address is asked.
func TestPlainHTTPGoesNowhereElse(t *testing.T) {
	s, other, c := newServer(t), newServer(t), plainClient(t)
	s.sabotage(on(manifestGet, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/latest/meta-data?key=sesame", http.StatusTemporaryRedirect)
	}))
	_, err := c.Pull(context.Background(), s.ref(":1"))
	wantError(t, err, KindUnreachable, "alone")
	if other.count("") != 0 || strings.Contains(err.Error(), "sesame") {
		t.Errorf("%q were asked: %v", other.requests, err)
	}
}

// Whatever a registry answers with, the password is not in the error.
func TestLoginNeverRepeatsThePassword(t *testing.T) {
	const password = "hunter2+/=x"
	for _, status := range []int{400, 401, 403, 404, 418, 429, 500} {
		s := newServer(t)
		noDockerConfig(t)
		s.sabotage(func(w http.ResponseWriter, r *http.Request) bool {
			user, password, ok := r.BasicAuth()
			if !ok {
				return needBasic(w, r)
			}
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(map[string]any{"errors": []any{map[string]any{
				"code": "X", "message": strings.Repeat("-", 180) + user + ":" + password + " " + r.Header.Get("Authorization"),
			}}})
			return true
		})
		var log bytes.Buffer
		err := Login(context.Background(), Options{PlainHTTP: true, Backoff: time.Millisecond, Log: &log}, s.host(), "bob", password)
		if err == nil || strings.Contains(err.Error()+log.String(), "hunter") || strings.Contains(err.Error()+log.String(), "Ym9iOmh1") {
			t.Errorf("%d: %v\n%s", status, err, log.String())
		}
	}
}

// Of what a token server answers without a token nothing is repeated.
func TestTokenServersAnswerIsNotRepeated(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	s.sabotage(func(w http.ResponseWriter, r *http.Request) bool {
		if isPing(r) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="`+s.URL+`/token",service="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		fmt.Fprint(w, `{"refresh_token":"sesame","x":"`+strings.Repeat("A", 50_000)+`"}`)
		return true
	})
	_, err := c.Pull(context.Background(), s.ref(":1"))
	wantError(t, err, KindUnreachable, "")
	if strings.Contains(err.Error(), "sesame") || !strings.Contains(err.Error(), "gave no token") {
		t.Error(err)
	}
}

func TestSecretsOfAForm(t *testing.T) {
	req, err := http.NewRequest(http.MethodPost, "https://registry.example/token", strings.NewReader("refresh_token=ses%2Fame&password=pw"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer abc.def")
	var s secrets
	s.note(req)
	if got := s.hide("a ses/ame, a ses%2Fame, a pw, an abc.def"); got != "a ***, a ***, a ***, an ***" {
		t.Error(got)
	}
}

// A manifest that lies about a size costs its own pull, and nobody's blob or download.
func TestALieAboutASizeRemovesNothing(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	mustPush(t, c, s.ref(":0"), hello()) // all that the lies are not about is there
	mustPush(t, c, s.ref(":1"), big())
	whole, err := c.Pull(context.Background(), s.ref(":1"))
	if err != nil {
		t.Fatal(err)
	}
	begun := bytesLayer("begun", []byte("some bytes"))
	partial := leavePartial(t, c, begun.Digest, begun.Size, []byte("some"))
	for _, victim := range []Layer{big().Layers[0], begun} {
		for _, size := range []int64{1, victim.Size + 1} {
			liar := hello()
			victim.Title, victim.Size = "assets/victim", size
			liar.Layers = append(liar.Layers, victim)
			raw, _, err := liar.Manifest()
			if err != nil {
				t.Fatal(err)
			}
			s.sabotage(on(manifestGet, code(200, string(raw))))
			if _, err = c.Pull(context.Background(), s.ref(":2")); err == nil {
				t.Error("pulled")
			}
			if victim.Digest != begun.Digest {
				wantError(t, err, KindIntegrity, "do not use")
			}
			content, err := os.ReadFile(partial)
			if err != nil || string(content) != "some" {
				t.Errorf("the download of another has %q, %v", content, err)
			}
		}
	}
	s.sabotage(on(blob, code(404, "")))
	wantBundle(t, whole, big())
	if _, err := c.Pull(context.Background(), s.ref(":1")); err != nil {
		t.Error(err)
	}
}

// Documents without meaning do not hide a signature, wherever their digests are sorted.
func TestCrowdOfReferrers(t *testing.T) {
	eachRegistry(t, func(t *testing.T, s *server) {
		var log bytes.Buffer
		c := newClient(t, Options{PlainHTTP: true, Log: &log})
		mustPush(t, c, s.ref(":0.1.0"), hello())
		own := Signature([]byte(`{"good":1}`))
		raw, digest, err := own.manifest(goldenDigest, int64(len(goldenManifest)))
		if err != nil {
			t.Fatal(err)
		}
		mustAttach(t, c, s, own)
		var junk []string
		for i := 0; len(junk) < 65; i++ {
			other := []byte(strings.Replace(string(raw), `"dsse-envelope"`, fmt.Sprintf(`"junk %d"`, i), 1))
			if d := canon.Digest(other); d < digest {
				junk = append(junk, described(d, SignatureType))
			}
		}
		s.listing(append(junk, described(digest, SignatureType)))
		if got := contents(mustReferrers(t, c, s)); !slices.Equal(got, []string{`{"good":1}`}) {
			t.Errorf("got %q", got)
		}
	})
}

// Whoever attaches learns that nobody will read it.
func TestAttachAmongTooMany(t *testing.T) {
	s := newServer(t)
	var log bytes.Buffer
	c := newClient(t, Options{PlainHTTP: true, Log: &log})
	mustPush(t, c, s.ref(":0.1.0"), hello())
	var many []string
	for i := range maxRead {
		many = append(many, described(fmt.Sprintf("sha256:%064x", i), SignatureType))
	}
	s.listing(many)
	own := mustAttach(t, c, s, Signature([]byte(`{"good":1}`)))
	if !strings.Contains(log.String(), own) || !strings.Contains(log.String(), "nobody will find it") {
		t.Errorf("said %q", log.String())
	}
}

func TestCAFileThatIsAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := newClient(t, Options{CAFile: pipe}).Pull(context.Background(), "registry.example/x:1")
	wantError(t, err, KindInvalid, "--ca-file")
}

// Our own secrets are not a helper's business.
func TestHelpersEnvironment(t *testing.T) {
	s := newServer(t)
	dockerConfigFile(t, `{"credsStore":"env"}`)
	out := filepath.Join(t.TempDir(), "env")
	helper(t, "env", "env > "+out+"; exit 1")
	t.Setenv("AIR_KEY_PASSPHRASE", "sesame")
	t.Setenv("AIR_REGISTRY_TOKEN", "sesame")
	mustPush(t, NewClient(Options{PlainHTTP: true}), s.ref(":1"), hello())
	got, err := os.ReadFile(out)
	if err != nil || bytes.Contains(got, []byte("sesame")) || !bytes.Contains(got, []byte("PATH=")) {
		t.Errorf("%v: %s", err, got)
	}
}

func TestLocksAreBounded(t *testing.T) {
	c := cache{t.TempDir()}
	const blobs = 6000 // a file for each was there for ever
	seen := map[string]bool{}
	for i := range blobs {
		seen[c.lockPath(canon.Digest(fmt.Append(nil, i))[len("sha256:"):])] = true
	}
	if len(seen) > 4096 {
		t.Errorf("%d locks", len(seen))
	}
}

// What a person stops is said in plain words, and what continues, once.
func TestWordsOfAStoppedPull(t *testing.T) {
	s := newServer(t)
	var log bytes.Buffer
	c := newClient(t, Options{PlainHTTP: true, Log: &log})
	a := large()
	mustPush(t, c, s.ref(":1"), a)
	module := a.Layers[0]
	content, err := readWhole(module)
	if err != nil {
		t.Fatal(err)
	}
	for words, stop := range map[string]func() (context.Context, context.CancelFunc){
		"it was cancelled": func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(100*time.Millisecond, cancel)
			return ctx, cancel
		},
		"there was no time left": func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(context.Background(), 100*time.Millisecond)
		},
	} {
		s.sabotage(on(func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/blobs/") }, hang))
		ctx, cancel := stop()
		defer cancel()
		_, err := c.Pull(ctx, s.ref(":1"))
		wantError(t, err, map[bool]Kind{true: KindCancelled, false: KindTimeout}[words == "it was cancelled"], "the next pull goes on where it stopped")
		if !strings.HasSuffix(err.Error(), ": "+words) {
			t.Error(err)
		}
	}
	leavePartial(t, c, module.Digest, module.Size, content[:len(content)*6/10])
	leavePartial(t, c, a.Layers[1].Digest, a.Layers[1].Size, make([]byte, 1000)) // not worth a word
	s.sabotage(nil)
	if _, err := c.Pull(context.Background(), s.ref(":1")); err != nil {
		t.Fatal(err)
	}
	if got := log.String(); got != "continuing module.wasm at 59 %\n" && got != "continuing module.wasm at 60 %\n" {
		t.Errorf("said %q", got)
	}
}

// What a pull uses is not old, however long ago it was downloaded.
func TestPruneLeavesWhatIsUsed(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	pushed := mustPush(t, c, s.ref(":1"), hello())
	got, err := c.Pull(context.Background(), pushed.Reference)
	if err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-48 * time.Hour)
	for _, l := range got.Layers {
		if err := os.Chtimes(l.Path, past, past); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Pull(context.Background(), pushed.Reference); err != nil {
		t.Fatal(err)
	}
	if freed, err := PruneDownloads(context.Background(), c.options.CacheDir, 24*time.Hour); freed != 0 || err != nil {
		t.Errorf("freed %d, %v", freed, err)
	}
}

// --force moves a tag also from what cannot be read.
func TestForceMovesATagOfNonsense(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	for _, answer := range []http.HandlerFunc{
		send(MaxManifest+1, true),
		func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Docker-Content-Digest", goldenDigest)
			_, _ = w.Write([]byte("{}"))
		},
	} {
		s.sabotage(on(manifestGet, answer))
		if _, err := c.Push(context.Background(), s.ref(":1"), hello(), PushOptions{}); err == nil {
			t.Error("moved without force")
		}
		if _, err := c.Push(context.Background(), s.ref(":1"), hello(), PushOptions{Force: true}); err != nil {
			t.Error(err)
		}
	}
}
