package capabilities

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/aircoding/air/internal/mediatype"
	"github.com/aircoding/air/oci"
)

// maxDiffed is the size up to which a file is read to list its changed lines.
const maxDiffed = 1 << 20

// compareFiles compares the module and the files by their digests, and texts line by line.
func compareFiles(ctx context.Context, t *textDiff, before, after Side) (lines, more []string) {
	if before.ModuleSHA256 != after.ModuleSHA256 {
		lines = append(lines, "~ the module: other code", "  - "+moduleWords(before.Bundle), "  + "+moduleWords(after.Bundle))
	}
	was, is := filesOf(before.Bundle), filesOf(after.Bundle)
	for _, name := range slices.Sorted(maps.Keys(is)) {
		fresh := is[name]
		old, had := was[name]
		switch {
		case had && old.Digest == fresh.Digest:
		case had:
			lines = append(lines, "~ "+shown(name))
			lines = append(lines, indented(t.file(ctx, &old, fresh))...)
		default:
			lines = append(lines, "+ "+shown(name)+" "+fileWords(fresh))
			lines = append(lines, indented(t.file(ctx, nil, fresh))...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if _, has := is[name]; !has {
			lines = append(lines, "- "+shown(name)+" "+fileWords(was[name]))
		}
	}
	return lines, nil
}

// filesOf are the files of a bundle but for its module.
func filesOf(b *Bundle) map[string]oci.Layer {
	all := map[string]oci.Layer{}
	for i, l := range b.layers {
		if i > 0 {
			all[l.Title] = l
		}
	}
	return all
}

func moduleWords(b *Bundle) string {
	if len(b.layers) == 0 {
		return "sha256:" + b.ModuleSHA256
	}
	return fmt.Sprintf("sha256:%s, %s", b.ModuleSHA256, bytesWord(b.layers[0].Size))
}

func fileWords(l oci.Layer) string { return fmt.Sprintf("(%s, %s)", bytesWord(l.Size), l.Digest) }

// file lists the changed lines of a text, and of anything else its digests.
func (t *textDiff) file(ctx context.Context, old *oci.Layer, fresh oci.Layer) []string {
	var digests []string
	before := ""
	readable := true
	if old != nil {
		digests = []string{"- " + fileWords(*old), "+ " + fileWords(fresh)}
		before, readable = textOf(*old)
	}
	after, alsoReadable := textOf(fresh)
	if !readable || !alsoReadable {
		return append(digests, "~ it is no text, or longer than "+bytesWord(maxDiffed)+": what is in it is not listed")
	}
	return append(digests, t.lines(ctx, before, after)...)
}

// textOf reads a file that is text. One that cannot be read now was read a moment ago.
func textOf(l oci.Layer) (string, bool) {
	if l.Size > maxDiffed || l.Open == nil {
		return "", false
	}
	content, err := readLayer(l)
	if err != nil || int64(len(content)) != l.Size || !mediatype.IsText(content) {
		return "", false
	}
	return string(content), true
}
