package oci

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestParseManifest(t *testing.T) {
	p, err := ParseManifest([]byte(goldenManifest))
	if err != nil {
		t.Fatal(err)
	}
	if p.Digest != goldenDigest {
		t.Errorf("got %+v", p)
	}
	if string(p.Config.Data) != `{"id":"hello","version":"0.1.0"}` || len(p.Layers) != 3 || p.Layers[2].Title != "schemas/greet.json" || p.Layers[2].Size != 17 {
		t.Errorf("got %+v", p)
	}
}

// Without inlined data the config has to be fetched; that is fine.
func TestParseManifestWithoutData(t *testing.T) {
	p, err := ParseManifest([]byte(strings.Replace(goldenManifest, `,"data":"eyJpZCI6ImhlbGxvIiwidmVyc2lvbiI6IjAuMS4wIn0="`, "", 1)))
	if err != nil || p.Config.Data != nil {
		t.Errorf("got %q, %v", p.Config.Data, err)
	}
}

// replace changes the golden manifest textually, and insists that it did.
func replace(t *testing.T, old, replacement string) string {
	t.Helper()
	out := strings.Replace(goldenManifest, old, replacement, 1)
	if out == goldenManifest {
		t.Fatalf("%q is not in the golden manifest", old)
	}
	return out
}

func TestParseManifestRefuses(t *testing.T) {
	digest := func(c string) string { return "sha256:" + strings.Repeat(c, 64) }
	const module = `"digest":"sha256:93a44bbb96c751218e4c00d479e4c14358122a389acca16205b1e4d0dc5f9476","size":8`
	const help = `"digest":"sha256:9e8b62f81ea5c66fa06ee53da032751386b37702153070c0e14dd1d316282fa7","size":8`
	cases := []struct {
		name, doc string
		kind      Kind
		text      string
	}{
		{"empty", "", KindInvalid, "JSON"},
		{"HTML", "<html></html>", KindInvalid, "JSON"},
		{"null", "null", KindInvalid, "schemaVersion"},
		{"array", "[]", KindInvalid, "object"},
		{"too large", strings.Repeat(" ", MaxManifest) + "{}", KindTooLarge, "limit"},
		{"deep", strings.Repeat("[", 100), KindInvalid, "nesting"},
		{"two documents", goldenManifest + "{}", KindInvalid, "more than one"},
		{"bad UTF-8", replace(t, "says hello", "\xff"), KindInvalid, "UTF-8"},
		{"duplicate key", replace(t, `"schemaVersion":2`, `"schemaVersion":2,"schemaVersion":2`), KindInvalid, "duplicate"},
		{"subject", replace(t, `"layers"`, `"subject":{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"`+digest("a")+`","size":1},"layers"`), KindInvalid, "subject"},
		{"two lists of layers", replace(t, `"annotations":{"org.opencontainers.image.description"`, `"layers":[],"annotations":{"org.opencontainers.image.description"`), KindInvalid, "duplicate"},
		{"schema version", replace(t, `"schemaVersion":2`, `"schemaVersion":1`), KindInvalid, "schemaVersion"},
		{"docker manifest", replace(t, "application/vnd.oci.image.manifest.v1+json", "application/vnd.docker.distribution.manifest.v2+json"), KindInvalid, "media type"},
		{"no artifact type", replace(t, `"artifactType":"application/vnd.air.bundle.v1",`, ""), KindInvalid, "artifact type"},
		{"other artifact type", replace(t, "vnd.air.bundle.v1", "vnd.other"), KindInvalid, "artifact type"},
		{"config type", replace(t, "application/vnd.air.manifest.v1+json", "application/vnd.oci.image.config.v1+json"), KindInvalid, "config"},
		{"no config", `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","artifactType":"application/vnd.air.bundle.v1","layers":[{}]}`, KindInvalid, "no config"},
		{"keys in another case", strings.ReplaceAll(goldenManifest, `"layers"`, `"Layers"`), KindInvalid, "no layer"},
		{"layers no array", `{"schemaVersion":2,"layers":{}}`, KindInvalid, "layers"},
		{"compressed module", replace(t, `"application/wasm"`, `"application/vnd.air.module.v1+zstd"`), KindInvalid, "layer 0"},
		{"tar layer", replace(t, `"application/wasm"`, `"application/vnd.oci.image.layer.v1.tar+gzip"`), KindInvalid, "layer 0"},
		{"sha512", replace(t, "sha256:93a4", "sha512:93a4"), KindInvalid, "digest"},
		{"upper-case digest", replace(t, "sha256:93a4", "sha256:93A4"), KindInvalid, "digest"},
		{"digest with a path", replace(t, "sha256:93a44bbb96", "sha256:/../../../"), KindInvalid, "digest"},
		{"short digest", replace(t, "sha256:93a4", "sha256:"), KindInvalid, "digest"},
		{"negative size", replace(t, module, `"digest":"`+digest("a")+`","size":-1`), KindInvalid, "negative"},
		{"fractional size", replace(t, module, `"digest":"`+digest("a")+`","size":8.5`), KindInvalid, "size"},
		{"size beyond int64", replace(t, module, `"digest":"`+digest("a")+`","size":1e30`), KindInvalid, "2^53"},
		{"module too large", replace(t, module, fmt.Sprintf(`"digest":"%s","size":%d`, digest("a"), MaxModule+1)), KindTooLarge, "module"},
		{"layer too large", replace(t, help, fmt.Sprintf(`"digest":"%s","size":%d`, digest("a"), MaxLayer+1)), KindTooLarge, "HELP.md"},
		{"config too large", replace(t, `"size":32,"data":"eyJpZCI6ImhlbGxvIiwidmVyc2lvbiI6IjAuMS4wIn0="`, fmt.Sprintf(`"size":%d`, maxConfig+1)), KindTooLarge, "config"},
		{"one digest, two sizes", replace(t, help, strings.Replace(module, ":8", ":9", 1)), KindInvalid, "two sizes"},
		{"annotations no strings", replace(t, `"annotations":{"org.opencontainers.image.description":"says hello"`, `"annotations":{"x":1`), KindInvalid, "annotations"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseManifest([]byte(c.doc))
			wantError(t, err, c.kind, "")
			if err != nil && !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %v, want it to mention %q", err, c.text)
			}
		})
	}
}

func TestG20IndexInPlaceOfManifest(t *testing.T) {
	for name, doc := range map[string]string{
		"OCI index":     `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]}`,
		"docker list":   `{"schemaVersion":2,"mediaType":"application/vnd.docker.distribution.manifest.list.v2+json","manifests":[]}`,
		"no media type": `{"schemaVersion":2,"manifests":[]}`,
		"both in one":   replace(t, `"layers":`, `"manifests":[],"layers":`),
	} {
		_, err := ParseManifest([]byte(doc))
		wantError(t, err, KindInvalid, "name one bundle")
		if err != nil && !strings.Contains(err.Error(), "index") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestG20DataThatDiffersFromItsDigest(t *testing.T) {
	const data = `"data":"eyJpZCI6ImhlbGxvIiwidmVyc2lvbiI6IjAuMS4wIn0="`
	for name, doc := range map[string]string{
		"other bytes": replace(t, data, `"data":"eyJpZCI6ImhlbGxPIiwidmVyc2lvbiI6IjAuMS4wIn0="`),
		"empty":       replace(t, data, `"data":""`),
		"shorter":     replace(t, data, `"data":"eyJpZCI6"`),
		"of a layer":  replace(t, `"size":8,`, `"size":8,"data":"AAAAAAAAAAA=",`),
	} {
		_, err := ParseManifest([]byte(doc))
		t.Run(name, func(t *testing.T) { wantError(t, err, KindIntegrity, "do not use") })
	}
}

func TestG16G20Titles(t *testing.T) {
	for _, title := range []string{
		"a\u202eb", "a\u200b.md", "\u3164", "a\u00a0b",
		"", ".", "..", "/etc/passwd", "../x", "a/../../x", "a/./b", "a//b", "a/", `a\b`, `..\x`, "C:/x", "C:x", "a:b", "x\x00y", "x\ny", "\u009b",
		"capability.json", "CAPABILITY.md", "Capability.JSON", "capability.md",
		"module.wasm", "MODULE.wasm", "module.wasm/x", "schemas", `\ud800`,
		strings.Repeat("a", 300), strings.Repeat("a/", 600) + "a",
	} {
		quoted, err := json.Marshal(title)
		if err != nil {
			t.Fatal(err)
		}
		if title == `\ud800` {
			quoted = []byte(`"\ud800"`)
		}
		_, err = ParseManifest([]byte(replace(t, `"HELP.md"`, string(quoted))))
		var e *Error
		if !errors.As(err, &e) || e.Kind != KindInvalid {
			t.Errorf("%q: got %v, want it refused", title, err)
		}
	}
	for _, title := range []string{"a", strings.Repeat(strings.Repeat("a", 200)+"/", 4) + "b", "docs/a b.md", "docs/é.md", "docs/capability.json", "a..b", "...", ".hidden", "-x"} {
		if _, err := ParseManifest([]byte(replace(t, `"HELP.md"`, `"`+title+`"`))); err != nil {
			t.Errorf("%q: %v", title, err)
		}
	}
}

// Two spellings of é name one file on some systems.
func TestTitlesThatRepeatAfterNormalisation(t *testing.T) {
	doc := replace(t, `"HELP.md"`, `"docs/\u00e9"`)
	doc = strings.Replace(doc, `"schemas/greet.json"`, `"docs/e\u0301"`, 1)
	_, err := ParseManifest([]byte(doc))
	wantError(t, err, KindInvalid, "")
}

func TestLayerCountAndTotal(t *testing.T) {
	layers := func(n int, size int64) []byte {
		m := wireManifest{SchemaVersion: 2, MediaType: mediaTypeManifest, ArtifactType: bundleType}
		m.Config = wireDescriptor{MediaType: mediaTypeConfig, Digest: "sha256:" + strings.Repeat("0", 64), Size: 1}
		for i := range n {
			d := wireDescriptor{MediaType: MediaTypeModule, Digest: fmt.Sprintf("sha256:%064x", i+1), Size: size}
			d.Annotations = map[string]string{annotationTitle: fmt.Sprintf("l%d", i)}
			m.Layers = append(m.Layers, d)
		}
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	for _, c := range []struct {
		count int
		size  int64
		ok    bool
	}{{128, 1, true}, {129, 1, false}, {9, 32 << 20, true}, {10, 32 << 20, false}} {
		_, err := ParseManifest(layers(c.count, c.size))
		if c.ok && err != nil {
			t.Errorf("%d layers of %d bytes: %v", c.count, c.size, err)
		}
		if !c.ok {
			wantError(t, err, KindTooLarge, "")
		}
	}
}

// Whatever is accepted is within the limits and can become files of one folder.
func FuzzParseManifest(f *testing.F) {
	f.Add([]byte(goldenManifest))
	f.Add([]byte(`{"schemaVersion":2,"manifests":[]}`))
	f.Add([]byte(strings.Replace(goldenManifest, "HELP.md", "../x", 1)))
	f.Add([]byte(strings.Replace(goldenManifest, `"size":8`, `"size":8,"data":"AGFzbQEAAAA="`, 1)))
	f.Add([]byte(strings.Replace(goldenManifest, `"annotations"`, `"Annotations"`, 1)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := ParseManifest(raw)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Kind == "" {
				t.Fatalf("%v is no *Error with a kind", err)
			}
			return
		}
		if len(p.Layers) == 0 || len(p.Layers) > MaxLayers || p.Config.Size > maxConfig || !ValidDigest(p.Config.Digest) {
			t.Fatalf("accepted %+v", p)
		}
		for _, l := range p.Layers {
			if UnsafeTitle(l.Title) != "" || l.Size < 0 || l.Size > MaxLayer || !ValidDigest(l.Digest) {
				t.Fatalf("accepted %+v", l)
			}
		}
	})
}
