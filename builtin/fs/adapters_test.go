package fs_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os/exec"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
)

func TestReadImages(t *testing.T) {
	r := rig.New(t, rig.Options{})
	picture := image.NewPaletted(image.Rect(0, 0, 37, 23), []color.Color{color.Black, color.White})
	var asPNG, asJPEG, asGIF bytes.Buffer
	must(t, png.Encode(&asPNG, picture))
	must(t, jpeg.Encode(&asJPEG, picture, nil))
	must(t, gif.Encode(&asGIF, picture, nil))
	// What cameras write in front: 100 KB of segments that say nothing of the size.
	segment := append([]byte{0xff, 0xe2, 0xc3, 0x52}, make([]byte, 0xc350)...)
	long := append(append(append([]byte{}, asJPEG.Bytes()[:2]...), bytes.Repeat(segment, 2)...), asJPEG.Bytes()[2:]...)
	riff := func(chunk string, rest ...byte) string {
		return "RIFF\x40\x00\x00\x00WEBP" + chunk + "\x10\x00\x00\x00" + string(rest) + strings.Repeat("\x00", 20)
	}
	dib := binary.LittleEndian.AppendUint32([]byte("BM\x00\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00"), 40)
	dib = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(dib, 37), ^uint32(22)) // -23: the upper line first
	dib = append(dib, make([]byte, 60)...)
	for name, c := range map[string]struct{ bytes, want string }{
		"a.png":      {asPNG.String(), `{"format":"png","width":37,"height":23}`},
		"a.jpg":      {asJPEG.String(), `{"format":"jpeg","width":37,"height":23}`},
		"long.jpg":   {string(long), `{"format":"jpeg","width":37,"height":23}`},
		"a.gif":      {asGIF.String(), `{"format":"gif","width":37,"height":23}`},
		"lossy.webp": {riff("VP8 ", 0, 0, 0, 0x9d, 1, 0x2a, 37, 0, 23, 0x40), `{"format":"webp","width":37,"height":23}`},
		"exact.webp": {riff("VP8L", 0x2f, 36, 0x80, 5, 0), `{"format":"webp","width":37,"height":23}`},
		"more.webp":  {riff("VP8X", 0, 0, 0, 0, 36, 0, 0, 22, 0, 0), `{"format":"webp","width":37,"height":23}`},
		"a.bmp":      {string(dib), `{"format":"bmp","width":37,"height":23}`},
		"cut.gif":    {"GIF89a\x01\x00", `{"format":"gif"}`},
		"bad.png":    {"\x89PNG\r\n\x1a\n" + strings.Repeat("\xff", 5000), `{"format":"png"}`},
		"a.tif":      {"II*\x00\x08\x00\x00\x00\x00\x00", `{"format":"tiff"}`},
	} {
		r.Put(name, c.bytes)
		var got readOutput
		r.Must("fs.read", object{"path": name}, &got)
		if got.ContentType != "image" || got.Content == nil || *got.Content != c.want || got.Truncated {
			t.Errorf("%s: %s, want %s", name, r.JSON(got), c.want)
		}
	}
}

func TestReadNotebook(t *testing.T) {
	r := rig.New(t, rig.Options{})
	image, long := strings.Repeat("iVBO", 1000), strings.Repeat("ü", 5000)
	book, err := json.Marshal(object{"nbformat": 4, "nbformat_minor": 5, "metadata": object{}, "cells": []object{
		{"cell_type": "markdown", "source": []string{"# Title\n", "words"}, "metadata": object{}},
		{"cell_type": "code", "execution_count": 3, "source": "print(1)\nplot()", "outputs": []object{
			{"output_type": "stream", "name": "stdout", "text": []string{"1\n"}},
			{"output_type": "display_data", "data": object{"text/plain": "<Figure>", "image/png": image}},
			{"output_type": "execute_result", "data": object{"text/plain": long, "application/json": object{"a": 1}}},
			{"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": []string{"\x1b[0;31mValueError\x1b[0m: no"}},
		}},
		{"cell_type": "code", "execution_count": nil, "source": []string{}, "outputs": []object{}},
	}})
	must(t, err)
	r.Put("book.ipynb", string(book))
	want := "[cell 0: markdown]\n# Title\nwords\n[cell 1: code, execution 3]\nprint(1)\nplot()\n" +
		"[output: stdout]\n1\n[output: image/png, 4002 bytes, not shown]\n[output: text/plain]\n<Figure>\n" +
		"[output: application/json, 7 bytes, not shown]\n[output: text/plain]\n" + strings.Repeat("ü", 4096) + "\n[1808 more bytes]\n" +
		"[output: error ValueError: no]\nValueError: no\n[cell 2: code]\n"
	var got readOutput
	r.Must("fs.read", object{"path": "book.ipynb"}, &got)
	if got.ContentType != "notebook" || *got.Content != want || *got.LineCount != 18 || got.Truncated {
		t.Errorf("%q\nwant %q (%d lines)", *got.Content, want, *got.LineCount)
	}
	r.Must("fs.read", object{"path": "book.ipynb", "offset_lines": 1, "limit_lines": 2}, &got)
	if *got.Content != "# Title\nwords\n" || !got.Truncated {
		t.Errorf("%q", *got.Content)
	}
	for _, malformed := range []string{"{", "{}", `{"cells": null}`, `{"cells": [{"source": 1}]}`, `{"worksheets": []}`} {
		r.Put("bad.ipynb", malformed)
		r.Must("fs.read", object{"path": "bad.ipynb"}, &got)
		if got.ContentType != "text" || *got.Content != malformed {
			t.Errorf("%s: %s", malformed, r.JSON(got))
		}
	}
}

// makePDF writes a PDF with one line of text on each page.
func makePDF(pages int) string {
	var b strings.Builder
	var offsets []int
	object := func(format string, args ...any) {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", len(offsets), fmt.Sprintf(format, args...))
	}
	b.WriteString("%PDF-1.4\n")
	object("<< /Type /Catalog /Pages 2 0 R >>")
	var kids strings.Builder
	for i := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", 4+2*i)
	}
	object("<< /Type /Pages /Count %d /Kids [%s] >>", pages, kids.String())
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
	for i := range pages {
		text := fmt.Sprintf("BT /F1 24 Tf 72 700 Td (Words of page %d) Tj ET", i+1)
		object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> >> >>", 5+2*i)
		object("<< /Length %d >>\nstream\n%s\nendstream", len(text), text)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, start)
	return b.String()
}

func TestReadPDF(t *testing.T) {
	for _, program := range []string{"pdftotext", "pdfinfo"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("needs the Debian package poppler-utils")
		}
	}
	r := rig.New(t, rig.Options{})
	r.Put("short.pdf", makePDF(3))
	r.Put("long.pdf", makePDF(25))
	r.Put("damaged.pdf", "%PDF-1.7\nnothing more\n")
	text := func(pages ...int) string {
		var b strings.Builder
		for _, page := range pages {
			fmt.Fprintf(&b, "[page %d]\n      Words of page %d\n", page, page)
		}
		return b.String()
	}
	twenty := make([]int, 20)
	for i := range twenty {
		twenty[i] = i + 1
	}
	for _, c := range []struct {
		name, pages string
		want        string
		more        bool
	}{
		{"short.pdf", "", text(1, 2, 3), false},
		{"short.pdf", "2", text(2), false},
		{"short.pdf", "2-", text(2, 3), false},
		{"short.pdf", "1-9", text(1, 2, 3), false},
		{"long.pdf", "", text(twenty...), true},
		{"long.pdf", "24-25, 3", text(24, 25, 3), false},
	} {
		var got readOutput
		input := object{"path": c.name}
		if c.pages != "" {
			input["pages"] = c.pages
		}
		r.Must("fs.read", input, &got)
		content := strings.Join(strings.Fields(*got.Content), " ")
		if want := strings.Join(strings.Fields(c.want), " "); got.ContentType != "pdf" || content != want || got.Truncated != c.more {
			t.Errorf("%s %s: %q truncated %v", c.name, c.pages, *got.Content, got.Truncated)
		}
	}
	failed(t, r.Call("fs.read", object{"path": "short.pdf", "pages": "4"}), fault.InvalidInput, "pages")
	failed(t, r.Call("fs.read", object{"path": "damaged.pdf"}), fault.InvalidInput, "bad_pdf")
}
