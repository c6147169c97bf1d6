package wasmbin

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"reflect"
	"strings"
	"testing"
)

// sealed puts the checksum behind an encoded image.
func sealed(content ...byte) []byte {
	sum := crc32.Checksum(content, crc32.MakeTable(crc32.Castagnoli))
	return binary.LittleEndian.AppendUint32(content, sum)
}

func images() map[string]struct {
	image   Image
	encoded []byte
} {
	return map[string]struct {
		image   Image
		encoded []byte
	}{
		"empty":     {Image{}, sealed(1, 0, 0, 0, 0)},
		"freezable": {Image{Freezable: true, Pages: 1}, sealed(1, 2, 1, 0, 0)},
		"frozen": {
			Image{Frozen: true, Freezable: true, Pages: 300, Runs: []Run{{0, []byte("ab")}, {3, []byte("c")}, {300<<16 - 1, []byte("z")}}, Globals: []Global{{0, 1}, {2, 1 << 63}}},
			sealed(1, 3, 0xac, 2, 3, 0, 2, 'a', 'b', 1, 1, 'c', 0xfb, 0xff, 0xaf, 9, 1, 'z', 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0x80),
		},
		"as large as can be": {Image{Pages: 65_536, Runs: []Run{{1<<32 - 1, []byte("z")}}}, sealed(1, 0, 0x80, 0x80, 4, 1, 0xff, 0xff, 0xff, 0xff, 15, 1, 'z', 0)},
	}
}

func TestImage(t *testing.T) {
	for name, test := range images() {
		if got := test.image.Encode(); !bytes.Equal(got, test.encoded) {
			t.Errorf("%s: encoded as %x, want %x", name, got, test.encoded)
		}
		if got, err := DecodeImage(test.encoded); err != nil || !reflect.DeepEqual(got, test.image) {
			t.Errorf("%s: decoded as %+v, %v, want %+v", name, got, err, test.image)
		}
	}
}

func TestImageRefused(t *testing.T) {
	for _, test := range []struct {
		what    string
		encoded []byte
		text    string
	}{
		{"nothing", nil, "cut short"},
		{"no content", sealed(), "version 0"},
		{"a wrong checksum", append(sealed(1, 0, 0, 0, 0)[:8], 0), "checksum"},
		{"another version", sealed(2, 0, 0, 0, 0), "version 2"},
		{"unknown flags", sealed(1, 4, 0, 0, 0), "flags 0x4"},
		{"frozen and not freezable", sealed(1, 1, 0, 0, 0), "flags 0x1"},
		{"65,537 pages", sealed(1, 0, 0x81, 0x80, 4, 0, 0), "65537"},
		{"padded pages", sealed(1, 0, 0x81, 0, 0, 0), "padded"},
		{"more runs than bytes", sealed(1, 0, 1, 0xff, 0xff, 0xff, 0xff, 15, 0, 0, 0), "the limit is 2"},
		{"an empty run", sealed(1, 0, 1, 1, 0, 0, 0, 0, 0), "empty run"},
		{"runs that touch", sealed(1, 0, 1, 2, 0, 1, 'a', 0, 1, 'b', 0), "without a gap"},
		{"a run past the memory", sealed(1, 0, 1, 1, 0xff, 0xff, 3, 2, 'a', 'b', 0), "2, the limit is 1"},
		{"a run that starts past the memory", sealed(1, 0, 1, 1, 0x81, 0x80, 4, 1, 'a', 0), "the limit is 65536"},
		{"a run longer than the data", sealed(1, 0, 1, 1, 0, 9, 'a', 0), "9 bytes wanted"},
		{"a run of 2^64 bytes", sealed(1, 0, 1, 1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1), "the limit is 65536"},
		{"a run of 2^70 bytes", sealed(1, 0, 1, 1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f), "64 bits"},
		{"more globals than bytes", sealed(1, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0), "2, the limit is 1"},
		{"half a global", sealed(1, 0, 1, 0, 1, 0x80, 1, 0, 0, 0, 0, 0, 0, 0), "8 bytes wanted"},
		{"global 100,000", sealed(1, 0, 1, 0, 1, 0xa0, 0x8d, 6, 0, 0, 0, 0, 0, 0, 0, 0), "global 100000"},
		{"bytes behind the globals", sealed(1, 0, 1, 0, 0, 0), "1 bytes too many"},
	} {
		got, err := DecodeImage(test.encoded)
		if err == nil || !strings.Contains(err.Error(), test.text) || !reflect.DeepEqual(got, Image{}) {
			t.Errorf("%s: %+v, %v, want %q", test.what, got, err, test.text)
		}
	}
}

func TestImageOf(t *testing.T) {
	const size = 2 << 16
	for _, test := range []struct {
		what    string
		nonzero []int
		want    [][2]int // from, to
	}{
		{"zeros", nil, nil},
		{"the first byte", []int{0}, [][2]int{{0, 4096}}},
		{"the last byte", []int{size - 1}, [][2]int{{size - 4096, size}}},
		{"two pages side by side", []int{4095, 4096}, [][2]int{{0, 8192}}},
		{"a zero page between", []int{100, 8192}, [][2]int{{0, 4096}, {8192, 12288}}},
	} {
		memory := make([]byte, size)
		for _, at := range test.nonzero {
			memory[at] = 1
		}
		var runs []Run
		for _, w := range test.want {
			runs = append(runs, Run{uint64(w[0]), memory[w[0]:w[1]]})
		}
		globals := []Global{{3, 4}}
		got := ImageOf(memory, globals)
		if want := (Image{Frozen: true, Freezable: true, Pages: 2, Runs: runs, Globals: globals}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d runs, want %d", test.what, len(got.Runs), len(runs))
		}
		if decoded, err := DecodeImage(got.Encode()); err != nil || !reflect.DeepEqual(decoded, got) {
			t.Errorf("%s: the image does not survive: %v", test.what, err)
		}
	}
	if got := ImageOf(nil, nil); !reflect.DeepEqual(got, Image{Frozen: true, Freezable: true}) {
		t.Errorf("no memory: %+v", got)
	}
}

// FuzzDecodeImage seals what it is given, or else the checksum keeps most of it out.
func FuzzDecodeImage(f *testing.F) {
	for _, test := range images() {
		f.Add(test.encoded[:len(test.encoded)-checksumSize])
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		data := sealed(bytes.Clone(content)...)
		image, err := DecodeImage(data)
		if err == nil && !bytes.Equal(image.Encode(), data) {
			t.Errorf("another encoding of %+v", image)
		}
		_, _ = DecodeImage(content) // no panic
	})
}

func BenchmarkImageOf(b *testing.B) {
	memory := make([]byte, 64<<20)
	memory[len(memory)/2] = 1
	b.SetBytes(int64(len(memory)))
	for b.Loop() {
		ImageOf(memory, nil)
	}
}
