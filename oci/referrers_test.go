package oci

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"cuelabs.dev/go/oci/ociregistry/ocimem"
	"cuelabs.dev/go/oci/ociregistry/ociserver"
	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/aircoding/air/internal/canon"
)

// serverOf is a server whose registry is another one.
func serverOf(t *testing.T, registry http.Handler) *server {
	t.Helper()
	s := &server{registry: registry}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// withoutReferrers is a registry without a referrers API that answers OCI-Subject all the
// same.
func withoutReferrers() http.Handler {
	return ociserver.New(ocimem.New(), &ociserver.Options{DisableReferrersAPI: true})
}

func ggcrRegistry(o ...registry.Option) http.Handler {
	return registry.New(append(o, registry.Logger(log.New(io.Discard, "", 0)))...)
}

// eachRegistry runs f against registries that know referrers, do not, or do so wrongly.
func eachRegistry(t *testing.T, f func(t *testing.T, s *server)) {
	t.Helper()
	for name, handler := range map[string]http.Handler{
		"native":                 ociserver.New(ocimem.New(), nil),
		"unfiltered":             ociserver.New(ocimem.New(), &ociserver.Options{DisableReferrersFiltering: true}),
		"without, and claims it": withoutReferrers(),
		"ggcr without":           ggcrRegistry(),
		"ggcr, wrong types":      ggcrRegistry(registry.WithReferrersSupport(true)),
	} {
		t.Run(name, func(t *testing.T) { f(t, serverOf(t, handler)) })
	}
}

// contents are the contents of referrers in an order of their own.
func contents(list []Referrer) []string {
	var out []string
	for _, r := range list {
		out = append(out, string(r.Content))
	}
	slices.Sort(out)
	return out
}

func mustAttach(t *testing.T, c *Client, s *server, a Attachment) string {
	t.Helper()
	digest, err := c.Attach(context.Background(), s.ref(":0.1.0"), goldenDigest, a)
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

// mustReferrers returns the signatures of hello.
func mustReferrers(t *testing.T, c *Client, s *server) []Referrer {
	t.Helper()
	list, err := c.Referrers(context.Background(), s.ref(":any"), goldenDigest, SignatureType)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestAttachAndReferrers(t *testing.T) {
	eachRegistry(t, func(t *testing.T, s *server) {
		c := plainClient(t)
		mustPush(t, c, s.ref(":0.1.0"), hello())
		if got := mustReferrers(t, c, s); len(got) != 0 {
			t.Fatalf("before: %v", got)
		}
		first := mustAttach(t, c, s, Signature([]byte(`{"a":1}`)))
		mustAttach(t, c, s, Signature([]byte(`{"b":2}`)))
		mustAttach(t, c, s, Attachment{ArtifactType: "application/spdx+json", MediaType: "application/spdx+json", Content: []byte(`{}`)})
		if again := mustAttach(t, c, s, Signature([]byte(`{"a":1}`))); again != first {
			t.Errorf("attached again as %s, first as %s", again, first)
		}
		got := mustReferrers(t, c, s)
		if want := []string{`{"a":1}`, `{"b":2}`}; !slices.Equal(contents(got), want) {
			t.Fatalf("got %q, want %q", contents(got), want)
		}
		for _, r := range got {
			if r.ArtifactType != SignatureType || r.Annotations["dev.sigstore.bundle.content"] != "dsse-envelope" || !ValidDigest(r.Digest) {
				t.Errorf("got %+v", r)
			}
		}
		pulled, err := c.Pull(context.Background(), s.ref(":0.1.0"))
		if err != nil {
			t.Fatal(err)
		}
		wantBundle(t, pulled, hello())
	})
}

func TestAttachToOurRegistry(t *testing.T) {
	host := served(t)
	c := plainClient(t)
	if _, err := c.Attach(context.Background(), host+"/me/hello:x", goldenDigest, Signature([]byte(`{"a":1}`))); err != nil {
		t.Fatal(err)
	}
	got, err := c.Referrers(context.Background(), host+"/me/hello:x", goldenDigest, SignatureType)
	if err != nil || !slices.Equal(contents(got), []string{`{"a":1}`}) {
		t.Errorf("got %q, %v", contents(got), err)
	}
	if _, err := c.Resolve(context.Background(), host+"/me/hello:"+indexTag(goldenDigest)); err == nil {
		t.Error("the registry has referrers, and a tag was made for them")
	}
}

// The layout is what cosign v3.1.1 pushed, but for the time that it adds and the order of
// the members.
func TestSignatureManifest(t *testing.T) {
	raw, digest, err := Signature([]byte("{}")).manifest("sha256:28c9dd9843bfc3ef07942e16805740258e3929cbb208579c5f23fe785ed968dc", 551)
	want := `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",` +
		`"artifactType":"application/vnd.dev.sigstore.bundle.v0.3+json",` +
		`"config":{"mediaType":"application/vnd.oci.empty.v1+json","digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","size":2},` +
		`"layers":[{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","size":2}],` +
		`"subject":{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:28c9dd9843bfc3ef07942e16805740258e3929cbb208579c5f23fe785ed968dc","size":551},` +
		`"annotations":{"dev.sigstore.bundle.content":"dsse-envelope","dev.sigstore.bundle.predicateType":"https://sigstore.dev/cosign/sign/v1"}}`
	if err != nil || string(raw) != want || digest != canon.Digest(raw) {
		t.Errorf("got %s, %s, %v, want %s", raw, digest, err, want)
	}
}

// ../shared/design/oci.md: 12 concurrent writers of the fallback index left 2 entries.
func TestTwelveWritersOfTheIndex(t *testing.T) {
	s := serverOf(t, withoutReferrers())
	c := plainClient(t)
	mustPush(t, c, s.ref(":0.1.0"), hello())
	var group sync.WaitGroup
	for i := range 12 {
		group.Go(func() {
			if _, err := c.Attach(context.Background(), s.ref(":0.1.0"), goldenDigest, Signature(fmt.Appendf(nil, `{"n":%d}`, i))); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got := mustReferrers(t, c, s); len(got) != 12 {
		t.Errorf("%d of 12 signatures are left: %q", len(got), contents(got))
	}
}

// What others keep in the index stays there as it is, also what AIR has no use for.
func TestTheIndexKeepsWhatOthersWrote(t *testing.T) {
	s := serverOf(t, withoutReferrers())
	c := plainClient(t)
	mustPush(t, c, s.ref(":0.1.0"), hello())
	const other = `{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha512:00","size":3,"platform":{"os":"x"}}`
	stored := fmt.Appendf(nil, `{"schemaVersion":2,"mediaType":%q,"manifests":[%s]}`, mediaTypeIndex, other)
	s.sabotage(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/manifests/"+indexTag(goldenDigest)) {
			return false
		}
		if r.Method == http.MethodPut {
			stored, _ = io.ReadAll(r.Body)
			w.WriteHeader(http.StatusCreated)
		}
		_, _ = w.Write(stored)
		return true
	})
	own := mustAttach(t, c, s, Signature([]byte(`{}`)))
	for _, want := range []string{other, own} {
		if !bytes.Contains(stored, []byte(want)) {
			t.Errorf("the index is now %s, want it to have %s", stored, want)
		}
	}
}

// putRaw stores a manifest as it is.
func putRaw(t *testing.T, s *server, identifier, mediaType, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, s.URL+"/v2/me/hello/manifests/"+identifier, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", mediaType)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		text, _ := io.ReadAll(resp.Body)
		t.Fatalf("PUT %s: %s %s", identifier, resp.Status, text)
	}
}

// A tag of that name that is no index is somebody's, and is left alone.
func TestAttachDoesNotOverwriteWhatIsNoIndex(t *testing.T) {
	s := serverOf(t, withoutReferrers())
	c := plainClient(t)
	mustPush(t, c, s.ref(":0.1.0"), hello())
	putRaw(t, s, indexTag(goldenDigest), mediaTypeManifest, goldenManifest)
	_, err := c.Attach(context.Background(), s.ref(":0.1.0"), goldenDigest, Signature([]byte(`{}`)))
	wantError(t, err, KindInvalid, "")
	_, err = c.Referrers(context.Background(), s.ref(":0.1.0"), goldenDigest, SignatureType)
	wantError(t, err, KindInvalid, "")
	if got, err := c.Resolve(context.Background(), s.ref(":"+indexTag(goldenDigest))); err != nil || got != goldenDigest {
		t.Errorf("the tag names %s, %v", got, err)
	}
}

func TestAttachRefuses(t *testing.T) {
	s := newServer(t)
	c := plainClient(t)
	_, err := c.Attach(context.Background(), s.ref(":0.1.0"), goldenDigest, Signature([]byte(`{}`)))
	wantError(t, err, KindNotFound, "")
	mustPush(t, c, s.ref(":0.1.0"), hello())
	_, err = c.Attach(context.Background(), s.ref(":0.1.0"), goldenDigest, Signature(make([]byte, MaxAttachment+1)))
	wantError(t, err, KindTooLarge, "")
	_, err = c.Attach(context.Background(), s.ref(":0.1.0"), goldenDigest, Attachment{Content: []byte(`{}`)})
	wantError(t, err, KindInvalid, "")
	_, err = c.Attach(context.Background(), s.ref(":0.1.0"), "sha256:../../x", Signature(nil))
	wantError(t, err, KindInvalid, "")
	if s.count("PUT ") == 0 || len(mustReferrers(t, c, s)) != 0 {
		t.Errorf("something was attached: %v", mustReferrers(t, c, s))
	}
}

// listing makes the referrers API answer with pages of descriptors.
func (s *server) listing(pages ...[]string) {
	s.sabotage(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/referrers/") {
			return false
		}
		var n int
		_, _ = fmt.Sscan(r.URL.Query().Get("page"), &n)
		w.Header().Set("Content-Type", mediaTypeIndex)
		if n+1 < len(pages) {
			w.Header().Set("Link", fmt.Sprintf(`<http://169.254.169.254/latest/secrets?page=%d>; rel="next"`, n+1))
		}
		fmt.Fprintf(w, `{"schemaVersion":2,"mediaType":%q,"manifests":[%s]}`, mediaTypeIndex, strings.Join(pages[n], ","))
		return true
	})
}

func described(digest, artifactType string) string {
	return fmt.Sprintf(`{"mediaType":%q,"digest":%q,"size":7,"artifactType":%q}`, mediaTypeManifest, digest, artifactType)
}

// Of the link to the next page only the query counts: no other host hears of it.
func TestReferrersInPages(t *testing.T) {
	s := newServer(t)
	c := plainClient(t)
	mustPush(t, c, s.ref(":0.1.0"), hello())
	a := mustAttach(t, c, s, Signature([]byte(`{"a":1}`)))
	b := mustAttach(t, c, s, Signature([]byte(`{"b":2}`)))
	s.listing([]string{described(a, SignatureType)}, nil, []string{described(a, SignatureType), described(b, "")})
	if got := contents(mustReferrers(t, c, s)); !slices.Equal(got, []string{`{"a":1}`, `{"b":2}`}) {
		t.Errorf("got %q", got)
	}
	if n := s.count("/referrers/"); n != 3 {
		t.Errorf("%d requests for pages, want 3", n)
	}
}

func TestReferrersPagesThatDoNotEnd(t *testing.T) {
	s := newServer(t)
	c := plainClient(t)
	mustPush(t, c, s.ref(":0.1.0"), hello())
	for name, next := range map[string]func(n int) string{
		"a circle": func(int) string { return "?page=1" },
		"endless":  func(n int) string { return fmt.Sprintf("?page=%d", n) },
	} {
		n := 0
		s.sabotage(func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.Contains(r.URL.Path, "/referrers/") {
				return false
			}
			n++
			w.Header().Set("Link", "<"+next(n)+`>; rel=next`)
			fmt.Fprintf(w, `{"schemaVersion":2,"mediaType":%q,"manifests":null}`, mediaTypeIndex)
			return true
		})
		_, err := c.Referrers(context.Background(), s.ref(":0.1.0"), goldenDigest, SignatureType)
		t.Run(name, func(t *testing.T) { wantError(t, err, KindInvalid, "") })
		if n > maxPages {
			t.Errorf("%s: %d requests", name, n)
		}
	}
}

// G15: a signature that was attached to another bundle is not one of this bundle, whatever
// the registry lists. Bad ones are left out, and the good one stays.
func TestG15ReferrersOfSomethingElse(t *testing.T) {
	s := newServer(t)
	var log bytes.Buffer
	c := newClient(t, Options{PlainHTTP: true, Log: &log})
	mustPush(t, c, s.ref(":0.1.0"), hello())
	good := mustAttach(t, c, s, Signature([]byte(`{"good":1}`)))
	other := hello()
	other.Version = "0.2.0"
	pushed := mustPush(t, c, s.ref(":0.2.0"), other)
	replayed, err := c.Attach(context.Background(), s.ref(":0.2.0"), pushed.Digest, Signature([]byte(`{"other":1}`)))
	if err != nil {
		t.Fatal(err)
	}
	sbom := mustAttach(t, c, s, Attachment{ArtifactType: "application/spdx+json", MediaType: "application/spdx+json", Content: []byte(`{}`)})
	s.listing([]string{
		described(replayed, SignatureType), described(sbom, SignatureType), described(goldenDigest, SignatureType), // the subject itself
		described("sha256:"+strings.Repeat("b", 64), SignatureType), described("sha512:00", SignatureType), described("../x", SignatureType),
		described(pushed.Digest, SignatureType), described(good, SignatureType),
	})
	if got := contents(mustReferrers(t, c, s)); !slices.Equal(got, []string{`{"good":1}`}) {
		t.Errorf("got %q", got)
	}
	for _, d := range []string{replayed, sbom, pushed.Digest, strings.Repeat("b", 64)} {
		if !strings.Contains(log.String(), d) {
			t.Errorf("no warning names %s:\n%s", d, log.String())
		}
	}
}

func TestReferrersAreBounded(t *testing.T) {
	s := newServer(t)
	var log bytes.Buffer
	c := newClient(t, Options{PlainHTTP: true, Log: &log})
	mustPush(t, c, s.ref(":0.1.0"), hello())
	var many []string
	for i := range maxRead + 10 {
		many = append(many, described(fmt.Sprintf("sha256:%064x", i), SignatureType))
	}
	s.listing(many)
	if got := mustReferrers(t, c, s); len(got) != 0 {
		t.Errorf("got %d", len(got))
	}
	if n := s.count("/manifests/"); n != maxRead {
		t.Errorf("%d manifests were asked for, want %d", n, maxRead)
	}
	if !strings.Contains(log.String(), "more than 1000") || strings.Count(log.String(), "\n") > 12 {
		t.Errorf("no warning: %.300s", log.String())
	}
}

// A referrer whose bytes are not what its digest says is left out.
func TestReferrersOfWrongBytes(t *testing.T) {
	for _, kind := range []string{"manifests", "blobs"} {
		s := newServer(t)
		var log bytes.Buffer
		c := newClient(t, Options{PlainHTTP: true, Log: &log})
		mustPush(t, c, s.ref(":0.1.0"), hello())
		mustAttach(t, c, s, Signature([]byte(`{"good":1}`)))
		s.sabotage(func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.Contains(r.URL.Path, "/"+kind+"/") {
				return false
			}
			_, _ = io.WriteString(w, `{"evil":1}`)
			return true
		})
		if got := mustReferrers(t, c, s); len(got) != 0 || !strings.Contains(log.String(), "digest") {
			t.Errorf("%s: got %q, warnings %s", kind, contents(got), log.String())
		}
	}
}

// A registry that cannot answer is no registry without signatures.
func TestReferrersErrors(t *testing.T) {
	s := newServer(t)
	c := plainClient(t)
	mustPush(t, c, s.ref(":0.1.0"), hello())
	mustAttach(t, c, s, Signature([]byte(`{"good":1}`)))
	for name, fault := range map[string]struct {
		part   string
		code   int
		body   string
		header string
		kind   Kind
	}{
		"500":               {"/referrers/", 500, "", "", KindUnreachable},
		"401":               {"/referrers/", 401, "", "", KindUnauthorized},
		"429":               {"/referrers/", 429, "", "", KindRateLimited},
		"HTML":              {"/referrers/", 200, "<html></html>", "text/html", KindNotRegistry},
		"no JSON":           {"/referrers/", 200, "oops", mediaTypeIndex, KindInvalid},
		"a manifest":        {"/referrers/", 200, goldenManifest, mediaTypeManifest, KindInvalid},
		"a large list":      {"/referrers/", 200, strings.Repeat(" ", MaxManifest+1), mediaTypeIndex, KindTooLarge},
		"manifest with 500": {"/manifests/", 500, "", "", KindUnreachable},
		"blob with 500":     {"/blobs/", 500, "", "", KindUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			s.sabotage(func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.Contains(r.URL.Path, fault.part) {
					return false
				}
				w.Header().Set("Content-Type", fault.header)
				w.WriteHeader(fault.code)
				_, _ = io.WriteString(w, fault.body)
				return true
			})
			got, err := c.Referrers(context.Background(), s.ref(":0.1.0"), goldenDigest, SignatureType)
			wantError(t, err, fault.kind, "")
			if len(got) != 0 {
				t.Errorf("and %d referrers", len(got))
			}
		})
	}
}

func TestResolve(t *testing.T) {
	s := newServer(t)
	c := plainClient(t)
	mustPush(t, c, s.ref(":0.1.0"), hello())
	s.sabotage(nil)
	if got, err := c.Resolve(context.Background(), s.ref(":0.1.0")); err != nil || got != goldenDigest {
		t.Errorf("got %s, %v", got, err)
	}
	if want := []string{"GET /v2/", "HEAD /v2/me/hello/manifests/0.1.0"}; !slices.Equal(s.requests, want) {
		t.Errorf("requests: %v", s.requests)
	}
	s.sabotage(nil)
	if got, err := c.Resolve(context.Background(), s.ref("@"+goldenDigest)); err != nil || got != goldenDigest || len(s.requests) != 0 {
		t.Errorf("got %s, %v after %v", got, err, s.requests)
	}
	_, err := c.Resolve(context.Background(), s.ref(":0.9.0"))
	wantError(t, err, KindNotFound, "")
	_, err = c.Resolve(context.Background(), "hello")
	wantError(t, err, KindInvalid, "HOST")
}

// Some registries do not say the digest of what they answer.
func TestResolveWithoutDigestHeader(t *testing.T) {
	s := newServer(t)
	c := plainClient(t)
	mustPush(t, c, s.ref(":0.1.0"), hello())
	s.sabotage(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/manifests/") {
			return false
		}
		w.Header().Set("Content-Type", mediaTypeManifest)
		_, _ = io.WriteString(w, goldenManifest)
		return true
	})
	if got, err := c.Resolve(context.Background(), s.ref(":0.1.0")); err != nil || got != goldenDigest {
		t.Errorf("got %s, %v", got, err)
	}
}

func FuzzParseAttached(f *testing.F) {
	raw, _, err := Signature([]byte("{}")).manifest(goldenDigest, 551)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte(goldenManifest))
	f.Add([]byte(`{"schemaVersion":2,"mediaType":"` + mediaTypeIndex + `","manifests":[` + described(goldenDigest, "x") + `]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if a, err := parseAttached(raw); err == nil && a.check(goldenDigest, SignatureType) == nil {
			if a.layer.Size < 0 || a.layer.Size > MaxAttachment || !ValidDigest(a.layer.Digest) {
				t.Fatalf("accepted %+v", a)
			}
		}
		x, err := parseIndex(raw)
		if err != nil {
			return
		}
		again, err := encodeIndex(x)
		if err != nil || !json.Valid(again) {
			t.Fatalf("encoded as %s, %v", again, err)
		}
		for _, e := range candidates(x, goldenDigest, SignatureType) {
			if !ValidDigest(e.digest) || e.digest == goldenDigest {
				t.Fatalf("accepted %+v", e)
			}
		}
	})
}
