package fs

import (
	"context"
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
	// maxHashed is the size up to which a file is noted by its digest, and not by its
	// version, which costs no reading of what is not returned.
	maxHashed = 16 << 20
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
	ArtifactID  string  `json:"artifact_id,omitempty"`
}

func readEffects(in readInput) ([]permission.Effect, error) {
	if in.Encoding == "base64" && (in.OffsetLines != 0 || in.LimitLines != 0) {
		return nil, fault.New(fault.InvalidInput, "line_range", "base64 content has no lines: leave out offset_lines and limit_lines")
	}
	if in.Pages != "" {
		if _, err := parsePages(in.Pages); err != nil {
			return nil, err
		}
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
		return nil, fault.IO("reading "+file.Name(), err)
	}
	r := &reading{access: access, file: file, in: in, head: head[:n], media: mediatype.Detect(file.Name(), head[:n]), out: readOutput{Path: file.Name()}}
	r.out.ContentType = contentType(r.media, r.head)
	if err := r.checkPages(); err != nil {
		return nil, err
	}
	if err := r.readNoted(ctx, file); err != nil {
		return nil, err
	}
	return r.out, nil
}

// contentType is the seed's word for content of a media type that begins with head.
func contentType(media string, head []byte) string {
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
	access *runtime.Access
	file   runtime.File
	in     readInput
	head   []byte
	media  string
	out    readOutput
}

func (r *reading) checkPages() error {
	switch {
	case r.in.Pages == "":
		return nil
	case r.out.ContentType != "pdf":
		return fault.New(fault.InvalidInput, "pages", "%s is no PDF: pages do not apply (content type %s)", r.out.Path, r.out.ContentType)
	case r.in.Encoding == "base64" || r.in.Encoding == "utf8":
		return fault.New(fault.InvalidInput, "pages", "pages are taken out of a PDF as text: leave out encoding, or pages")
	}
	return nil
}

// readNoted takes the result from the file, and notes the file as seen.
func (r *reading) readNoted(ctx context.Context, file runtime.File) error {
	info, err := file.Stat()
	if err != nil {
		return fault.IO("reading "+file.Name(), err)
	}
	version := ""
	switch {
	case info.Size() > maxEdited: // it does not count as seen
		return r.fill(ctx, file)
	case info.Size() > maxHashed:
		if version, err = file.Version(); err != nil {
			return err
		}
	}
	if version == "" {
		return r.readHashed(ctx, file)
	}
	if err := r.fill(ctx, file); err != nil {
		return err
	}
	after, err := file.Version()
	if err != nil || after != version { // it changed meanwhile
		return err
	}
	return r.access.NoteRead(ctx, r.in.Path, version)
}

// readHashed notes the digest: of the bytes from which the result was taken, read once.
func (r *reading) readHashed(ctx context.Context, file runtime.File) error {
	content := newSeen(file)
	if err := r.fill(ctx, content); err != nil {
		return err
	}
	sum, err := content.rest(ctx, maxEdited)
	if err != nil || content.size > maxEdited { // it grew
		return err
	}
	return r.access.NoteRead(ctx, r.in.Path, sum)
}
