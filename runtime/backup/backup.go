// Package backup keeps what files held before a call changed them, so that the call can
// be undone. It records and reads; the files themselves are for others to touch.
//
// Each call that a person or their agent makes, a run, has one file, in which records
// are only ever added: what a change would do, followed by the content that it would
// replace. A record is on the disk before its change happens.
package backup

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Run is a call that changed files, with all calls that were nested in it.
type Run struct {
	ID        string    `json:"id"`
	SessionID string    `json:"session_id,omitempty"`
	Tool      string    `json:"tool"`
	Started   time.Time `json:"started_at"`
	// Undoes is the run whose changes this one takes back, "" for any other call.
	Undoes string `json:"undoes,omitempty"`
}

// Change is one file that was written or removed.
type Change struct {
	CallID string `json:"call_id"` // of the nested call that made it, or of the run itself
	Path   Path   `json:"path"`
	Before *State `json:"before,omitempty"` // nil: there was nothing
	After  *State `json:"after,omitempty"`  // nil: there is nothing
	// Made are the folders that were made for the file, Removed those that its removal
	// left empty; outermost first.
	Made    []Folder  `json:"made,omitempty"`
	Removed []Folder  `json:"removed,omitempty"`
	At      time.Time `json:"at"`
	// Pending marks what a command may do to the file: After is not known before it has
	// ended, see Journal.Settle. Where it never was, nobody knows how the command left it.
	Pending bool `json:"pending,omitempty"`

	number  int   // in its run
	content int64 // where the content of Before begins in the file of the run
}

// State is a regular file at one moment.
type State struct {
	SHA256 string `json:"sha256"` // hex
	Size   int64  `json:"size_bytes"`
	Mode   uint32 `json:"mode"` // permissions and set-id bits
	UID    uint32 `json:"uid"`
	GID    uint32 `json:"gid"`
	// Attributes are the extended attributes that belong to the file's owner.
	Attributes []Attribute `json:"attributes,omitempty"`
}

// Attribute is an extended attribute. Its name need not be UTF-8.
type Attribute struct {
	Name  []byte `json:"name"`
	Value []byte `json:"value"`
}

// Same reports whether two states are of the same content with the same mode. nil is
// that there is no file.
func (s *State) Same(other *State) bool {
	if s == nil || other == nil {
		return s == other
	}
	return s.SHA256 == other.SHA256 && s.Size == other.Size && s.Mode == other.Mode
}

// Folder is a folder that was made or removed.
type Folder struct {
	Path Path   `json:"path"`
	Mode uint32 `json:"mode"`
}

// Path is a canonical path, byte by byte: the name of a file need not be UTF-8.
type Path string

const encodedPath = "base64:" // an absolute path begins with a slash

// MarshalText writes the path as it is where that is UTF-8.
func (p Path) MarshalText() ([]byte, error) {
	if utf8.ValidString(string(p)) {
		return []byte(p), nil
	}
	return []byte(encodedPath + base64.StdEncoding.EncodeToString([]byte(p))), nil
}

// UnmarshalText reads what MarshalText wrote.
func (p *Path) UnmarshalText(text []byte) error {
	encoded, ok := strings.CutPrefix(string(text), encodedPath)
	if !ok {
		*p = Path(text)
		return p.check()
	}
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	*p = Path(decoded)
	if err != nil {
		return err
	}
	return p.check()
}

func (p *Path) check() error {
	if !strings.HasPrefix(string(*p), "/") {
		return fmt.Errorf("the path %.80q is not absolute", string(*p))
	}
	return nil
}
