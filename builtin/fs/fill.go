package fs

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"path"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/mediatype"
	"github.com/aircoding/air/runtime/artifact"
)

// fill makes the result of the content, each sort in its way.
func (r *reading) fill(ctx context.Context, content io.Reader) error {
	switch {
	case r.in.Encoding == "base64":
		return r.fillBase64(ctx, content)
	case r.in.Encoding == "utf8" && !mediatype.IsText(r.head):
		return r.notUTF8()
	case r.in.Encoding == "utf8":
		return r.fillLines(ctx, content)
	}
	switch r.out.ContentType {
	case "text", "empty":
		return r.fillLines(ctx, content)
	case "image":
		return r.fillImage(content)
	case "pdf":
		return r.fillPDF(ctx, content)
	case "notebook":
		return r.fillNotebook(ctx, content)
	}
	return nil
}

func (r *reading) fillImage(content io.Reader) error {
	described, err := describeImage(r.media, content)
	r.out.Content = &described
	return err
}

func (r *reading) fillPDF(ctx context.Context, content io.Reader) error {
	raw, err := wholePDF(r.out.Path, content)
	if err != nil {
		return err
	}
	pages, more, err := pdf{access: r.access, shown: r.out.Path, content: raw}.text(ctx, r.in.Pages)
	if err != nil {
		return err
	}
	err = r.fillLines(ctx, bytes.NewReader(pages))
	r.out.Truncated = r.out.Truncated || more
	return err
}

// fillNotebook shows the cells. What is not in the form of a notebook is text like any.
func (r *reading) fillNotebook(ctx context.Context, content io.Reader) error {
	raw, err := io.ReadAll(io.LimitReader(content, maxNotebook+1))
	if err != nil {
		return fault.IO("reading "+r.out.Path, err)
	}
	if len(raw) <= maxNotebook {
		if rendered, ok := renderNotebook(raw); ok {
			return r.fillLines(ctx, strings.NewReader(rendered))
		}
	}
	r.out.ContentType = "text"
	return r.fillLines(ctx, io.MultiReader(bytes.NewReader(raw), content))
}

func (r *reading) fillBase64(ctx context.Context, content io.Reader) error {
	const most = maxInline / 4 * 3
	raw, err := io.ReadAll(io.LimitReader(content, most+1))
	if err != nil {
		return fault.IO("reading "+r.out.Path, err)
	}
	r.out.Truncated = len(raw) > most
	text := base64.StdEncoding.EncodeToString(raw[:min(len(raw), most)])
	r.out.Content = &text
	if r.out.Truncated {
		return r.keepWhole(ctx)
	}
	return nil
}

// keepWhole has an artifact hold the file: where no other read gets at what was not
// returned, artifact.read does. What is too large for that, or for the call, has none.
func (r *reading) keepWhole(ctx context.Context) error {
	info, err := r.file.Stat()
	if err != nil {
		return fault.IO("reading "+r.out.Path, err)
	}
	if info.Size() > maxEdited {
		return nil
	}
	record, err := r.access.Artifacts.Keep(ctx, artifact.New{
		Type: "file", Name: path.Base(r.out.Path), MediaType: r.media, EntityType: "file", EntityID: r.out.Path,
	}, io.NewSectionReader(r.file, 0, info.Size()))
	if fault.Is(err, fault.ResourceExhausted) {
		return nil
	}
	r.out.ArtifactID = record.ID
	return err
}

func (r *reading) fillLines(ctx context.Context, content io.Reader) error {
	limit := r.in.LimitLines
	if limit == 0 {
		limit = defaultLines
	}
	found, err := cutLines(ctx, content, r.in.OffsetLines, limit)
	if err != nil {
		return fault.IO("reading "+r.out.Path, err)
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
	if found.part && (r.out.ContentType == "text" || r.in.Encoding == "utf8") {
		return r.keepWhole(ctx)
	}
	return nil
}

func (r *reading) notUTF8() error {
	return fault.New(fault.InvalidInput, "not_utf8", "%s is not UTF-8 text (content type %s)", r.out.Path, r.out.ContentType).
		WithHint("encoding base64 returns the bytes of any file")
}
