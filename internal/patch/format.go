package patch

import (
	"fmt"
	"io/fs"
	"strings"
)

// Format writes files as git does, with a/ and b/ before the names.
func Format(files []File) string {
	var b strings.Builder
	for i := range files {
		files[i].format(&b)
	}
	return b.String()
}

func (f *File) format(b *strings.Builder) {
	old, fresh := f.Old, f.New
	if old == "" {
		old = fresh
	}
	if fresh == "" {
		fresh = old
	}
	fmt.Fprintf(b, "diff --git %s %s\n", Quote("a/"+old), Quote("b/"+fresh))
	f.formatKind(b)
	if len(f.Hunks) == 0 {
		return
	}
	from, to := Quote("a/"+old)+tab(old), Quote("b/"+fresh)+tab(fresh)
	if f.Kind == Create {
		from = devNull
	}
	if f.Kind == Delete {
		to = devNull
	}
	fmt.Fprintf(b, "--- %s\n+++ %s\n", from, to)
	for i := range f.Hunks {
		f.Hunks[i].format(b)
	}
}

// FormatHunks writes hunks without the names of a file.
func FormatHunks(hunks []Hunk) string {
	var b strings.Builder
	for i := range hunks {
		hunks[i].format(&b)
	}
	return b.String()
}

// tab ends a name with blanks.
func tab(name string) string {
	if strings.Contains(name, " ") {
		return "\t"
	}
	return ""
}

func (f *File) formatKind(b *strings.Builder) {
	switch f.Kind {
	case Create:
		fmt.Fprintf(b, "new file mode %s\n", gitMode(f.Mode))
		return
	case Delete:
		fmt.Fprintf(b, "deleted file mode %s\n", gitMode(f.OldMode))
		return
	}
	if f.Mode != 0 {
		fmt.Fprintf(b, "old mode %s\nnew mode %s\n", gitMode(f.OldMode), gitMode(f.Mode))
	}
	switch f.Kind {
	case Rename:
		fmt.Fprintf(b, "rename from %s\nrename to %s\n", Quote(f.Old), Quote(f.New))
	case Copy:
		fmt.Fprintf(b, "copy from %s\ncopy to %s\n", Quote(f.Old), Quote(f.New))
	}
}

func gitMode(mode fs.FileMode) string {
	if mode&0o100 != 0 {
		return "100755"
	}
	return "100644"
}

func (h *Hunk) format(b *strings.Builder) {
	fmt.Fprintf(b, "@@ -%s +%s @@%s\n", span(h.OldStart, h.OldCount), span(h.NewStart, h.NewCount), h.Section)
	for _, l := range h.Lines {
		b.WriteByte(l.Op)
		b.WriteString(l.Text)
		if !strings.HasSuffix(l.Text, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

func span(start, count int) string {
	if count == 1 {
		return fmt.Sprint(start)
	}
	return fmt.Sprintf("%d,%d", start, count)
}
