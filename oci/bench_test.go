package oci

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	benchLayers = 8
	benchRounds = 5
	benchLayer  = 32 << 20
)

// BenchmarkPull256MiB pulls 8 layers of 32 MiB of random bytes from a registry on this
// machine with AIR, crane and oras, and compares that with reading, hashing and writing
// the same bytes once, one file after the other and as many at once as a pull. What is written lies on the disk in the
// end: the peers do not wait for that, so after each round the disk is idle again.
func BenchmarkPull256MiB(b *testing.B) {
	dir := b.TempDir()
	files := randomFiles(b, filepath.Join(dir, "source"))
	ref := serveTest(b, ServeOptions{Dir: filepath.Join(dir, "registry")}) + "/me/large:1"
	if _, err := NewClient(Options{PlainHTTP: true}).Push(b.Context(), ref, artifactOf(files), PushOptions{}); err != nil {
		b.Fatal(err)
	}
	ways := []struct {
		name string
		do   func(to string) error
	}{
		{"", func(to string) error { return pullTo(b.Context(), ref, to) }},
		{"read_hash_write", func(to string) error { return copyAll(files, to, 1) }},
		{"read_hash_write_at_once", func(to string) error { return copyAll(files, to, parallelBlobs) }},
		{"crane", program(b, "crane", "pull", "--insecure", "--format=oci", ref)},
		{"oras", program(b, "oras", "pull", "--plain-http", ref, "-o")},
	}
	took := make([][]time.Duration, len(ways))
	for b.Loop() {
		for range benchRounds {
			for i, way := range ways {
				took[i] = append(took[i], timed(b, dir, way.do))
			}
		}
	}
	for i, way := range ways[1:] {
		fmt.Printf("ratio pull_256MiB/%s %.3f\n", way.name, float64(median(took[0]))/float64(median(took[i+1])))
	}
	fmt.Printf("# pull of 256 MiB: %v, then %s: %v\n", median(took[0]), ways[1].name, median(took[1]))
}

func timed(b *testing.B, dir string, do func(to string) error) time.Duration {
	b.Helper()
	to := filepath.Join(dir, "to")
	start := time.Now()
	err := do(to)
	took := time.Since(start)
	if err != nil {
		b.Fatal(err)
	}
	writeOut(b, to)
	return took
}

// writeOut writes out what a peer left in memory and removes it.
func writeOut(b *testing.B, to string) {
	b.Helper()
	err := filepath.WalkDir(to, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return f.Sync()
	})
	if err != nil {
		b.Fatal(err)
	}
	if err := os.RemoveAll(to); err != nil {
		b.Fatal(err)
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func randomFiles(b *testing.B, dir string) []string {
	b.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	source := rand.NewChaCha8([32]byte{6})
	files := make([]string, benchLayers)
	for i := range files {
		files[i] = filepath.Join(dir, fmt.Sprintf("layer%d", i))
		f, err := os.Create(files[i])
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.CopyN(f, source, benchLayer); err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
	return files
}

func artifactOf(files []string) Artifact {
	a := Artifact{Config: []byte(`{"id":"large"}`)}
	for i, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			panic(err)
		}
		title := "module.wasm"
		if i > 0 {
			title = "assets/" + filepath.Base(path)
		}
		a.Layers = append(a.Layers, bytesLayer(title, content))
	}
	return a
}

func pullTo(ctx context.Context, ref, to string) error {
	pulled, err := NewClient(Options{PlainHTTP: true, CacheDir: to}).Pull(ctx, ref)
	if err == nil && len(pulled.Layers) != benchLayers {
		err = fmt.Errorf("pulled %d layers", len(pulled.Layers))
	}
	return err
}

// copyAll is the least that has to be done with the bytes.
func copyAll(files []string, to string, atOnce int) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, path := range files {
		group.Go(func() error { return copyOne(path, filepath.Join(to, filepath.Base(path))) })
	}
	return group.Wait()
}

func copyOne(path, to string) error {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	buffer := make([]byte, copyBuffer)
	if _, err := io.CopyBuffer(io.MultiWriter(sum, f), struct{ io.Reader }{from}, buffer); err != nil {
		return err
	}
	if sum.Sum(nil) == nil {
		return io.ErrNoProgress
	}
	return f.Sync()
}

// program runs a peer's pull, whose last argument is where to.
func program(b *testing.B, name string, args ...string) func(to string) error {
	b.Helper()
	path := tool(b, name)
	return func(to string) error {
		out, err := exec.Command(path, append(slices.Clone(args), to)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", name, err, strings.TrimSpace(string(out)))
		}
		return nil
	}
}
