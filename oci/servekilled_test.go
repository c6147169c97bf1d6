package oci

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"cuelabs.dev/go/oci/ociregistry"
)

const servedVar = "AIR_TEST_SERVE"

// TestServeChild is the registry that TestKilledRegistry kills.
func TestServeChild(t *testing.T) {
	if dir := os.Getenv(servedVar); dir != "" {
		t.Log(Serve(context.Background(), ServeOptions{Dir: dir, Ready: func(addr string) { fmt.Println("listens on", addr) }}))
	}
}

// serveChild runs a registry that can be killed, and returns its address.
func serveChild(t *testing.T, dir string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestServeChild$")
	cmd.Env = append(os.Environ(), servedVar+"="+dir)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if addr, ok := strings.CutPrefix(lines.Text(), "listens on "); ok {
			return cmd, addr
		}
	}
	_ = cmd.Wait()
	t.Fatal("the registry did not start")
	return nil, ""
}

// A registry that is killed while clients push, attach and delete has, after each start,
// whole things only: a tag names a manifest that is there, a manifest the blobs that are
// there, bytes are what their names say, a referrer is listed if and only if it is there.
func TestKilledRegistry(t *testing.T) {
	dir := t.TempDir()
	noDockerConfig(t)
	seen, deadline := 0, time.Now().Add(5*time.Second)
	for round := 0; time.Now().Before(deadline) || round < 3; round++ {
		cmd, addr := serveChild(t, dir)
		ctx, cancel := context.WithCancel(t.Context())
		for client := range 3 {
			go pushForEver(ctx, addr, round*10+client)
		}
		time.Sleep(20*time.Millisecond + rand.N(250*time.Millisecond))
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		cancel()
		s, err := newDirStore(t.Context(), dir, defaultQuota)
		if err != nil {
			t.Fatal(err)
		}
		seen = wantWholeStore(t, s)
	}
	if seen == 0 {
		t.Error("nothing was pushed before the kills")
	}
	cmd, addr := serveChild(t, dir)
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	mustPush(t, plainClient(t), addr+"/me/hello:after", hello())
}

// pushForEver pushes bundles of different content, with a referrer each, and deletes
// every third.
func pushForEver(ctx context.Context, addr string, seed int) {
	c := NewClient(Options{PlainHTTP: true, Idle: time.Second, Backoff: time.Millisecond})
	for i := 0; ctx.Err() == nil; i++ {
		a := hello()
		a.Layers = append(a.Layers, bytesLayer("docs/n.md", fmt.Appendf(nil, "%d %d", seed, i)))
		p, err := c.Push(ctx, fmt.Sprintf("%s/me/hello:v%d", addr, i%5), a, PushOptions{Force: true})
		if err != nil {
			return // killed
		}
		signature := Attachment{ArtifactType: "application/x.sig", MediaType: "application/x.sig", Content: fmt.Appendf(nil, "%d %d", seed, i)}
		if _, err := c.Attach(ctx, addr+"/me/hello:v0", p.Digest, signature); err != nil {
			return
		}
		if i%3 == 0 && deleteManifest(ctx, addr, p.Digest) != nil {
			return
		}
	}
}

func deleteManifest(ctx context.Context, addr, digest string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, "http://"+addr+"/v2/me/hello/manifests/"+digest, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func wantWholeStore(t *testing.T, s *dirStore) (manifestsSeen int) {
	t.Helper()
	ctx := t.Context()
	for repo, err := range s.Repositories(ctx, "") {
		if err != nil {
			t.Fatal(err)
		}
		for tag, err := range s.Tags(ctx, repo, "") {
			if err == nil {
				_, err = s.GetTag(ctx, repo, tag)
			}
			if err != nil {
				t.Errorf("%s:%s: %v", repo, tag, err)
			}
		}
		dir, err := s.repoPath(repo)
		if err != nil {
			t.Fatal(err)
		}
		manifests, err := digestsIn(dir + "/_manifests")
		if err != nil {
			t.Fatal(err)
		}
		for _, digest := range manifests {
			wantWholeManifest(t, s, repo, digest)
		}
		manifestsSeen += len(manifests)
	}
	return manifestsSeen
}

func wantWholeManifest(t *testing.T, s *dirStore, repo string, digest ociregistry.Digest) {
	t.Helper()
	refs, mediaType, err := s.referencesOf(t.Context(), repo, digest)
	if err != nil {
		t.Errorf("%s: %v", digest, err)
		return
	}
	for _, d := range refs.blobs() {
		r, err := s.GetBlob(t.Context(), repo, d.Digest)
		if err != nil {
			t.Errorf("%s: its blob %s: %v", digest, d.Digest, err)
			continue
		}
		text, err := io.ReadAll(r)
		_ = r.Close()
		if err != nil || digestOf(text) != d.Digest {
			t.Errorf("%s holds other bytes, %v", d.Digest, err)
		}
	}
	if subject := refs.subject(mediaType); subject != "" {
		if _, ok, err := s.referrer(repo, subject, digest); !ok || err != nil {
			t.Errorf("%s is not among the referrers of %s: %v", digest, subject, err)
		}
	}
}
