package capabilities

import (
	"cmp"
	"fmt"
	"io"
	"strings"
)

const (
	// shownLines is how many lines of one section a person is shown, and shownBelow how
	// many of them below one heading, so that no long text hides what else changed.
	shownLines = 1000
	shownBelow = 60
	// shownMore is how many things that it can do more; permissions come first, and no
	// manifest has so many.
	shownMore = 1000
)

// Write shows the difference to a person: what they should know, what it can do more, and
// then everything. Of what is left out it says how much that is and where it can be read.
func (d Difference) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "What changes from %s to %s%s:\n", d.From.Version, d.To.Version, orderWords(d.Order))
	line(&b, "from", cmp.Or(d.From.Digest, "none"))
	line(&b, "to", cmp.Or(d.To.Digest, "none"))
	list(&b, "Mind", d.Warnings)
	left := d.writeMore(&b)
	for _, s := range d.Sections {
		left += s.write(&b)
	}
	if left > 0 && d.From.Dir != "" {
		fmt.Fprintf(&b, "\n%d lines of changes are NOT shown above; all of them: diff -r %s %s | cat -v\n", left, shown(d.From.Dir), shown(d.To.Dir))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeMore returns how much it left out.
func (d Difference) writeMore(b *strings.Builder) (left int) {
	switch {
	case d.Incomparable != "":
		fmt.Fprintf(b, "\nWhat else changed CANNOT BE SAID, so read all of it: %s\n", d.Incomparable)
		return 0
	case d.Same:
		b.WriteString("\nThe bundle is the same.\n")
		return 0
	case len(d.More) == 0:
		b.WriteString("\nIt asks for nothing more than before.\n")
		return 0
	}
	b.WriteString("\nIt can do MORE than before:\n")
	for _, more := range d.More[:min(len(d.More), shownMore)] {
		fmt.Fprintf(b, "  + %s\n", more)
	}
	return tell(b, len(d.More)-shownMore)
}

// write shows what changed by its heading, each with a part of what is below it. It returns
// how many lines it left out, those among them that were not listed.
func (s Section) write(b *strings.Builder) (left int) {
	fmt.Fprintf(b, "\n%s:\n", s.Title)
	shown, below := 0, 0
	for i, l := range s.Lines {
		if !strings.HasPrefix(l, " ") {
			left += tell(b, below-1-shownBelow)
			below = 0
		}
		if shown == shownLines {
			return left + tell(b, len(s.Lines)-i) + s.Unlisted
		}
		if below <= shownBelow {
			fmt.Fprintf(b, "  %s\n", l)
			shown++
		}
		below++
	}
	return left + tell(b, below-1-shownBelow) + s.Unlisted
}

// tell says that lines are left out, if any are.
func tell(b *strings.Builder, left int) int {
	if left <= 0 {
		return 0
	}
	fmt.Fprintf(b, "    … and %d more lines, which are NOT shown here\n", left)
	return left
}

// summary is one line that reminds of what was shown far above.
func (d Difference) summary() string {
	switch {
	case d.Incomparable != "":
		return "It takes the place of another version, and what changed cannot be said: see above."
	case len(d.More) > 0:
		return fmt.Sprintf("Compared with %s it can do MORE (%d), and parts of it changed (%d): see above.", d.From.Version, len(d.More), len(d.Sections))
	}
	return fmt.Sprintf("Compared with %s it asks for nothing more, and parts of it changed (%d): see above.", d.From.Version, len(d.Sections))
}

func orderWords(o Order) string {
	switch o {
	case Older:
		return " (OLDER)"
	case SameOrder:
		return " (the same version)"
	case Unordered:
		return " (nothing says which is the newer)"
	}
	return ""
}
