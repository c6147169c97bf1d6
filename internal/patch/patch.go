// Package patch reads unified diffs, as git and diff -u write them, and applies them to
// text. It touches no files: what a patch is about, its names and its kind of change, is
// known from its text alone.
//
// It follows git apply: all lines of a hunk have to be in the file as the patch has them,
// without fuzz, but they may be at another line than the patch says; then the nearest place
// counts. A hunk without context before or behind belongs at the beginning or the end.
//
// Where it differs it refuses more: a hunk with more lines than its header says, a hunk
// that would go before the one before it, a file that is changed twice, names with "..",
// control characters or bytes that are not UTF-8, a header that names the file in one of
// its two lines only or says nothing, a line without a line end in the middle of a file, and
// everything that is not about regular files. Of what git apply refuses it takes a last
// line that lacks its line end, and /dev/null without "new file mode" beside it.
package patch

import "io/fs"

// Kind is what a patch does to a file.
type Kind int

const (
	Modify Kind = iota
	Create
	Delete
	Rename
	Copy
)

// File is what a patch does to one file. Names are relative paths with slashes, clean and
// without ".."; those of a patch are its files as they were before, and as they are after,
// all of it: the files do not follow one another.
type File struct {
	Kind     Kind
	Old, New string // the same of Modify; Old is "" of Create, New of Delete
	// MayCreate marks a Modify of a file that may be missing: then it is made. diff -u
	// does not say which.
	MayCreate bool
	// Mode is the one that the file is to have, 0 where the patch does not say: only
	// whether it is executable counts.
	Mode    fs.FileMode
	OldMode fs.FileMode
	Hunks   []Hunk
}

// Executable reports whether the file is to be executable; told is false where the patch
// leaves that as it is.
func (f *File) Executable() (yes, told bool) { return f.Mode&0o100 != 0, f.Mode != 0 }

// Changed are the names whose files change or go, those of a rename both.
func (f *File) Changed() []string {
	switch f.Kind {
	case Delete:
		return []string{f.Old}
	case Rename:
		return []string{f.Old, f.New}
	}
	return []string{f.New}
}

// Name is the one to call the file by.
func (f *File) Name() string {
	if f.New == "" {
		return f.Old
	}
	return f.New
}

// Hunk is one run of lines that changes.
type Hunk struct {
	OldStart, OldCount int
	NewStart, NewCount int
	Section            string // what follows the second @@, as it is
	Lines              []Line
	At                 int // its line in the patch, from 1
}

// Line is one line of a hunk.
type Line struct {
	Op   byte   // ' ', '-' or '+'
	Text string // with its line end, which only the last line of a file can lack
}
