package resources

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// go test ./resources -run TestTheSDKIsCopied -update
var update = flag.Bool("update", false, "copy the SDK into the templates again")

const (
	sdk      = "../sdk/go"
	sdkCopy  = "templates/go/air"
	verbatim = ".txt"
)

// The SDK is a module of its own, which go:embed cannot reach: the templates hold a copy.
func TestTheSDKIsCopied(t *testing.T) {
	want := sdkSources(t)
	if *update {
		replaceCopy(t, want)
	}
	copied, err := filepath.Glob(sdkCopy + "/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range copied {
		name := strings.TrimSuffix(filepath.Base(path), verbatim)
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := want[name]; !ok || !bytes.Equal(got, text) {
			t.Errorf("%s is not what %s/%s is: see -update", path, sdk, name)
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("%s/%s is not copied: see -update", sdk, name)
	}
}

// sdkSources are the files of the SDK but for its tests and its go.mod.
func sdkSources(t *testing.T) map[string][]byte {
	t.Helper()
	sources := map[string][]byte{}
	for _, pattern := range []string{"*.go", "README.md"} {
		paths, err := filepath.Glob(filepath.Join(sdk, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			sources[filepath.Base(path)] = text
		}
	}
	if len(sources) < 5 {
		t.Fatalf("only %d files in %s", len(sources), sdk)
	}
	return sources
}

func replaceCopy(t *testing.T, sources map[string][]byte) {
	t.Helper()
	if err := os.RemoveAll(sdkCopy); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(sdkCopy, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range sources {
		if err := os.WriteFile(filepath.Join(sdkCopy, name+verbatim), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestUnknownLanguage(t *testing.T) {
	if _, err := Templates("cobol"); err == nil || !strings.Contains(err.Error(), `"cobol": there are go`) {
		t.Errorf("got %v", err)
	}
}
