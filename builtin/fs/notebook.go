package fs

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/aircoding/air/internal/text"
)

const (
	// maxNotebook bounds a notebook that is shown as cells, in bytes.
	maxNotebook = 16 << 20
	// maxCellOutput bounds what is shown of one output of a cell, in bytes.
	maxCellOutput = 8 << 10
	// maxMediaTypes bounds in how many of them one output is shown.
	maxMediaTypes = 100
)

// notebook is what is read of nbformat 4: https://nbformat.readthedocs.io
type notebook struct {
	Cells *cells `json:"cells"`
}

// cells are rendered one by one: what is held is in proportion to what is shown.
type cells struct {
	shown strings.Builder
	count int
}

type cell struct {
	Type    string  `json:"cell_type"`
	Source  pieces  `json:"source"`
	Count   *int    `json:"execution_count"`
	Outputs outputs `json:"outputs"`
}

// outputs are rendered one by one too.
type outputs struct{ strings.Builder }

type cellOutput struct {
	Type      string `json:"output_type"`
	Name      string `json:"name"` // of a stream
	Text      pieces `json:"text"`
	Data      bundle `json:"data"`
	Error     string `json:"ename"`
	Value     string `json:"evalue"`
	Traceback trace  `json:"traceback"`
}

// bundle is an output by media type.
type bundle map[string]json.RawMessage

// pieces are a text, or a list of its pieces.
type pieces string

// trace is a text in lines.
type trace string

// renderNotebook shows cells with their sources and what they put out, as text. ok is
// false for what is no notebook in a form that is known.
func renderNotebook(content []byte) (rendered string, ok bool) {
	var n notebook
	if json.Unmarshal(content, &n) != nil || n.Cells == nil {
		return "", false
	}
	return strings.ToValidUTF8(n.Cells.shown.String(), "\ufffd"), true
}

func (c *cell) counted() string {
	if c.Count == nil {
		return ""
	}
	return fmt.Sprintf(", execution %d", *c.Count)
}

func (o *cellOutput) render(b *strings.Builder) {
	switch {
	case o.Type == "stream":
		fmt.Fprintf(b, "[output: %s]\n", o.Name)
		line(b, shortened(string(o.Text)))
	case o.Type == "error":
		fmt.Fprintf(b, "[output: error %s: %s]\n", text.Head(o.Error, 200), text.Head(o.Value, 1000))
		line(b, shortened(escapes.ReplaceAllString(string(o.Traceback), "")))
	default:
		for _, media := range slices.Sorted(maps.Keys(o.Data)) {
			o.renderData(b, media)
		}
	}
}

// renderData shows plain text, and names everything else: pictures, pages, widgets.
func (o *cellOutput) renderData(b *strings.Builder, media string) {
	var shown pieces
	if media == "text/plain" && json.Unmarshal(o.Data[media], &shown) == nil {
		fmt.Fprintf(b, "[output: %s]\n", media)
		line(b, shortened(string(shown)))
		return
	}
	fmt.Fprintf(b, "[output: %s, %d bytes, not shown]\n", text.Head(media, 100), len(o.Data[media]))
}

// escapes are the colours of a terminal.
var escapes = regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`)

func shortened(s string) string {
	head := text.Head(s, maxCellOutput)
	if len(head) == len(s) {
		return s
	}
	return fmt.Sprintf("%s\n[%d more bytes]", head, len(s)-len(head))
}

// line writes a text and ends its last line; nothing for none.
func line(b *strings.Builder, s string) {
	b.WriteString(s)
	if s != "" && !strings.HasSuffix(s, "\n") {
		b.WriteByte('\n')
	}
}
