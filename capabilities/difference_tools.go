package capabilities

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// compareTools compares tools by their names. A new tool is something more, as is a new
// flag of one.
func compareTools(ctx context.Context, t *textDiff, before, after Side) (lines, more []string) {
	for _, tool := range after.Manifest.Tools {
		old, had := before.Manifest.Tool(tool.Name)
		if !had {
			more = append(more, "the tool "+shown(tool.Name)+", which may: "+strings.Join(flagWords(tool.Permissions, after.Manifest.abi()), ", "))
			lines = append(lines, "+ "+shown(tool.Name))
			lines = append(lines, indented(compareTool(ctx, t, ToolDeclaration{}, tool))...)
			continue
		}
		if changed := compareTool(ctx, t, old, tool); len(changed) > 0 {
			lines = append(append(lines, "~ "+shown(tool.Name)), indented(changed)...)
		}
		for _, flag := range newIn(toolFlags(old.Permissions), toolFlags(tool.Permissions)) {
			more = append(more, "the tool "+shown(tool.Name)+" may: "+flag)
		}
	}
	for _, tool := range before.Manifest.Tools {
		if _, has := after.Manifest.Tool(tool.Name); !has {
			lines = append(lines, "- "+shown(tool.Name))
		}
	}
	if len(lines) == 0 && !slices.Equal(before.Manifest.ToolNames(), after.Manifest.ToolNames()) {
		lines = []string{"~ the same tools in another order"}
	}
	return lines, more
}

func compareTool(ctx context.Context, t *textDiff, b, a ToolDeclaration) []string {
	var lines []string
	lines = append(lines, t.value(ctx, "description", b.Description, a.Description)...)
	lines = append(lines, t.value(ctx, "version", number(b.Version), number(a.Version))...)
	lines = append(lines, t.value(ctx, "category", b.Category, a.Category)...)
	lines = appendSet(lines, "may: ", toolFlags(b.Permissions), toolFlags(a.Permissions))
	lines = append(lines, t.value(ctx, "streaming", yesNo(b.Streaming), yesNo(a.Streaming))...)
	lines = append(lines, t.value(ctx, "title, which is a claim", b.Annotations.Title, a.Annotations.Title)...)
	lines = appendSet(lines, "claims: ", claims(b.Annotations), claims(a.Annotations))
	lines = append(lines, t.json(ctx, "input schema", b.InputSchema, a.InputSchema)...)
	return append(lines, t.json(ctx, "output schema", b.OutputSchema, a.OutputSchema)...)
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

func toolFlags(p ToolPermissions) []string {
	if p == (ToolPermissions{}) {
		return nil
	}
	return flagWords(p, "air.v1")
}

func claims(a Annotations) []string {
	a.Title = ""
	return annotationWords(a)
}

func newIn(was, is []string) []string {
	return slices.DeleteFunc(slices.Clone(is), func(s string) bool { return slices.Contains(was, s) })
}

// json lists the change of a JSON document, one value on a line.
func (t *textDiff) json(ctx context.Context, name string, before, after json.RawMessage) []string {
	if bytes.Equal(before, after) {
		return nil
	}
	b, a := spread(before), spread(after)
	if b == a {
		return []string{"~ " + name + " is written differently and means the same"}
	}
	return append([]string{"~ " + name}, indented(t.lines(ctx, b, a))...)
}

// spread writes a document with one value on a line and its keys in order.
func spread(doc json.RawMessage) string {
	if len(doc) == 0 {
		return ""
	}
	var b bytes.Buffer
	if err := json.Indent(&b, canonicalOr(doc), "", "  "); err != nil {
		return string(doc)
	}
	return b.String() + "\n"
}
