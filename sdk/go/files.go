package air

import (
	"bufio"
	"io"
	"iter"
	"strings"
)

// FileInfo is what fs.stat says.
type FileInfo struct {
	Path       string `json:"path"`
	Exists     bool   `json:"exists"`
	Type       string `json:"type"` // file, directory, symlink, other
	SizeBytes  int64  `json:"size_bytes"`
	ModifiedAt string `json:"modified_at"`
}

// Stat calls fs.stat. A missing file is no error: Exists is false.
func (c *Context) Stat(path string) (FileInfo, error) {
	var info FileInfo
	err := c.Call("fs.stat", map[string]any{"path": path}, &info)
	return info, err
}

// ReadFile returns the whole of a text file.
func (c *Context) ReadFile(path string) (string, error) {
	content, err := io.ReadAll(c.Open(path))
	return string(content), err
}

// Lines returns the lines of a text file without their ends. An error is the last
// thing it yields.
func (c *Context) Lines(path string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		r := bufio.NewReader(c.Open(path))
		for {
			line, err := r.ReadString('\n')
			if err != nil && err != io.EOF {
				yield("", err)
				return
			}
			if line == "" { // the end, after a last line that had its own
				return
			}
			if !yield(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"), nil) || err == io.EOF {
				return
			}
		}
	}
}

// Open returns a reader of a text file. It reads nothing yet.
func (c *Context) Open(path string) *Text { return &Text{c: c, path: path} }

// Text reads a text file through fs.read in pieces of whole lines, so that a file of
// any size passes through little memory. It notices, by size and modification time,
// when the file was changed between the first piece and the last.
type Text struct {
	PieceLines int                    // lines to ask for at a time; 0 is fs.read's default
	Progress   func(read, size int64) // called after each piece, where set

	c       *Context
	path    string
	before  FileInfo
	pieces  int
	lines   int
	read    int64
	unread  string
	last    bool
	failure error
}

func (t *Text) Read(p []byte) (int, error) {
	for t.unread == "" && t.failure == nil {
		t.failure = t.next()
	}
	if t.unread == "" {
		return 0, t.failure
	}
	n := copy(p, t.unread)
	t.unread = t.unread[n:]
	return n, nil
}

// next fetches one piece, or reports io.EOF after the last one.
func (t *Text) next() error {
	if t.last {
		return t.end()
	}
	if t.pieces == 0 {
		info, err := t.c.Stat(t.path)
		if err != nil {
			return err
		}
		t.before = info
	}
	piece, err := t.fetch()
	if err != nil {
		return err
	}
	t.unread, t.last = piece.Content, !piece.Truncated
	t.pieces++
	t.lines += piece.LineCount
	t.read += int64(len(piece.Content))
	if t.Progress != nil {
		t.Progress(t.read, t.before.SizeBytes)
	}
	return nil
}

type piece struct {
	Content     string `json:"content"`
	ContentType string `json:"content_type"`
	LineCount   int    `json:"line_count"`
	Truncated   bool   `json:"truncated"`
}

func (t *Text) fetch() (piece, error) {
	in := map[string]any{"path": t.path}
	if t.lines > 0 {
		in["offset_lines"] = t.lines
	}
	if t.PieceLines > 0 {
		in["limit_lines"] = t.PieceLines
	}
	var p piece
	if err := t.c.Call("fs.read", in, &p); err != nil {
		return p, err
	}
	if p.ContentType != "text" && p.ContentType != "empty" {
		return p, Fail("not_text", "%s is no UTF-8 text (fs.read calls it %s)", t.path, p.ContentType)
	}
	// A cut inside a line would lose the rest of it: the next piece starts at a line.
	if p.Truncated && (p.LineCount == 0 || !strings.HasSuffix(p.Content, "\n")) {
		return p, Fail("line_too_long", "%s: line %d is longer than fs.read returns at once", t.path, t.lines+max(p.LineCount, 1))
	}
	return p, nil
}

func (t *Text) end() error {
	if t.pieces < 2 {
		return io.EOF
	}
	after, err := t.c.Stat(t.path)
	if err != nil {
		return err
	}
	if after.SizeBytes != t.before.SizeBytes || after.ModifiedAt != t.before.ModifiedAt {
		return Fail("file_changed", "%s was changed while it was read", t.path)
	}
	return io.EOF
}

// WriteFile calls fs.write. Writing onto an existing file is refused unless a person
// or a rule allows it.
func (c *Context) WriteFile(path, content string) error {
	return c.Call("fs.write", map[string]any{"path": path, "content": content}, nil)
}

// Artifact is something to keep beyond the call. Either Content or SourcePath is set.
type Artifact struct {
	Type       string         `json:"type"` // one of the manifest's artifact_types
	Name       string         `json:"original_name,omitempty"`
	Content    string         `json:"content,omitempty"`
	SourcePath string         `json:"source_path,omitempty"`
	Metadata   map[string]any `json:"metadata,omitempty"`
}

// ArtifactRef names a kept artifact.
type ArtifactRef struct {
	ID        string `json:"artifact_id"`
	URI       string `json:"uri"`
	Path      string `json:"path"`
	SHA256    string `json:"sha256"`
	SizeBytes int64  `json:"size_bytes"`
}

// CreateArtifact calls artifact.create.
func (c *Context) CreateArtifact(a Artifact) (ArtifactRef, error) {
	var ref ArtifactRef
	err := c.Call("artifact.create", a, &ref)
	return ref, err
}
