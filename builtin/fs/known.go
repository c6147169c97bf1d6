package fs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
)

// readSeen returns the content of a file that the task has read and that is the same
// since. expected is the digest that it must have too, "" for any.
func readSeen(ctx context.Context, access *runtime.Access, name, expected string) (content []byte, shown string, err error) {
	file, err := access.Files.Open(name)
	if err != nil {
		return nil, "", err
	}
	defer file.Close()
	shown = file.Name()
	seen, ok, err := access.LastRead(ctx, name)
	if err != nil {
		return nil, shown, err
	}
	if !ok {
		return nil, shown, fault.New(fault.Conflict, "not_read", "%s has not been read in this task", shown).WithHint("fs.read it, then edit what it shows")
	}
	if content, err = readWhole(file); err != nil {
		return nil, shown, err
	}
	same, err := isSeen(file, content, seen)
	switch {
	case err != nil:
		return nil, shown, err
	case !same:
		return nil, shown, fault.New(fault.Conflict, "stale", "%s has changed since it was read", shown).WithHint("fs.read it again, then edit what it shows")
	case expected != "" && digestOf(content) != expected:
		return nil, shown, fault.New(fault.Conflict, "stale", "%s is not the file that is expected: its sha256 is another", shown).WithHint("fs.read it again, then edit what it shows")
	}
	return content, shown, nil
}

// isSeen reports whether a file with this content is what was noted of it: its digest, or
// the version of a large one.
func isSeen(file runtime.File, content []byte, noted string) (bool, error) {
	if strings.HasPrefix(noted, "version:") {
		now, err := file.Version()
		return now == noted, err
	}
	return digestOf(content) == noted, nil
}

// readWhole reads a file up to what can be edited.
func readWhole(file runtime.File) ([]byte, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, fault.IO("reading "+file.Name(), err)
	}
	if info.Size() > maxEdited {
		return nil, tooLarge(file.Name())
	}
	content := bytes.NewBuffer(make([]byte, 0, min(info.Size(), maxEdited)+bytes.MinRead)) // read without growing
	if _, err := content.ReadFrom(io.LimitReader(file, maxEdited+1)); err != nil {
		return nil, fault.IO("reading "+file.Name(), err)
	}
	if content.Len() > maxEdited {
		return nil, tooLarge(file.Name())
	}
	return content.Bytes(), nil
}

func tooLarge(shown string) error {
	return fault.New(fault.ResourceExhausted, "artifact_size", "%s is larger than %d bytes", shown, maxEdited).
		WithHint("a file of this size is not backed up, and so not edited")
}

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
