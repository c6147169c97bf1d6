package command

import (
	"path"
	"slices"
	"strings"

	"github.com/aircoding/air/runtime/permission"
)

// programs are the programs that air knows, by their base name. Of all others it cannot
// be known what they do.
var programs = together(filePrograms, textPrograms, codePrograms, buildPrograms, gitPrograms, networkPrograms, clusterPrograms, systemPrograms)

// entry is what a table knows of a program: a row, subcommands or a function.
type entry interface {
	find(c *simple, f *finding)
}

func (p program) find(c *simple, f *finding) { p(c, f) }

// table has entries by the names of programs, several of which are separated by blanks.
type table map[string]entry

func together(tables ...table) map[string]program {
	all := map[string]program{}
	for _, t := range tables {
		for names, e := range t {
			for name := range strings.FieldsSeq(names) {
				all[name] = e.find
			}
		}
	}
	return all
}

func (t table) entry(name string) (entry, bool) {
	for names, e := range t {
		if oneOf(name, names) {
			return e, true
		}
	}
	return nil, false
}

// look finds what a program does that stands for another one, such as a subcommand.
func (f *finding) look(e entry, c *simple) {
	if !helps(c) {
		e.find(c, f)
	}
}

// withArgs is a command with other arguments.
func withArgs(c *simple, args []word) *simple {
	return &simple{words: append([]word{c.words[0]}, args...), dir: c.dir}
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
	elsewhere    // of everything it takes, what is written like a path is read
	patternFirst // the first is a pattern, the others are read
	treesAfter   // the same with folders
	formats      // files that it rewrites without changing what they mean
	pathspecs    // as elsewhere, in the notation of git
)

// Rows that many programs share.
var (
	shows      = row{} // something that no operand names
	readsFiles = row{operands: reads}
	onlyPrints = row{anyWords: true} // whatever its words are
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
	lists        bool // an operand that begins with @ names a file of further words
	hosts        bool // it needs hosts, though its risk is another one
	raises       []raise
}

// raise is the risk that certain options add.
type raise struct {
	flags string // separated by blanks
	risk  permission.Risk
	why   string
}

// helps reports whether a program is only asked what it is.
func helps(c *simple) bool {
	if len(c.words) != 2 || c.words[1].unknown || c.words[1].pattern {
		return false
	}
	return c.words[1].text == "--version" || c.words[1].text == "--help"
}

func (r row) find(c *simple, f *finding) { r.read(c, f) }

// read also returns the arguments.
func (r row) read(c *simple, f *finding) arguments {
	f.anyWords = r.anyWords
	why := r.why
	if why == "" {
		why = "it changes files"
	}
	if r.hosts {
		f.raise(permission.RiskNetwork, why)
	}
	f.raise(r.risk, why)
	a := f.parse(c, r.options, r.reading())
	start := len(f.effects)
	for _, more := range r.raises {
		if a.has(strings.Fields(more.flags)...) {
			f.raise(more.risk, more.why)
		}
	}
	if !r.guarded && !r.named {
		f.shortened(c, r.options, a.strange)
	}
	if r.lists && slices.ContainsFunc(a.operands, func(w word) bool { return strings.HasPrefix(w.text, "@") }) {
		f.raise(permission.RiskOpaque, base(c.name())+" takes further words from a file")
	}
	dir, moved := a.folder()
	r.operands.add(a.operands, f)
	if r.operands == elsewhere {
		f.otherOptions(c, a.strange)
	}
	if moved {
		f.below(dir, start)
	}
	if r.here || moved {
		f.works(dir, moved)
	}
	return a
}

// shortened raises the risk where an option may be a shortened one that has a value.
func (f *finding) shortened(c *simple, s spec, strange []word) {
	for _, w := range strange {
		name, _, _ := strings.Cut(strings.TrimLeft(w.text, "-"), "=")
		for full, o := range s.options() {
			if o.value != 0 && strings.HasPrefix(w.text, "--") && strings.HasPrefix(full, name) {
				f.raise(permission.RiskOpaque, "air does not know the option "+w.text+" of "+base(c.name()))
			}
		}
	}
}

// otherOptions are those of a tool that the table does not name: what they are named
// after tells what they write or run.
func (f *finding) otherOptions(c *simple, strange []word) {
	for _, w := range strange {
		name, value, inline := strings.Cut(w.text, "=")
		switch {
		case codeName(name):
			f.raise(permission.RiskOpaque, "what the option "+name+" of "+base(c.name())+" runs cannot be known before it runs")
		case outputName(name) && inline:
			f.writeFile(word{text: value, pattern: w.pattern})
		case outputName(name):
			f.writeFile(after(c.args(), w))
		case name == "--out-format" && !inline: // FORMAT:FILE
			value := after(c.args(), w)
			f.writeFile(lastValue(value, value.text))
		case inline && !readName(name):
			f.writeFile(lastValue(w, value))
		default:
			f.readNamed(w)
		}
	}
}

// lastValue is the file that the value of an option names, "" where it is written like
// none: xml:report.xml, reporter,output=report.xml.
func lastValue(w word, value string) word {
	value = value[strings.LastIndexAny(value, "=:,")+1:]
	if !namesFile(value) {
		value = ""
	}
	return word{text: value, pattern: w.pattern}
}

// readName reports whether an option has a name by which programs read its value, or take
// it for something else than a file.
func readName(option string) bool {
	name := strings.ToLower(option)
	for _, part := range []string{
		"config", "rc", "settings", "include", "exclude", "ignore", "project", "path", "root", "dir", "filter", "match", "pattern", "test", "input",
		"from", "import", "module", "package", "plugin", "preset", "tag", "env", "version", "target", "base", "schema", "name", "select", "ext",
		"cwd", "manifest", "workspace", "define", "spec", "host", "url", "bootstrap", "entry", "alias", "loader", "inject", "setup", "files",
		"grep", "only", "skip", "-p:", "/p:", "threshold", "timeout", "level", "ratio", "message", "title", "registry", "run", "related",
	} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return oneOf(name, "-d -f -p -i -l -c -m -r -s -t -x -w --file")
}

// after is the word that follows another one.
func after(words []word, w word) word {
	for i := range words[:max(0, len(words)-1)] {
		if words[i] == w && !strings.HasPrefix(words[i+1].text, "-") {
			return words[i+1]
		}
	}
	return word{}
}

// codeName reports whether an option has a name by which programs run its value.
func codeName(option string) bool {
	name := strings.ToLower(option)
	for _, part := range []string{"exec", "hook", "command", "-cmd", "eval", "spawn", "install", "wrapper", "pastebin"} {
		if strings.Contains(name, part) && !strings.HasPrefix(name, "--no-") && !strings.HasPrefix(name, "--ignore") {
			return true
		}
	}
	return false
}

func (r row) reading() reading {
	how := loose
	switch {
	case r.guarded:
		how = 0
	case r.named:
		how = named
	}
	if r.single {
		how |= single
	}
	if r.stop {
		how |= stop
	}
	return how
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
			f.readNamed(w)
		case pathspecs:
			f.readNamed(pathspec(w))
		}
	}
}

// readNamed reads what a word, or the value in it, is written like a path of.
func (f *finding) readNamed(w word) {
	if w.unknown {
		return
	}
	if namesFile(w.text) {
		f.readTree(w)
	}
	const marks = "=:@,"
	for mark := range strings.SplitSeq(marks, "") {
		if _, value, found := strings.Cut(w.text, mark); found {
			f.readValue(value, w.pattern)
		}
	}
	if strings.ContainsAny(w.text, marks) {
		for part := range strings.FieldsFuncSeq(w.text, func(r rune) bool { return strings.ContainsRune(marks, r) }) {
			f.readValue(part, w.pattern)
		}
	}
}

func (f *finding) readValue(value string, pattern bool) {
	if namesFile(value) && !strings.HasPrefix(value, "//") {
		f.readTree(word{text: value, pattern: pattern})
	}
}

// namesFile reports whether a text is written like a path: what is none does no harm as
// the name of a file that is not there.
func namesFile(text string) bool {
	switch {
	case strings.HasPrefix(text, "-"), strings.Contains(text, "://"):
		return false
	case leadsOut(text), strings.HasPrefix(text, "id_"):
		return true
	}
	return strings.ContainsAny(text, "./") && !strings.Contains(text, "...") && strings.Trim(text, "0123456789.") != ""
}

func leadsOut(text string) bool {
	return beginsWith(text, "/ ../") || text == ".." || strings.Contains(text, "/../") || strings.HasSuffix(text, "/..")
}

// standard are names that stand for no file.
func standard(w word, kind permission.Kind) bool {
	return !w.unknown && !w.pattern && (w.text == "" || w.text == "-" || isFree(w.text, kind))
}

func (f *finding) readFile(w word) {
	if !standard(w, permission.Read) {
		f.read(w)
	}
}

// readTree reads a file, or a folder with all below it.
func (f *finding) readTree(w word) {
	if standard(w, permission.Read) {
		return
	}
	if e := f.read(w); e != nil {
		e.Recursive = true
	}
}

func (f *finding) writeFile(w word) *permission.Effect {
	if standard(w, permission.Write) {
		return nil
	}
	f.raise(permission.RiskWorkspace, "it writes files")
	if w.pattern {
		f.raise(permission.RiskDestructive, "it may overwrite all that "+w.text+" matches")
	}
	return f.write(w)
}

// writeTree writes a file, or a folder with all below it.
func (f *finding) writeTree(w word) {
	if e := f.writeFile(w); e != nil {
		e.Recursive = true
	}
	f.obeyed(w)
}

// obeyed adds the workflows or settings, which other programs obey, to what gets a folder by
// the name that is around it.
func (f *finding) obeyed(w word) {
	switch base(strings.TrimSuffix(w.text, "/")) {
	case ".github":
		f.write(under(w, word{text: "workflows"}))
	case ".cargo":
		f.write(under(w, word{text: "config.toml"}))
	}
}

func (f *finding) removeFile(w word) *permission.Effect {
	if w.text == "" {
		return nil
	}
	return f.remove(w)
}

// touch is a change that loses nothing: of a mode or time, of the form, of a folder.
func (f *finding) touch(w word) *permission.Effect {
	f.raise(permission.RiskWorkspace, "it changes files")
	switch {
	case standard(w, permission.Write):
		return nil
	case oneOf(w.text, ". ./") || w.pattern && patternFolder(w.text) == ".":
		f.readTree(w) // the folder itself, which may be the project, stays as it is
		return nil
	}
	e := f.write(w)
	if e != nil {
		e.Known = true
	}
	return e
}

// take removes a file or folder whose content is kept elsewhere. What a pattern takes
// cannot be known.
func (f *finding) take(w word) {
	f.raise(permission.RiskWorkspace, moves)
	if w.pattern {
		f.raise(permission.RiskDestructive, "it takes away all that "+w.text+" matches")
	}
	if e := f.removeFile(w); e != nil {
		e.Known = !w.pattern
	}
}

// beginsWith reports whether text begins with one of the prefixes, which are separated by
// blanks.
func beginsWith(text, prefixes string) bool {
	for prefix := range strings.FieldsSeq(prefixes) {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return false
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
