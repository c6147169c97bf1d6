package oci

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"cuelabs.dev/go/oci/ociregistry"
)

// asked is what of a response its test looks at; the body is read and closed.
type asked struct {
	StatusCode    int
	Status        string
	Header        http.Header
	ContentLength int64
}

// ask sends a request without a body and returns the answer with its text.
func ask(t *testing.T, method, url string, header ...string) (asked, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return asked{resp.StatusCode, resp.Status, resp.Header, resp.ContentLength}, string(text)
}

// postBlob pushes a blob with one request.
func postBlob(t *testing.T, addr, repo, content string) {
	t.Helper()
	url := "http://" + addr + "/v2/" + repo + "/blobs/uploads/?digest=" + string(digestOf([]byte(content)))
	resp, err := http.Post(url, "application/octet-stream", strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		t.Fatalf("got %s", resp.Status)
	}
}

// RFC 9110 section 14: one range of bytes in each of its forms, and what is none.
func TestRanges(t *testing.T) {
	addr := serveTest(t, ServeOptions{})
	const content = "0123456789"
	postBlob(t, addr, "a", content)
	url := "http://" + addr + "/v2/a/blobs/" + string(digestOf([]byte(content)))
	for _, c := range []struct {
		header string
		code   int
		body   string
		is     string
	}{
		{"bytes=0-3", 206, "0123", "bytes 0-3/10"},
		{"bytes=4-", 206, "456789", "bytes 4-9/10"},
		{"bytes=9-20", 206, "9", "bytes 9-9/10"},
		{"bytes=-3", 206, "789", "bytes 7-9/10"},
		{"bytes=-20", 206, content, "bytes 0-9/10"},
		{"bytes=10-", 416, "", "bytes */10"},
		{"bytes=-0", 416, "", "bytes */10"},
		{"bytes=0-1,4-5", 200, content, ""},
		{"lines=1-2", 200, content, ""},
		{"bytes=x-", 200, content, ""},
	} {
		resp, body := ask(t, "GET", url, "Range", c.header)
		if resp.StatusCode != c.code || c.code != 416 && body != c.body || resp.Header.Get("Content-Range") != c.is {
			t.Errorf("%s: got %d %q of %q, want %d %q of %q", c.header, resp.StatusCode, body, resp.Header.Get("Content-Range"), c.code, c.body, c.is)
		}
	}
	resp, _ := ask(t, "HEAD", url)
	if resp.ContentLength != 10 || resp.Header.Get("Docker-Content-Digest") == "" {
		t.Errorf("HEAD: got %d, %v", resp.ContentLength, resp.Header)
	}
}

// A blob is in the repositories it was pushed to or mounted into, and nowhere else; and
// deleting it in one leaves the other's.
func TestRepositoriesAreApart(t *testing.T) {
	addr := serveTest(t, ServeOptions{})
	const content = "mine"
	digest := string(digestOf([]byte(content)))
	postBlob(t, addr, "a", content)
	at := func(repo string) string { return "http://" + addr + "/v2/" + repo + "/blobs/" + digest }
	want := func(repo string, code int) {
		t.Helper()
		for _, method := range []string{"HEAD", "GET"} {
			if resp, _ := ask(t, method, at(repo)); resp.StatusCode != code {
				t.Errorf("%s of %s: got %d, want %d", method, repo, resp.StatusCode, code)
			}
		}
	}
	want("a", 200)
	want("b", 404)
	if resp, _ := ask(t, "POST", "http://"+addr+"/v2/c/blobs/uploads/?from=b&mount="+digest); resp.StatusCode != http.StatusAccepted {
		t.Errorf("mounting from where it is not: got %d, want an upload", resp.StatusCode)
	}
	want("c", 404)
	if resp, _ := ask(t, "POST", "http://"+addr+"/v2/b/blobs/uploads/?from=a&mount="+digest); resp.StatusCode != http.StatusCreated {
		t.Errorf("mounting: got %d", resp.StatusCode)
	}
	want("b", 200)
	if resp, _ := ask(t, "DELETE", at("a")); resp.StatusCode != http.StatusAccepted {
		t.Errorf("deleting: got %d", resp.StatusCode)
	}
	want("a", 404)
	want("b", 200)
	if resp, _ := ask(t, "DELETE", at("a")); resp.StatusCode != http.StatusNotFound {
		t.Errorf("deleting twice: got %d", resp.StatusCode)
	}
}

func TestGivingUpAnUpload(t *testing.T) {
	addr := serveTest(t, ServeOptions{})
	upload := begin(t, addr)
	if resp, _ := ask(t, "GET", upload); resp.StatusCode != http.StatusNoContent || resp.Header.Get("Range") != "0-0" {
		t.Errorf("status: got %s, %q", resp.Status, resp.Header.Get("Range"))
	}
	for _, want := range []int{http.StatusNoContent, http.StatusNotFound} {
		if resp, _ := ask(t, "DELETE", upload); resp.StatusCode != want {
			t.Errorf("got %s, want %d", resp.Status, want)
		}
	}
	if code, _ := request(t, "PATCH", upload, nil); code != http.StatusNotFound {
		t.Errorf("writing to it: got %d", code)
	}
	if resp, _ := ask(t, "DELETE", "http://"+addr+"/v2/x/blobs/uploads/%25"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("got %s", resp.Status)
	}
}

// A manifest comes back with the content type it came with, and only a media type is one.
func TestContentTypes(t *testing.T) {
	addr := serveTest(t, ServeOptions{})
	url := "http://" + addr + "/v2/x/manifests/1"
	for sent, code := range map[string]int{"application/vnd.something+json": 201, "application/json; charset=utf-8": 201, "no type": 400, strings.Repeat("a", 300) + "/b": 400} {
		if got, body := request(t, "PUT", url, func(r *http.Request) { r.Header.Set("Content-Type", sent) }); got != code {
			t.Errorf("%.50s: got %d %s, want %d", sent, got, body, code)
		}
		if code != 201 {
			continue
		}
		if resp, _ := ask(t, "GET", url); resp.Header.Get("Content-Type") != sent {
			t.Errorf("got %q, want %q", resp.Header.Get("Content-Type"), sent)
		}
	}
}

// The spec has an array, also of nothing; and n=0 asks for nothing.
func TestEmptyLists(t *testing.T) {
	addr := serveTest(t, ServeOptions{})
	if _, body := ask(t, "GET", "http://"+addr+"/v2/_catalog"); body != `{"repositories":[]}` {
		t.Errorf("got %s", body)
	}
	url := "http://" + addr + "/v2/x/"
	put := func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }
	if code, body := request(t, "PUT", url+"manifests/"+string(digestOf([]byte("{}"))), put); code != 201 {
		t.Fatalf("got %d %s", code, body)
	}
	if _, body := ask(t, "GET", url+"tags/list"); body != `{"name":"x","tags":[]}` {
		t.Errorf("got %s", body)
	}
	if code, _ := request(t, "PUT", url+"manifests/1", put); code != 201 {
		t.Fatal(code)
	}
	if resp, body := ask(t, "GET", url+"tags/list?n=0"); body != `{"name":"x","tags":[]}` || resp.Header.Get("Link") != "" {
		t.Errorf("got %s, %v", body, resp.Header)
	}
	for _, n := range []string{"-1", "x", "99999999999999999999"} {
		if resp, _ := ask(t, "GET", url+"tags/list?n="+n); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("n=%s: got %s", n, resp.Status)
		}
	}
	if resp, _ := ask(t, "GET", "http://"+addr+"/v2/y/tags/list"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("got %s", resp.Status)
	}
}

func TestTagsInPages(t *testing.T) {
	addr := serveTest(t, ServeOptions{})
	for i := range 5 {
		if code, body := request(t, "PUT", fmt.Sprintf("http://%s/v2/x/manifests/v%d", addr, i), func(r *http.Request) {
			r.Header.Set("Content-Type", "application/json")
		}); code != 201 {
			t.Fatalf("got %d %s", code, body)
		}
	}
	var all []string
	next := "/v2/x/tags/list?n=2"
	for pages := 0; next != ""; pages++ {
		resp, body := ask(t, "GET", "http://"+addr+next)
		var list struct{ Tags []string }
		if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Tags) > 2 || pages > 3 {
			t.Fatalf("got %s, %v", body, err)
		}
		all = append(all, list.Tags...)
		next, _, _ = strings.Cut(strings.TrimPrefix(resp.Header.Get("Link"), "<"), ">")
	}
	if !slices.Equal(all, []string{"v0", "v1", "v2", "v3", "v4"}) {
		t.Errorf("got %q", all)
	}
	if _, body := ask(t, "GET", "http://"+addr+"/v2/x/tags/list?last=v3"); !strings.Contains(body, `["v4"]`) {
		t.Errorf("got %s", body)
	}
}

// Deleting a manifest takes its tags from the list, and a repository that has lost all
// of them is still one.
func TestTagsGoWithTheirManifest(t *testing.T) {
	s := newStore(t)
	digest := pushImage(t, s, "v1", "one")
	if err := s.DeleteManifest(t.Context(), "a/b", digest); err != nil {
		t.Fatal(err)
	}
	if tags, err := ociregistry.All(s.Tags(t.Context(), "a/b", "")); err != nil || len(tags) != 0 {
		t.Errorf("got %q, %v", tags, err)
	}
	if err := s.DeleteManifest(t.Context(), "a/b", digest); !errors.Is(err, ociregistry.ErrManifestUnknown) {
		t.Errorf("got %v", err)
	}
}

// A private registry answers nobody without its token; nor does one start without.
func TestPrivate(t *testing.T) {
	wantError(t, Serve(t.Context(), ServeOptions{Private: true}), KindInvalid, "AIR_REGISTRY_TOKEN")
	addr := serveTest(t, ServeOptions{Private: true, Token: "s3cret"})
	for _, path := range []string{"/v2/", "/v2/_catalog", "/v2/x/tags/list", "/v2/x/manifests/1", "/v2/x/blobs/" + goldenDigest, "/v2/x/referrers/" + goldenDigest} {
		resp, body := ask(t, "GET", "http://"+addr+path)
		if resp.StatusCode != http.StatusUnauthorized || resp.Header.Get("WWW-Authenticate") == "" || !strings.Contains(body, "private") {
			t.Errorf("%s: got %s %s", path, resp.Status, body)
		}
	}
	c := plainClient(t)
	_, err := c.Pull(t.Context(), addr+"/me/hello:1")
	wantError(t, err, KindUnauthorized, "log in")
	o := Options{PlainHTTP: true}
	wantError(t, Login(t.Context(), o, addr, "air", "wrong"), KindUnauthorized, "nothing was stored")
	if err := Login(t.Context(), o, addr, "air", "s3cret"); err != nil {
		t.Fatal(err)
	}
	mustPush(t, c, addr+"/me/hello:1", hello())
	got, err := c.Pull(t.Context(), addr+"/me/hello:1")
	if err != nil {
		t.Fatal(err)
	}
	wantBundle(t, got, hello())
}
