package fs

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/runtime"
)

const (
	// maxPDF bounds a PDF of which text is taken, in bytes.
	maxPDF = 128 << 20
	// maxPDFPages is how many pages are returned where none are named.
	maxPDFPages = 20
	// maxPDFText bounds the text of a range of pages, in bytes.
	maxPDFText = 8 << 20
	// maxPageRanges bounds how many ranges of pages one call names.
	maxPageRanges = 16
)

// pageRange is a run of pages counted from 1; a last of 0 is the end.
type pageRange struct{ first, last int }

// parsePages reads "3", "1-5", "2-" and lists of these.
func parsePages(pages string) ([]pageRange, error) {
	var all []pageRange
	for part := range strings.SplitSeq(pages, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		r := pageRange{}
		var err, lastErr error
		r.first, err = strconv.Atoi(from)
		switch {
		case !isRange:
			r.last = r.first
		case to != "":
			if r.last, lastErr = strconv.Atoi(to); r.last < r.first {
				lastErr = strconv.ErrRange
			}
		}
		if err != nil || lastErr != nil || r.first < 1 || len(all) == maxPageRanges {
			return nil, fault.New(fault.InvalidInput, "pages", "pages %.80q: write a page such as 3, a range such as 1-5 or 2-, or at most %d of them with commas", pages, maxPageRanges)
		}
		all = append(all, r)
	}
	return all, nil
}

// pdf is a PDF on its way into text, which programs behind the sandbox make of it: what
// reads a file from elsewhere may be led astray by it.
type pdf struct {
	access  *runtime.Access
	shown   string
	content []byte
}

// text returns the text of the pages, each under its number. more is true where nobody
// named pages and there are others, or the text is cut.
func (p pdf) text(ctx context.Context, pages string) (out []byte, more bool, err error) {
	count, err := p.count(ctx)
	if err != nil {
		return nil, false, err
	}
	ranges := []pageRange{{1, min(count, maxPDFPages)}}
	if more = count > maxPDFPages; pages != "" {
		more = false
		if ranges, err = parsePages(pages); err != nil {
			return nil, false, err
		}
	}
	var b bytes.Buffer
	for _, r := range ranges {
		if r.first > count {
			return nil, false, fault.New(fault.InvalidInput, "pages", "%s has %d pages, page %d is none of them", p.shown, count, r.first)
		}
		if r.last == 0 || r.last > count {
			r.last = count
		}
		cut, err := p.appendPages(ctx, &b, r)
		if more = more || cut; err != nil || cut {
			return b.Bytes(), more, err
		}
	}
	return b.Bytes(), more, nil
}

// count asks pdfinfo how many pages there are.
func (p pdf) count(ctx context.Context) (int, error) {
	out, _, err := p.run(ctx, "pdfinfo", "-")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(out)) {
		if number, ok := strings.CutPrefix(line, "Pages:"); ok {
			if n, err := strconv.Atoi(strings.TrimSpace(number)); err == nil && n > 0 {
				return n, nil
			}
		}
	}
	return 0, badPDF(p.shown, "it has no pages")
}

func (p pdf) appendPages(ctx context.Context, b *bytes.Buffer, r pageRange) (cut bool, err error) {
	out, cut, err := p.run(ctx, "pdftotext", "-q", "-enc", "UTF-8", "-eol", "unix", "-layout", "-f", strconv.Itoa(r.first), "-l", strconv.Itoa(r.last), "-", "-")
	if err != nil {
		return false, err
	}
	texts := bytes.Split(bytes.TrimSuffix(out, []byte{'\f'}), []byte{'\f'})
	for i, page := range texts {
		fmt.Fprintf(b, "[page %d]\n%s\n", r.first+i, bytes.TrimRight(bytes.ToValidUTF8(bytes.ReplaceAll(page, []byte{0}, nil), []byte("\ufffd")), " \n"))
	}
	return cut || b.Len() > maxPDFText, nil
}

// run has a program of Poppler read the PDF on its standard input.
func (p pdf) run(ctx context.Context, argv ...string) (out []byte, cut bool, err error) {
	stdout, stderr := head{most: maxPDFText}, head{most: 4 << 10}
	ended, err := p.access.Commands.Program(ctx, runtime.Program{
		Argv: argv, Stdin: bytes.NewReader(p.content), Stdout: &stdout, Stderr: &stderr, Package: "poppler-utils",
	})
	switch {
	case err != nil:
		return nil, false, err
	case ended.OutOfMemory:
		return nil, false, fault.New(fault.ResourceExhausted, "memory", "%s: %s needs more memory than it may have", p.shown, argv[0])
	case ended.Code != 0:
		return nil, false, badPDF(p.shown, strings.TrimSpace(text.Head(string(stderr.kept), 300)))
	}
	return stdout.kept, stdout.cut, nil
}

func badPDF(shown, why string) error {
	if why == "" {
		why = "it is damaged, or locked with a password"
	}
	return fault.New(fault.InvalidInput, "bad_pdf", "%s cannot be read as a PDF: %s", shown, why).
		WithHint("encoding base64 returns the bytes of any file")
}

// head keeps the first bytes that are written to it.
type head struct {
	kept []byte
	most int
	cut  bool
}

func (h *head) Write(p []byte) (int, error) {
	room := h.most - len(h.kept)
	h.kept = append(h.kept, p[:min(len(p), room)]...)
	h.cut = h.cut || len(p) > room
	return len(p), nil
}

// wholePDF reads a PDF up to what text is taken of.
func wholePDF(shown string, content io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(content, maxPDF+1))
	if err != nil {
		return nil, fault.IO("reading "+shown, err)
	}
	if len(raw) > maxPDF {
		return nil, fault.New(fault.ResourceExhausted, "file_size", "%s is larger than %d bytes: no text is taken of it", shown, maxPDF).
			WithHint("encoding base64 returns its beginning")
	}
	return raw, nil
}
