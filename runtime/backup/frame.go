package backup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/aircoding/air/internal/fault"
)

const schemaVersion = 1

// MaxRecord bounds the line of one record, without the content behind it, in bytes.
const MaxRecord = 1 << 20

// frame is one record in the file of a run: a line "CRC JSON", the CRC-32C of the JSON
// in hex, and behind a change the content that it replaces. It holds one of its fields.
type frame struct {
	SchemaVersion int      `json:"schema_version,omitempty"` // of the first, with Run
	Run           *Run     `json:"run,omitempty"`
	Change        *Change  `json:"change,omitempty"`
	Withdrawn     *int     `json:"withdrawn,omitempty"` // the number of a change that did not happen
	Done          bool     `json:"done,omitempty"`      // the run has undone all that it was to undo
	Settled       *settled `json:"settled,omitempty"`
	Partial       bool     `json:"partial,omitempty"`   // the run may have changed more than it has records of
	Otherwise     string   `json:"otherwise,omitempty"` // how to go back from what it changed without a record
}

// settled is what became of a pending change.
type settled struct {
	Change int    `json:"change"` // its number
	After  *State `json:"after,omitempty"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (f frame) encode() ([]byte, error) {
	body, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	line := fmt.Appendf(nil, "%08x %s\n", crc32.Checksum(body, castagnoli), body)
	if len(line) > MaxRecord {
		return nil, fault.New(fault.ResourceExhausted, "backup_record", "the record of the change has %d bytes, the limit is %d", len(line), MaxRecord).
			WithHint("make the folders first, or take extended attributes off the file")
	}
	return line, nil
}

// contentSize is how many bytes follow the line.
func (f frame) contentSize() int64 {
	if f.Change == nil || f.Change.Before == nil {
		return 0
	}
	return f.Change.Before.Size
}

var errTorn = errors.New("the record is not whole")

// readFrame reads the record at an offset of a file of a size, and returns where its
// content begins. errTorn is what a process leaves that is killed, or a machine that
// loses power, while it adds a record: its change never happened.
func readFrame(file io.ReaderAt, at, size int64) (f frame, content int64, err error) {
	line, err := readLine(file, at, size)
	if err != nil {
		return f, 0, err
	}
	if err := f.decode(line); err != nil {
		return f, 0, err
	}
	content = at + int64(len(line)) + 1
	switch n := f.contentSize(); {
	case n < 0:
		return f, 0, fmt.Errorf("a content of %d bytes", n)
	case n > size-content:
		return f, 0, errTorn
	}
	return f, content, nil
}

// readLine returns the line at an offset without its end.
func readLine(file io.ReaderAt, at, size int64) ([]byte, error) {
	var line []byte
	for chunk := int64(4 << 10); ; chunk = MaxRecord {
		chunk = min(chunk, size-at)
		line = make([]byte, chunk)
		if _, err := file.ReadAt(line, at); err != nil && err != io.EOF {
			return nil, err
		}
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			return line[:end], nil
		}
		switch {
		case chunk == size-at && (chunk < MaxRecord || len(bytes.Trim(line, "\x00")) == 0):
			return nil, errTorn
		case chunk == MaxRecord:
			return nil, fmt.Errorf("a record has more than %d bytes", MaxRecord)
		}
	}
}

func (f *frame) decode(line []byte) error {
	sum, body, ok := bytes.Cut(line, []byte(" "))
	if !ok || string(sum) != fmt.Sprintf("%08x", crc32.Checksum(body, castagnoli)) {
		return errors.New("the checksum of a record is wrong")
	}
	return json.Unmarshal(body, f)
}
