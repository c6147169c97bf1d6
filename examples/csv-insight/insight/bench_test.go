package insight

import (
	"bytes"
	"os"
	"testing"
)

func BenchmarkProfile(b *testing.B) {
	data, err := os.ReadFile("../data/timezone-transitions.csv")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Profile(bytes.NewReader(data), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
