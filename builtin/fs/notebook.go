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
)

// notebook is what is read of nbformat 4: https://nbformat.readthedocs.io
type notebook struct {
	Cells  []cell `json:"cells"`
	Format int    `json:"nbformat"`
}

type cell struct {
	Type    string       `json:"cell_type"`
	Source  pieces       `json:"source"`
	Count   *int         `json:"execution_count"`
	Outputs []cellOutput `json:"outputs"`
}

type cellOutput struct {
	Type      string                     `json:"output_type"`
	Name      string                     `json:"name"` // of a stream
	Text      pieces                     `json:"text"`
	Data      map[string]json.RawMessage `json:"data"` // by media type
	Error     string                     `json:"ename"`
	Value     string                     `json:"evalue"`
	Traceback []string                   `json:"traceback"`
}

// pieces are a text, or a list of its pieces.
type pieces string

func (p *pieces) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*p = pieces(one)
		return nil
	}
	var many []string
	err := json.Unmarshal(raw, &many)
	*p = pieces(strings.Join(many, ""))
	return err
}

// renderNotebook shows cells with their sources and what they put out, as text. ok is
// false for what is no notebook in a form that is known.
func renderNotebook(content []byte) (rendered string, ok bool) {
	var n notebook
	if json.Unmarshal(content, &n) != nil || n.Cells == nil {
		return "", false
	}
	var b strings.Builder
	for i, c := range n.Cells {
		fmt.Fprintf(&b, "[cell %d: %s%s]\n", i, c.Type, c.counted())
		line(&b, string(c.Source))
		for _, o := range c.Outputs {
			o.render(&b)
		}
	}
	return strings.ToValidUTF8(b.String(), "\ufffd"), true
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
		line(b, shortened(escapes.ReplaceAllString(strings.Join(o.Traceback, "\n"), "")))
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
