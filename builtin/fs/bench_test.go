package fs_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/rig"
)

// ratio prints how the median of what is measured compares to that of a peer, taken in
// turns.
func ratio(b *testing.B, name string, measured, peer func()) {
	b.Helper()
	const rounds = 7
	var ours, theirs []time.Duration
	for range rounds {
		ours, theirs = append(ours, timeOf(measured)), append(theirs, timeOf(peer))
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	fmt.Printf("%s: %v, peer %v\n", name, ours[rounds/2], theirs[rounds/2])
	fmt.Printf("ratio %s %.3f\n", name, float64(ours[rounds/2])/float64(theirs[rounds/2]))
}

func timeOf(do func()) time.Duration {
	started := time.Now()
	do()
	return time.Since(started)
}

func runPeer(b *testing.B, argv ...string) {
	b.Helper()
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		b.Fatalf("%v: %v: %s", argv, err, out)
	}
}

// BenchmarkListRecursive walks 200,000 files in 10,000 folders, of which few are returned,
// and compares with find that prints the same facts of each.
func BenchmarkListRecursive(b *testing.B) {
	r := rig.New(b, rig.Options{})
	r.Put("tree/file", "content")
	for i := range 10_000 {
		dir := filepath.Join(r.Root, "tree", fmt.Sprintf("d%02d", i/100), fmt.Sprintf("e%02d", i%100))
		must2(b, os.MkdirAll(dir, 0o755))
		for j := range 20 {
			must2(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("name-%02d.go", j)), nil, 0o644))
		}
	}
	printed := filepath.Join(b.TempDir(), "printed")
	b.ResetTimer()
	ratio(b, "fs_list_200000/find", func() {
		var got listOutput
		r.Must("fs.list", object{"path": "tree", "recursive": true, "glob": "f*"}, &got)
		if len(got.Entries) != 1 || got.Truncated {
			b.Fatalf("%d entries", len(got.Entries))
		}
	}, func() {
		runPeer(b, "find", filepath.Join(r.Root, "tree"), "-mindepth", "1", "-fprintf", printed, `%P\t%y\t%s\t%T+\t%l\n`)
	})
}

// BenchmarkReadRange reads lines near the end of a file of 100 MB, which can be edited
// then, and compares with dd that reads all of it.
func BenchmarkReadRange(b *testing.B) {
	r := rig.New(b, rig.Options{})
	line := strings.Repeat("x", 79) + "\n"
	path := filepath.Join(r.Root, "large")
	must2(b, os.WriteFile(path, bytes.Repeat([]byte(line), 100_000_000/80), 0o600))
	time.Sleep(3100 * time.Millisecond) // what changed a moment ago is hashed
	b.ResetTimer()
	ratio(b, "fs_read_range_100MB/dd", func() {
		var got readOutput
		r.Must("fs.read", object{"path": "large", "offset_lines": 1_240_000, "limit_lines": 100}, &got)
		if *got.Content != strings.Repeat(line, 100) {
			b.Fatal("other lines")
		}
	}, func() {
		runPeer(b, "dd", "if="+path, "of=/dev/null", "bs=1M")
	})
}

func must2(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
