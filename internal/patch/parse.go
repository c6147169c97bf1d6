package patch

import (
	"regexp"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/text"
)

const (
	// maxBytes bounds the text of a patch.
	maxBytes = 16 << 20
	// maxFiles bounds how many files a patch may change, a renamed one counted twice.
	maxFiles = 1000
	maxHunks = 100_000
)

// Parse reads a patch. strip is how many leading parts of each name go, as with patch -p.
// Text before, between and after the files is passed over.
func Parse(patch string, strip int) ([]File, error) {
	if len(patch) > maxBytes {
		return nil, fault.New(fault.InvalidInput, "patch_size", "the patch has %d bytes, the limit is %d", len(patch), maxBytes)
	}
	p := &parser{lines: splitLines(patch), strip: strip}
	for p.at < len(p.lines) {
		if err := p.next(); err != nil {
			return nil, err
		}
		if p.changed > maxFiles {
			return nil, p.bad("the patch changes more than %d files", maxFiles)
		}
	}
	if len(p.files) == 0 {
		return nil, fault.New(fault.InvalidInput, "no_patch", "there is no unified diff in the text").
			WithHint("a patch names its file in two lines, --- a/NAME and +++ b/NAME, followed by hunks that begin with @@ -LINE,COUNT +LINE,COUNT @@")
	}
	return p.files, checkFiles(p.files)
}

// splitLines cuts behind each line end.
func splitLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// parser is one patch being read.
type parser struct {
	lines   []string
	at      int // the line to read next
	strip   int
	files   []File
	hunks   int
	changed int   // files
	lost    error // why there is no name in the line diff --git
}

// line is the one at an offset from the next, without its line end; "" behind the last.
func (p *parser) line(offset int) string {
	if p.at+offset >= len(p.lines) {
		return ""
	}
	return chomp(p.lines[p.at+offset])
}

func chomp(line string) string { return strings.TrimSuffix(line, "\n") }

// bad is why the patch cannot be read, with the line that is to be read next.
func (p *parser) bad(format string, args ...any) *fault.Error { return badAt(p.at, format, args...) }

// badAt counts lines from 0.
func badAt(at int, format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidInput, "bad_patch", "line %d of the patch: "+format, append([]any{at + 1}, args...)...)
}

var binaryFiles = regexp.MustCompile(`^Binary files (.*) differ\r?$`)

// next reads a file's part of the patch, or passes over a line that belongs to none.
func (p *parser) next() error {
	line := p.line(0)
	switch {
	case strings.HasPrefix(line, "diff --git "):
		return p.gitFile()
	case strings.HasPrefix(line, "diff --cc "), strings.HasPrefix(line, "diff --combined "):
		_, name, _ := strings.Cut(strings.TrimPrefix(line, "diff "), " ")
		return combined(text.Head(name, shownText))
	case strings.HasPrefix(line, "@@@ -"):
		return combined("a file")
	case isHunk(line):
		return p.bad("a hunk without the name of a file before it").WithHint("the lines --- a/NAME and +++ b/NAME go before the hunks of each file")
	case strings.HasPrefix(line, "--- ") && strings.HasPrefix(p.line(1), "+++ "):
		return p.plainFile()
	case line == "GIT binary patch":
		return binary("a file")
	}
	if names := binaryFiles.FindStringSubmatch(line); names != nil {
		return binary(text.Head(names[1], shownText))
	}
	p.at++
	return nil
}

// shownText bounds what a message repeats of a patch or a file.
const shownText = 200

func combined(name string) *fault.Error {
	return fault.New(fault.InvalidInput, "combined_patch", "%s: a combined diff, that of a merge, does not say which version it applies to", name).
		WithHint("make a diff against one version: git diff COMMIT")
}

func binary(name string) *fault.Error {
	return fault.New(fault.InvalidInput, "binary_patch", "%s: the patch is one of a binary file, only text can be patched", name).
		WithHint("leave the file out of the patch, and write it whole")
}

// add ends a file's part.
func (p *parser) add(f File) error {
	for _, name := range []string{f.Old, f.New} {
		if name != "" {
			if err := checkName(name); err != nil {
				return err
			}
		}
	}
	p.files = append(p.files, f)
	p.changed += len(f.Changed())
	return nil
}

// plainFile reads a file as diff -u writes it.
func (p *parser) plainFile() error {
	before, after := parsePlainName(p.line(0)[4:]), parsePlainName(p.line(1)[4:])
	if !isHunk(p.line(2)) {
		return p.bad("the name of a file without a hunk after it")
	}
	f, err := p.plainNames(before, after)
	if err != nil {
		return err
	}
	p.at += 2
	if err := p.hunksOf(&f); err != nil {
		return err
	}
	return p.add(f)
}

// plainNames says from two names what happens to which file.
func (p *parser) plainNames(before, after plainName) (f File, err error) {
	switch {
	case before.null && after.null:
		return f, p.bad("both names are /dev/null")
	case before.null:
		f.Kind = Create
		f.New, err = p.stripped(after.name, p.strip)
	case after.null:
		f.Kind = Delete
		f.Old, err = p.stripped(before.name, p.strip)
	default:
		return p.twoNames(before, after)
	}
	return f, err
}

// twoNames goes by the second of two names, as git does, unless that is the first with
// something appended, as f.new.
func (p *parser) twoNames(before, after plainName) (f File, err error) {
	oldName, oldErr := p.stripped(before.name, p.strip)
	name, err := p.stripped(after.name, p.strip)
	if oldErr == nil && (err != nil || len(oldName) < len(name) && strings.HasPrefix(name, oldName)) {
		name, err = oldName, nil
	}
	switch {
	case fault.Is(oldErr, fault.PermissionDenied):
		return f, oldErr
	case err != nil:
		return f, err
	case before.never:
		return File{Kind: Create, New: name}, nil
	case after.never:
		return File{Kind: Delete, Old: name}, nil
	}
	return File{Kind: Modify, Old: name, New: name, MayCreate: true}, nil
}
