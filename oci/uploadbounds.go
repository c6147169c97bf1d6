package oci

import (
	"fmt"

	"cuelabs.dev/go/oci/ociregistry"
)

var (
	errBlobTooLarge = fmt.Errorf("%w: a blob may have %d bytes", ociregistry.ErrSizeInvalid, maxBlobBody)
	errUploadBusy   = fmt.Errorf("%w: another request is writing to it", ociregistry.ErrBlobUploadInvalid)
)

// uploadBounds is what one request may add to an upload, in memory or in a file.
type uploadBounds struct {
	size    int64 // of the upload so far
	start   int64 // where the client thinks the upload stands; -1 when it does not say
	room    *reservation
	spoiled bool // bytes were refused: what is there is of no use, and goes
}

// upload checks and reserves what a request announces, while a refusal can still be
// told. offset is -1 when the client does not say where it goes on; chunk is 0 when it
// does not say how much it brings.
func (m *meter) upload(size, offset int64, chunk int) (uploadBounds, error) {
	b := uploadBounds{size: size, start: offset}
	switch {
	case size+int64(chunk) > maxBlobBody:
		return b, errBlobTooLarge
	case chunk > 0 && offset != -1 && offset != size:
		return b, wrongPlace(size)
	}
	room, err := m.reserve(int64(chunk))
	b.room = room
	return b, err
}

func wrongPlace(size int64) error {
	return fmt.Errorf("%w: the upload stands at %d", ociregistry.ErrRangeInvalid, size)
}

// admit lets n bytes in, or says why not.
func (b *uploadBounds) admit(n int) error {
	if b.start != -1 && b.start != b.size {
		return wrongPlace(b.size)
	}
	b.start = -1 // counts for the first write only
	if b.size+int64(n) > maxBlobBody {
		b.spoiled = true
		return errBlobTooLarge
	}
	if err := b.room.use(int64(n)); err != nil {
		b.spoiled = true
		return err
	}
	b.size += int64(n)
	return nil
}

func (b *uploadBounds) Size() int64    { return b.size }
func (b *uploadBounds) ChunkSize() int { return 8 << 10 }
