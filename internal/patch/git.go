package patch

import (
	"io/fs"
	"strconv"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/text"
)

// gitHeader is what git says of a file before its hunks.
type gitHeader struct {
	both              string // the name of both sides in the first line, "" where they are not the same
	old, fresh        string // names stated
	oldNull, newNull  bool
	created, deleted  bool
	renamed, copied   bool
	oldMode, mode     fs.FileMode
	binary, namesSeen bool
}

// gitFile reads a file as git writes it.
func (p *parser) gitFile() error {
	start := p.at
	header := strings.TrimSuffix(p.line(0)[len("diff --git "):], "\r")
	p.lost = nil
	h := gitHeader{both: p.sameName(header)}
	p.at++
	for known := true; known && p.at < len(p.lines); {
		var err error
		if known, err = p.gitLine(&h, strings.TrimSuffix(p.line(0), "\r")); err != nil {
			return err
		}
	}
	if h.binary {
		return binary(orFirst(h, header))
	}
	f, err := p.gitKind(&h, start)
	if err != nil {
		return err
	}
	if err := p.hunksOf(&f); err != nil {
		return err
	}
	if len(f.Hunks) == 0 && (h.namesSeen || f.Kind == Modify && f.Mode == 0) {
		return badAt(start, "%s: the patch says nothing of what changes", f.Name())
	}
	return p.add(f)
}

func orFirst(h gitHeader, header string) string {
	for _, name := range []string{h.fresh, h.old, h.both} {
		if name != "" {
			return text.Head(name, shownText)
		}
	}
	return text.Head(header, shownText)
}

// gitLine takes one line of the header. known is false behind its end.
func (p *parser) gitLine(h *gitHeader, line string) (known bool, err error) {
	if strings.HasPrefix(line, "--- ") && strings.HasPrefix(p.line(1), "+++ ") {
		return false, p.gitNames(h)
	}
	if line == "GIT binary patch" || binaryFiles.MatchString(line) {
		h.binary = true
		return false, nil
	}
	for _, prefix := range gitLines {
		if value, ok := strings.CutPrefix(line, prefix+" "); ok {
			p.at++
			return true, p.gitValue(h, prefix, value)
		}
	}
	return false, nil
}

var gitLines = []string{
	"old mode", "new mode", "deleted file mode", "new file mode", "copy from", "copy to", "rename from", "rename to",
	"rename old", "rename new", "similarity index", "dissimilarity index", "index",
}

func (p *parser) gitValue(h *gitHeader, key, value string) (err error) {
	switch key {
	case "old mode":
		h.oldMode, err = p.mode(value, h)
	case "new mode":
		h.mode, err = p.mode(value, h)
	case "new file mode":
		h.created = true
		h.mode, err = p.mode(value, h)
	case "deleted file mode":
		h.deleted = true
		h.oldMode, err = p.mode(value, h)
	case "rename from", "rename old":
		h.renamed = true
		h.old, err = p.movedName(value)
	case "rename to", "rename new":
		h.renamed = true
		h.fresh, err = p.movedName(value)
	case "copy from":
		h.copied = true
		h.old, err = p.movedName(value)
	case "copy to":
		h.copied = true
		h.fresh, err = p.movedName(value)
	case "index":
		if _, mode, ok := strings.Cut(value, " "); ok {
			h.oldMode, err = p.mode(mode, h)
		}
	}
	return err
}

// mode reads a mode, and refuses that of anything but a regular file.
func (p *parser) mode(value string, h *gitHeader) (fs.FileMode, error) {
	bits, err := strconv.ParseUint(strings.TrimSpace(value), 8, 32)
	if err != nil {
		return 0, badAt(p.at-1, "%.40q is no mode of a file", value)
	}
	var what string
	switch bits &^ 0o7777 {
	case 0o100000:
		return fs.FileMode(bits & 0o777), nil
	case 0o120000:
		what = "a symbolic link"
	case 0o160000:
		what = "a submodule"
	case 0o040000:
		what = "a folder"
	default:
		what = "something of the mode " + strconv.FormatUint(bits, 8)
	}
	return 0, fault.New(fault.InvalidInput, "file_type", "%s: the patch is about %s, only regular files can be patched", orFirst(*h, "a file"), what).
		WithHint("leave it out of the patch")
}
