package command

import (
	"path"
	"strings"

	"github.com/aircoding/air/runtime/permission"
)

// programs are the programs that air knows, by their base name. Of all others it cannot
// be known what they do.
var programs = together(filePrograms, textPrograms, codePrograms, buildPrograms, gitPrograms, networkPrograms, clusterPrograms, systemPrograms)

func together(tables ...map[string]program) map[string]program {
	all := map[string]program{}
	for _, table := range tables {
		for name, p := range table {
			all[name] = p
		}
	}
	return all
}

// programFor finds a program by its base name, also one with a version: python3.12,
// gcc-14, clang-format-18.
func programFor(name string) (program, bool) {
	name = base(name)
	if p, ok := programs[name]; ok {
		return p, true
	}
	plain := strings.TrimSuffix(strings.TrimRight(name, "0123456789."), "-")
	p, ok := programs[plain]
	return p, ok && versioned[plain]
}

var versioned = set("python pip gcc g++ clang clang++ clang-format clang-tidy gdb node ruby php lua perl go cpp pypy")

func set(names string) map[string]bool {
	all := map[string]bool{}
	for _, name := range strings.Fields(names) {
		all[name] = true
	}
	return all
}

// operands says what the operands of a program are.
type operands int

const (
	noPaths    operands = iota // no paths
	reads                      // files that it reads
	readsTrees                 // files and folders that it reads with all below them
	writes                     // files that it creates or overwrites
	touches                    // files and folders that it creates, or changes without losing what they hold
	removes
	elsewhere    // of everything it takes, what names a path outside the folder is read
	patternFirst // the first is a pattern, the others are read
	treesAfter   // the same with folders
	formats      // files that it rewrites without changing what they mean
)

// row is a program of which it is enough to know the options and what operands are.
type row struct {
	risk     permission.Risk // "": read-only
	why      string
	options  spec
	operands operands
	// guarded programs have options that run code or write: what the spec does not name
	// is opaque.
	guarded bool
	// named programs have such options too, but no file name matters that is taken for one.
	named bool
	// here says that it works on the folder in which it runs, or on that of an option.
	here         bool
	single, stop bool // as in reader
	anyWords     bool
	raises       []raise
}

// raise is a more of risk by certain options or first operands.
type raise struct {
	flags string // separated by blanks
	risk  permission.Risk
	why   string
}

func (r row) program() program {
	return func(c *simple, f *finding) { r.find(c, f) }
}

// helps reports whether a program is only asked what it is.
func helps(c *simple) bool {
	if len(c.words) != 2 || c.words[1].unknown || c.words[1].pattern {
		return false
	}
	return c.words[1].text == "--version" || c.words[1].text == "--help"
}

func (r row) find(c *simple, f *finding) {
	f.anyWords = r.anyWords
	f.raise(permission.RiskReadOnly, "")
	if helps(c) {
		return
	}
	a := (&reader{options: r.options.options(), single: r.single, stop: r.stop, args: c.args()}).read()
	why := r.why
	if why == "" {
		why = "it changes files"
	}
	f.raise(r.risk, why)
	if r.guarded {
		a.guard(c, f)
	} else if r.named {
		a.named(c, f)
	}
	for _, more := range r.raises {
		if a.has(strings.Fields(more.flags)...) {
			f.raise(more.risk, more.why)
		}
	}
	a.apply(c, f)
	dir, moved := a.folder()
	start := len(f.effects)
	r.operands.add(a.operands, f)
	if r.operands == elsewhere {
		r.operands.add(a.strange, f)
	}
	if moved {
		f.below(dir, start)
	}
	if r.here || moved {
		f.works(dir, moved)
	}
}

// works notes the folder that a program works on.
func (f *finding) works(dir word, moved bool) {
	if !moved {
		dir = word{text: "."}
	}
	f.readTree(dir)
}

// below makes the relative paths of the effects from a number on relative to dir.
func (f *finding) below(dir word, from int) {
	if dir.unknown || dir.pattern {
		f.raise(permission.RiskOpaque, "which folder "+dir.text+" stands for cannot be known before it runs")
		return
	}
	for i := from; i < len(f.effects); i++ {
		if e := &f.effects[i]; e.Kind.IsPath() {
			e.Target = under(dir, word{text: e.Target}).text
		}
	}
}

// under is a path as seen from dir.
func under(dir, w word) word {
	if dir.text == "" || strings.HasPrefix(w.text, "/") {
		return w
	}
	return word{text: strings.TrimSuffix(dir.text, "/") + "/" + w.text, pattern: dir.pattern || w.pattern, unknown: dir.unknown || w.unknown}
}

func (o operands) add(all []word, f *finding) {
	if (o == patternFirst || o == treesAfter) && len(all) > 0 {
		all = all[1:]
	}
	if o == readsTrees && len(all) == 0 {
		all = []word{{text: "."}}
	}
	for _, w := range all {
		switch o {
		case reads, patternFirst:
			f.readFile(w)
		case readsTrees, treesAfter:
			f.readTree(w)
		case writes:
			f.writeFile(w)
		case touches, formats:
			f.touch(w)
		case removes:
			f.removeFile(w)
		case elsewhere:
			if leads(w) {
				f.readTree(w)
			}
		}
	}
}

// leads reports whether a word names a path that may lie outside the folder.
func leads(w word) bool {
	_, value, assigned := strings.Cut(w.text, "=")
	return leadsOut(w.text) || assigned && leadsOut(value)
}

func leadsOut(text string) bool {
	return strings.HasPrefix(text, "/") || text == ".." || strings.HasPrefix(text, "../") || strings.Contains(text, "/../")
}

// standard are names that stand for no file.
func standard(w word) bool {
	if w.unknown || w.pattern {
		return false
	}
	switch w.text {
	case "", "-", "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/zero", "/dev/urandom", "/dev/random":
		return true
	}
	return false
}

func (f *finding) readFile(w word) {
	if !standard(w) {
		f.read(w)
	}
}

// readTree reads a file, or a folder with all below it.
func (f *finding) readTree(w word) {
	if standard(w) {
		return
	}
	n := len(f.effects)
	f.read(w)
	f.deep(n)
}

// deep makes the effects from a number on those of folders with all below them.
func (f *finding) deep(from int) {
	for i := from; i < len(f.effects); i++ {
		f.effects[i].Recursive = true
	}
}

func (f *finding) writeFile(w word) {
	if standard(w) {
		return
	}
	f.raise(permission.RiskWorkspace, "it writes files")
	if w.pattern {
		f.raise(permission.RiskDestructive, "it may overwrite all that "+w.text+" matches")
	}
	f.write(w)
}

func (f *finding) removeFile(w word) {
	if w.text != "" {
		f.remove(w)
	}
}

// touch is a change that loses nothing: of a mode or time, of the form, of a folder.
func (f *finding) touch(w word) {
	n := len(f.effects)
	f.raise(permission.RiskWorkspace, "it changes files")
	switch {
	case standard(w):
		return
	case w.text == "." || w.text == "./" || w.pattern && patternFolder(w.text) == ".":
		f.readTree(w) // the folder itself, which may be the project, stays as it is
		return
	default:
		f.write(w)
	}
	for i := n; i < len(f.effects); i++ {
		f.effects[i].Known = true
	}
}

// take removes a file or folder whose content is kept elsewhere.
func (f *finding) take(w word) {
	n := len(f.effects)
	f.raise(permission.RiskWorkspace, "it changes files")
	f.removeFile(w)
	for i := n; i < len(f.effects); i++ {
		f.effects[i].Known = true
	}
}

// runs is a program that runs as a command with other words.
func (f *finding) runs(c *simple, words []word) {
	if len(words) > 0 {
		f.inner = append(f.inner, simple{words: words, dir: c.dir})
	}
}

// reach adds a host. What names none in a way that can be known is opaque.
func (f *finding) reach(rawURL string) {
	e, err := permission.NetTarget(rawURL)
	if err != nil {
		f.raise(permission.RiskOpaque, err.Error())
		return
	}
	f.effects = append(f.effects, e)
}

func joined(dir, name word) word {
	w := under(dir, name)
	w.text = path.Clean(w.text)
	return w
}
