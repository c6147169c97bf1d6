package interpret

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// start is what the host says first.
type start struct {
	Text string
	// Root is the project's folder, "" where there is none.
	Root string
	// Names are where the commands begin whose names are known though they are not plain.
	Names []uint
}

// question is what the interpreter asks before it does something. Names of files and words
// are bytes: they need not be text.
type question struct {
	Dir []byte
	// A program to start: its words, the places of those that name pipes of the interpreter
	// itself, and the variables that it finds changed, NAME=VALUE, or gone.
	Argv   [][]byte `json:",omitempty"`
	Pipes  []int    `json:",omitempty"`
	Assign [][]byte `json:",omitempty"`
	Unset  [][]byte `json:",omitempty"`
	At     uint     // where the command begins in the text
	// A file to open, or a folder whose names to list, where Argv is empty.
	Path    []byte `json:",omitempty"`
	Reading bool   `json:",omitempty"`
	Writing bool   `json:",omitempty"`
}

// answer is the host's.
type answer struct {
	Refused string // why not, "" where it may be
	// Apart says that the host runs the program: its descriptors are to follow.
	Apart bool `json:",omitempty"`
}

// Bounds on messages, in bytes.
const (
	maxStart    = 1 << 20
	maxQuestion = 4 << 20
	maxAnswer   = 64 << 10
)

// send writes a message after its length. One beyond the limit is an error, and nothing of
// it is sent.
func send(w io.Writer, message any, limit int) error {
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	if len(text) > limit {
		return fmt.Errorf("a message of %d bytes, the limit is %d", len(text), limit)
	}
	framed := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(text)), uint32(len(text)))
	_, err = w.Write(append(framed, text...))
	return err
}

// receive reads a message. The error is io.EOF where the other end has closed before one.
func receive(r io.Reader, message any, limit int) error {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(size[:])
	if int64(n) > int64(limit) {
		return fmt.Errorf("a message of %d bytes, the limit is %d", n, limit)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return fmt.Errorf("a message that ends early: %w", err)
	}
	return json.Unmarshal(text, message)
}
