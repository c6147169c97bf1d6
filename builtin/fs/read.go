package fs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/mediatype"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

const (
	defaultLines = 2000
	// maxInline bounds the content in a result.
	maxInline = 256 << 10
	// maxNoted is the size up to which a file that was read counts as seen: larger
	// ones are not read as a whole only to know their digest.
	maxNoted = 16 << 20
)

type readInput struct {
	Path        string `json:"path"`
	OffsetLines int    `json:"offset_lines"` // lines to skip
	LimitLines  int    `json:"limit_lines"`  // 0: the default
	Pages       string `json:"pages"`
	Encoding    string `json:"encoding"` // "": auto
}

type readOutput struct {
	Path        string  `json:"path"`
	Content     *string `json:"content,omitempty"`
	ContentType string  `json:"content_type"`
	LineCount   *int    `json:"line_count,omitempty"`
	Truncated   bool    `json:"truncated"`
}

func readEffects(in readInput) ([]permission.Effect, error) {
	if in.Encoding == "base64" && (in.OffsetLines != 0 || in.LimitLines != 0) {
		return nil, fault.New(fault.InvalidInput, "line_range", "base64 content has no lines: leave out offset_lines and limit_lines")
	}
	return readOf(in.Path), nil
}

func read(ctx context.Context, access *runtime.Access, in readInput) (any, error) {
	file, err := access.Files.Open(in.Path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	head := make([]byte, mediatype.HeadBytes)
	n, err := file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, fault.New(fault.Unavailable, "io", "reading %s: %w", file.Name(), err)
	}
	r := &reading{in: in, head: head[:n], out: readOutput{Path: file.Name(), ContentType: contentType(file.Name(), head[:n])}}
	if err := r.checkPages(); err != nil {
		return nil, err
	}
	content, err := r.source(ctx, access, file)
	if err != nil {
		return nil, err
	}
	if err := r.fill(ctx, content); err != nil {
		return nil, err
	}
	return r.out, nil
}

// contentType is the seed's word for content that begins with head.
func contentType(name string, head []byte) string {
	media := mediatype.Detect(name, head)
	switch {
	case len(head) == 0:
		return "empty"
	case media == mediatype.Notebook:
		return "notebook"
	case media == "application/pdf":
		return "pdf"
	case mediatype.IsText(head):
		return "text"
	case strings.HasPrefix(media, "image/"):
		return "image"
	}
	return "binary"
}

// reading is one file on its way into a result.
type reading struct {
	in   readInput
	head []byte
	out  readOutput
}

func (r *reading) checkPages() error {
	switch {
	case r.in.Pages == "":
		return nil
	case r.out.ContentType != "pdf":
		return fault.New(fault.InvalidInput, "pages", "%s is no PDF: pages do not apply (content type %s)", r.out.Path, r.out.ContentType)
	}
	return fault.New(fault.Unavailable, "pdf_pages", "%s: this version of air takes no pages out of a PDF", r.out.Path).
		WithHint("encoding base64 returns the bytes of the file")
}

// source is the content to take the result from. A file that its reader may edit later
// is read as a whole: what was returned and what was noted as seen are then the same.
func (r *reading) source(ctx context.Context, access *runtime.Access, file runtime.File) (io.Reader, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, fault.New(fault.Unavailable, "io", "reading %s: %w", file.Name(), err)
	}
	if !access.Direct() || info.Size() > maxNoted {
		return file, nil
	}
	content, err := io.ReadAll(io.LimitReader(file, maxNoted+1))
	if err != nil {
		return nil, fault.New(fault.Unavailable, "io", "reading %s: %w", file.Name(), err)
	}
	if len(content) > maxNoted { // it grew
		return io.MultiReader(bytes.NewReader(content), file), nil
	}
	sum := sha256.Sum256(content)
	return bytes.NewReader(content), access.NoteRead(ctx, r.in.Path, hex.EncodeToString(sum[:]))
}

func (r *reading) fill(ctx context.Context, content io.Reader) error {
	switch {
	case r.in.Encoding == "base64":
		return r.fillBase64(content)
	case r.in.Encoding == "utf8" && !mediatype.IsText(r.head):
		return r.notUTF8()
	case r.in.Encoding != "utf8" && r.out.ContentType != "text" && r.out.ContentType != "empty":
		return nil
	}
	return r.fillLines(ctx, content)
}

func (r *reading) fillBase64(content io.Reader) error {
	const most = maxInline / 4 * 3
	raw, err := io.ReadAll(io.LimitReader(content, most+1))
	if err != nil {
		return fault.New(fault.Unavailable, "io", "reading %s: %w", r.out.Path, err)
	}
	r.out.Truncated = len(raw) > most
	text := base64.StdEncoding.EncodeToString(raw[:min(len(raw), most)])
	r.out.Content = &text
	return nil
}

func (r *reading) fillLines(ctx context.Context, content io.Reader) error {
	limit := r.in.LimitLines
	if limit == 0 {
		limit = defaultLines
	}
	found, err := cutLines(ctx, content, r.in.OffsetLines, limit)
	if err != nil {
		return fault.New(fault.Unavailable, "io", "reading %s: %w", r.out.Path, err)
	}
	if !found.isText() {
		if r.in.Encoding == "utf8" {
			return r.notUTF8()
		}
		r.out.ContentType = "binary"
		return nil
	}
	text := string(found.text)
	r.out.Content, r.out.LineCount, r.out.Truncated = &text, &found.count, found.more
	return nil
}

func (r *reading) notUTF8() error {
	return fault.New(fault.InvalidInput, "not_utf8", "%s is not UTF-8 text (content type %s)", r.out.Path, r.out.ContentType).
		WithHint("encoding base64 returns the bytes of any file")
}
