package patch

import (
	"regexp"
	"strconv"
	"strings"
)

var hunkHeader = regexp.MustCompile(`^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(.*)$`)

func isHunk(line string) bool { return strings.HasPrefix(line, "@@ -") && hunkHeader.MatchString(line) }

// hunksOf reads the hunks that follow, and checks them against what happens to the file.
func (p *parser) hunksOf(f *File) error {
	start := p.at
	for strings.HasPrefix(p.line(0), "@@ -") {
		h, err := p.hunk()
		if err != nil {
			return err
		}
		f.Hunks = append(f.Hunks, h)
		if p.hunks++; p.hunks > maxHunks {
			return p.bad("the patch has more than %d hunks", maxHunks)
		}
	}
	var old, fresh int
	for _, h := range f.Hunks {
		old, fresh = old+h.OldCount, fresh+h.NewCount
	}
	if old > 0 || len(f.Hunks) > 1 {
		f.MayCreate = false
	}
	switch {
	case f.Kind == Create && old > 0:
		return badAt(start, "%s is a new file, and the hunks take lines from what it held before", f.New)
	case f.Kind == Delete && fresh > 0:
		return badAt(start, "%s is deleted, and the hunks leave lines in it", f.Old)
	}
	return nil
}

func (p *parser) hunk() (Hunk, error) {
	found := hunkHeader.FindStringSubmatch(p.line(0))
	if found == nil {
		return Hunk{}, p.bad("%.80q: @@ -LINE,COUNT +LINE,COUNT @@ is wanted", p.line(0))
	}
	h := Hunk{
		OldStart: number(found[1]), OldCount: count(found[2]), NewStart: number(found[3]), NewCount: count(found[4]),
		Section: found[5], At: p.at + 1,
	}
	p.at++
	if err := p.body(&h); err != nil {
		return h, err
	}
	return h, p.hunkEnd(&h)
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits) // the pattern bounds it
	return n
}

// count is 1 where it is left out.
func count(digits string) int {
	if digits == "" {
		return 1
	}
	return number(digits)
}

// body reads as many lines as the header says.
func (p *parser) body(h *Hunk) error {
	b := hunkBody{old: h.OldCount, fresh: h.NewCount}
	for b.old > 0 || b.fresh > 0 {
		if p.at >= len(p.lines) {
			return p.counts(h, "the patch ends in the middle of the hunk: %d lines of before and %d of after are missing", b.old, b.fresh)
		}
		raw := p.lines[p.at]
		if raw[0] == '\\' {
			if err := p.noNewline(h, &b); err != nil {
				return err
			}
			continue
		}
		line, ok := hunkLine(raw)
		if !ok {
			return p.counts(h, "%.40q is no line of a hunk, and %d lines of before and %d of after are missing", chomp(raw), b.old, b.fresh)
		}
		if why := b.take(line.Op); why != "" {
			return p.counts(h, "%s", why)
		}
		h.Lines = append(h.Lines, line)
		p.at++
	}
	if p.at < len(p.lines) && p.lines[p.at][0] == '\\' {
		if err := p.noNewline(h, &b); err != nil {
			return err
		}
	}
	if !b.changes {
		return p.counts(h, "the hunk changes nothing")
	}
	return nil
}

// counts is why a hunk is not what its header says.
func (p *parser) counts(h *Hunk, format string, args ...any) error {
	e := p.bad("in the hunk of line %d: "+format, append([]any{h.At}, args...)...)
	return e.WithHint("the counts of @@ -LINE,COUNT +LINE,COUNT @@ are those of the lines that begin with a blank or -, and with a blank or +")
}

// hunkLine reads a line. An empty one is an empty line of context, as newer diffs write it.
func hunkLine(raw string) (Line, bool) {
	if !strings.HasSuffix(raw, "\n") { // the last of a patch that lacks its line end: the marker would follow
		raw += "\n"
	}
	switch raw[0] {
	case '\n':
		return Line{' ', raw}, true
	case ' ', '-', '+':
		return Line{raw[0], raw[1:]}, true
	}
	return Line{}, false
}

// hunkBody is what is still missing of a hunk.
type hunkBody struct {
	old, fresh         int
	oldEnds, freshEnds bool // the last line was said to have no line end
	changes            bool
}

func (b *hunkBody) take(op byte) (why string) {
	if op != '+' {
		if b.oldEnds {
			return `a line of before follows the one with \ No newline at end of file`
		}
		b.old--
	}
	if op != '-' {
		if b.freshEnds {
			return `a line of after follows the one with \ No newline at end of file`
		}
		b.fresh--
	}
	b.changes = b.changes || op != ' '
	if b.old < 0 || b.fresh < 0 {
		return "it has more lines than its header says"
	}
	return ""
}

// noNewline takes the line end off the line before.
func (p *parser) noNewline(h *Hunk, b *hunkBody) error {
	if !strings.HasPrefix(p.lines[p.at], `\ `) || len(h.Lines) == 0 {
		return p.bad(`%.40q: \ No newline at end of file is wanted, after the line that it is about`, p.line(0))
	}
	last := &h.Lines[len(h.Lines)-1]
	if !strings.HasSuffix(last.Text, "\n") {
		return p.bad("the line before it has no line end already")
	}
	last.Text = chomp(last.Text)
	if last.Text == "" {
		return p.bad("an empty line without a line end is no line")
	}
	b.oldEnds = b.oldEnds || last.Op != '+'
	b.freshEnds = b.freshEnds || last.Op != '-'
	p.at++
	return nil
}

// hunkEnd refuses further lines of a hunk that its header does not count: passing over them
// as text would drop them. A mail's signature line is none.
func (p *parser) hunkEnd(h *Hunk) error {
	line := p.line(0)
	if line == "" || !strings.ContainsRune(" +-", rune(line[0])) || strings.TrimRight(line, "\r") == "-- " {
		return nil
	}
	if strings.HasPrefix(line, "--- ") && strings.HasPrefix(p.line(1), "+++ ") {
		return nil
	}
	return p.counts(h, "it has more lines than its header says")
}
