package wasmbin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/aircoding/air/hostabi"
)

// Image is what an instance holds before a call: its memory, which is zero outside of the
// runs, and its mutable globals.
type Image struct {
	Frozen    bool     // start and _initialize have run already
	Freezable bool     // an image can hold whatever an instance becomes
	Pages     uint32   // of 64 KiB
	Runs      []Run    // ascending, none empty, with a gap before the next, inside of Pages
	Globals   []Global // ascending
}

// Run is a piece of memory.
type Run struct {
	Offset uint64
	Data   []byte
}

func (r Run) end() uint64 { return r.Offset + uint64(len(r.Data)) }

// Global is the value of a mutable global that is a number. An i32 and the bits of an f32
// are in the lower half.
type Global struct {
	Index int // among those that the module defines
	Value uint64
}

// block is the granularity at which ImageOf looks at memory: a page of most machines.
const block = 4096

// ImageOf describes an instance that is ready for calls, by its memory, a multiple of
// 64 KiB, and its globals in ascending order. The runs alias the memory.
func ImageOf(memory []byte, globals []Global) Image {
	image := Image{Frozen: true, Freezable: true, Pages: uint32(len(memory) / hostabi.PageSize), Globals: globals}
	var zero [block]byte
	start := none
	for at := 0; at <= len(memory); at += block {
		isZero := at == len(memory) || bytes.Equal(memory[at:at+block], zero[:])
		switch {
		case isZero && start != none:
			image.Runs = append(image.Runs, Run{uint64(start), memory[start:at]})
			start = none
		case !isZero && start == none:
			start = at
		}
	}
	return image
}

// An encoded image: the version, the flags, then pages, runs and globals, each number in
// the shortest form of a varint; a run by its distance from the end of the one before,
// a global by that from the one before, its value in 8 bytes; last the CRC-32C of it all,
// all fixed sizes little-endian.
const (
	imageVersion = 1

	flagFrozen    = 1
	flagFreezable = 2

	checksumSize = 4
	minRun       = 3 // bytes
	minGlobal    = 9
)

// Encode returns the image as bytes that DecodeImage accepts.
func (i Image) Encode() []byte {
	size := 64 + len(i.Globals)*(binary.MaxVarintLen32+8)
	for _, r := range i.Runs {
		size += 2*binary.MaxVarintLen64 + len(r.Data)
	}
	b := append(make([]byte, 0, size), imageVersion, i.flags())
	b = binary.AppendUvarint(b, uint64(i.Pages))
	b = binary.AppendUvarint(b, uint64(len(i.Runs)))
	end := uint64(0)
	for _, r := range i.Runs {
		b = binary.AppendUvarint(b, r.Offset-end)
		b = binary.AppendUvarint(b, uint64(len(r.Data)))
		b = append(b, r.Data...)
		end = r.end()
	}
	b = binary.AppendUvarint(b, uint64(len(i.Globals)))
	next := 0
	for _, g := range i.Globals {
		b = binary.AppendUvarint(b, uint64(g.Index-next))
		b = binary.LittleEndian.AppendUint64(b, g.Value)
		next = g.Index + 1
	}
	return binary.LittleEndian.AppendUint32(b, checksum(b))
}

func (i Image) flags() byte {
	return flag(i.Frozen)*flagFrozen | flag(i.Freezable)*flagFreezable
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// DecodeImage reads what Encode wrote and nothing else: each image has one encoding. The
// runs alias data.
func DecodeImage(data []byte) (Image, error) {
	image, err := decodeImage(data)
	if err != nil {
		return Image{}, fmt.Errorf("image: %w", err)
	}
	return image, nil
}

func decodeImage(data []byte) (image Image, err error) {
	if len(data) < checksumSize {
		return image, errors.New("it is cut short")
	}
	content, sum := data[:len(data)-checksumSize], data[len(data)-checksumSize:]
	if checksum(content) != binary.LittleEndian.Uint32(sum) {
		return image, errors.New("its checksum is wrong")
	}
	r := imageReader{&reader{data: content}}
	if version := r.byte(); version != imageVersion {
		return image, fmt.Errorf("version %d, only %d is known", version, imageVersion)
	}
	flags := r.byte()
	image.Frozen, image.Freezable = flags&flagFrozen != 0, flags&flagFreezable != 0
	if flags != image.flags() || image.Frozen && !image.Freezable {
		return image, fmt.Errorf("unknown flags %#x", flags)
	}
	if image.Pages = uint32(r.varint(maxPages)); r.err == nil {
		image.Runs = r.runs(uint64(image.Pages) * hostabi.PageSize)
		image.Globals = r.globals()
	}
	return image, r.end()
}

// imageReader reads the format of images with the checks of a reader.
type imageReader struct{ *reader }

// varint reads a number of at most limit in its shortest form.
func (r imageReader) varint(limit uint64) uint64 {
	start := r.pos
	v := r.unsigned(binary.MaxVarintLen64, 64)
	switch {
	case r.err != nil:
		return 0
	case v > limit:
		r.fail("%d, the limit is %d", v, limit)
		return 0
	case r.pos-start > 1 && r.data[r.pos-1] == 0:
		r.fail("a padded number")
		return 0
	}
	return v
}

func (r imageReader) runs(size uint64) []Run {
	n := r.varint(uint64(r.left() / minRun))
	if n == 0 {
		return nil
	}
	runs, end := make([]Run, 0, n), uint64(0)
	for i := range n {
		offset := end + r.varint(size-end)
		length := r.varint(size - offset)
		if r.err == nil && (length == 0 || i > 0 && offset == end) {
			r.fail("an empty run, or one without a gap")
		}
		data := r.take(length)
		if r.err != nil {
			return nil
		}
		runs = append(runs, Run{offset, data})
		end = offset + length
	}
	return runs
}

func (r imageReader) globals() []Global {
	n := r.varint(uint64(r.left() / minGlobal))
	if n == 0 {
		return nil
	}
	globals, next := make([]Global, 0, n), 0
	for range n {
		index := next + int(r.varint(maxGlobals))
		value := r.take(8)
		if index >= maxGlobals {
			r.fail("global %d, the limit is %d", index, maxGlobals)
		}
		if r.err != nil {
			return nil
		}
		globals = append(globals, Global{index, binary.LittleEndian.Uint64(value)})
		next = index + 1
	}
	return globals
}
