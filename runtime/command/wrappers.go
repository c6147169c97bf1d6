package command

import (
	"slices"
	"strings"

	"github.com/aircoding/air/runtime/permission"
)

// wrappers are programs that run another one, which is looked at by itself.
var wrappers = map[string]program{
	"env":       runEnv,
	"sudo":      sudo,
	"doas":      wrapper{options: options{short: "Cu"}, risk: permission.RiskPrivileged, why: "doas runs it as another user"}.find,
	"su":        switchUser,
	"runuser":   switchUser,
	"nice":      wrapper{options: options{short: "n", long: []string{"adjustment"}}}.find,
	"ionice":    wrapper{options: options{short: "cnpPu", long: []string{"class", "classdata", "pid", "pgid", "uid"}}}.find,
	"nohup":     wrapper{}.find,
	"setsid":    wrapper{}.find,
	"stdbuf":    wrapper{options: options{short: "ioe", long: []string{"input", "output", "error"}}}.find,
	"timeout":   wrapper{options: options{short: "ks", long: []string{"kill-after", "signal"}}, skip: 1}.find,
	"gtimeout":  wrapper{options: options{short: "ks", long: []string{"kill-after", "signal"}}, skip: 1}.find,
	"time":      wrapper{options: options{short: "fo", long: []string{"format", "output"}}, output: "o output"}.find,
	"chroot":    wrapper{options: options{}, skip: 1, risk: permission.RiskPrivileged, why: "chroot runs it in another root folder", elsewhere: true}.find,
	"taskset":   wrapper{skip: 1}.find,
	"chrt":      wrapper{options: options{short: "TPD", long: []string{"sched-runtime", "sched-period", "sched-deadline"}}, skip: 1}.find,
	"unbuffer":  wrapper{}.find,
	"busybox":   wrapper{}.find,
	"catchsegv": wrapper{}.find,
	"strace":    trace, "ltrace": trace,
	"flock":    lock,
	"watch":    watch,
	"script":   typescript,
	"xargs":    runXargs,
	"parallel": row{risk: permission.RiskOpaque, why: "parallel puts commands together from what it reads"}.program(),
	"bash":     runShell, "sh": runShell, "dash": runShell, "ash": runShell, "rbash": runShell,
	"zsh": otherShell, "ksh": otherShell, "mksh": otherShell, "fish": otherShell, "csh": otherShell, "tcsh": otherShell, "yash": otherShell, "pwsh": otherShell, "elvish": otherShell, "nu": otherShell, "xonsh": otherShell,
}

// wrapper is a program whose operands are the words of another one.
type wrapper struct {
	options   options
	skip      int // operands before the words of the other
	risk      permission.Risk
	why       string
	output    string // options whose value is a file that is written
	elsewhere bool   // the other does not run in this folder
}

func (w wrapper) find(c *simple, f *finding) {
	w.options.stop = true
	w.options.long = append([]string{}, w.options.long...)
	p := w.options.parse(c.args())
	f.raise(permission.RiskReadOnly, "")
	f.raise(w.risk, w.why)
	for _, name := range strings.Fields(w.output) {
		if v, ok := p.value(name); ok {
			f.writeFile(v)
		}
	}
	if p.has("p", "pid") && base(c.name()) != "time" && base(c.name()) != "unbuffer" {
		f.raise(permission.RiskPrivileged, "it changes a process that runs already")
	}
	skip := min(w.skip, len(p.operands))
	inner := f.hand(c, p.operands[skip:])
	if inner != nil && w.elsewhere {
		inner.dir = ""
	}
}

// hand gives the last words of a command to another one, and checks that the words before
// them are known.
func (f *finding) hand(c *simple, rest []word) *simple {
	own := c.args()[:len(c.args())-len(rest)]
	f.anyWords = allKnown(own)
	if !f.anyWords {
		f.raise(permission.RiskOpaque, "what "+base(c.name())+" runs cannot be known before it runs")
	}
	if len(rest) == 0 {
		return nil
	}
	f.inner = append(f.inner, simple{words: rest, dir: c.dir})
	return &f.inner[len(f.inner)-1]
}

// runEnv is env: variables, then a command.
func runEnv(c *simple, f *finding) {
	f.raise(permission.RiskReadOnly, "")
	args := c.args()
	dir := word{text: ""}
	for range maxWraps {
		p := options{short: "uCSaP", long: []string{"unset", "chdir", "split-string", "argv0"}, stop: true}.parse(args)
		if v, ok := either(p, "C", "chdir"); ok {
			dir = under(dir, v)
		}
		text, split := either(p, "S", "split-string")
		if !split {
			f.runEnv(c, p.operands, dir)
			return
		}
		words, ok := splitString(text)
		if !ok {
			f.raise(permission.RiskOpaque, "env splits a text in its own way")
			return
		}
		args = append(words, p.operands...)
	}
	f.raise(permission.RiskOpaque, "env splits too many texts")
}

func either(p parsed, names ...string) (word, bool) {
	for _, n := range names {
		if v, ok := p.value(n); ok {
			return v, true
		}
	}
	return word{}, false
}

// runEnv takes the variables from the words that are left.
func (f *finding) runEnv(c *simple, words []word, dir word) {
	for len(words) > 0 && words[0].text == "-" {
		words = words[1:]
	}
	known := allKnown(c.args()[:max(0, len(c.args())-len(words))])
	for len(words) > 0 {
		name, _, ok := strings.Cut(words[0].text, "=")
		if !ok || words[0].unknown && startsUnknown(words[0].text) {
			break
		}
		f.sets = append(f.sets, name)
		words = words[1:]
	}
	f.anyWords = known
	if !known {
		f.raise(permission.RiskOpaque, "what env runs cannot be known before it runs")
	}
	if len(words) == 0 {
		return
	}
	inner := simple{words: words, dir: c.dir}
	if dir.text != "" {
		inner.dir = ""
		if !dir.unknown && !dir.pattern && (c.dir != "" || strings.HasPrefix(dir.text, "/")) {
			inner.dir = absolute(c.dir, dir.text)
		}
	}
	f.inner = append(f.inner, inner)
}

// splitString is env -S, where the text has nothing but words.
func splitString(text word) ([]word, bool) {
	if text.unknown || text.pattern || strings.ContainsAny(text.text, "\\'\"$#") {
		return nil, false
	}
	var words []word
	for _, field := range strings.Fields(text.text) {
		words = append(words, word{text: field})
	}
	return words, true
}

func sudo(c *simple, f *finding) {
	f.raise(permission.RiskPrivileged, "sudo runs it as another user")
	p := options{
		short: "CDghpRTUurt", stop: true,
		long: []string{"close-from", "chdir", "group", "host", "prompt", "chroot", "command-timeout", "other-user", "user", "role", "type"},
	}.parse(c.args())
	rest := p.operands
	for len(rest) > 0 && assignment.MatchString(rest[0].text) {
		name, _, _ := strings.Cut(rest[0].text, "=")
		f.sets, rest = append(f.sets, name), rest[1:]
	}
	switch inner := f.hand(c, rest); {
	case p.has("e", "edit"):
		f.raise(permission.RiskOpaque, "sudo -e opens an editor")
		f.inner = nil
	case inner == nil && p.has("s", "i", "shell", "login"):
		f.stdin = true
	case inner != nil && p.has("D", "chdir", "R", "chroot", "i", "login"):
		inner.dir = ""
	}
}

// switchUser is su and runuser.
func switchUser(c *simple, f *finding) {
	f.raise(permission.RiskPrivileged, base(c.name())+" runs it as another user")
	p := options{short: "cCgGsTwu", long: []string{"command", "session-command", "group", "supp-group", "shell", "whitelist-environment", "user"}}.parse(c.args())
	text, ok := either(p, "c", "C", "command", "session-command")
	switch {
	case ok:
		dir := c.dir
		if p.has("l", "login") || slices.ContainsFunc(p.operands, func(w word) bool { return w.text == "-" }) {
			dir = ""
		}
		f.anyWords = true
		f.text = append(f.text, innerText{text, dir})
	case p.has("u", "user"):
		f.hand(c, p.operands)
	default:
		f.stdin = true
	}
}

// trace is strace and ltrace, whose output may go to a command.
func trace(c *simple, f *finding) {
	p := options{short: "abeEIoOpPsSuUXADFln", stop: true, long: []string{"output", "attach", "trace", "user", "env", "string-limit", "columns"}}.parse(c.args())
	f.raise(permission.RiskReadOnly, "")
	if to, ok := either(p, "o", "output"); ok {
		if strings.ContainsAny(to.text[:min(1, len(to.text))], "|!") {
			f.text = append(f.text, innerText{word{text: to.text[1:], unknown: to.unknown, pattern: to.pattern}, c.dir})
		} else {
			f.writeFile(to)
		}
	}
	if p.has("p", "attach") {
		f.raise(permission.RiskPrivileged, "it looks into a process that runs already")
	}
	for _, o := range p.flags {
		if name, _, ok := strings.Cut(o.value.text, "="); ok && (o.name == "E" || o.name == "env") {
			f.sets = append(f.sets, name)
		}
	}
	f.hand(c, p.operands)
}

// lock is flock: a file, then words or a text.
func lock(c *simple, f *finding) {
	p := options{short: "wE", long: []string{"wait", "timeout", "conflict-exit-code"}, stop: true}.parse(c.args())
	f.raise(permission.RiskReadOnly, "")
	if len(p.operands) == 0 {
		return
	}
	file, rest := p.operands[0], p.operands[1:]
	if len(rest) > 0 {
		f.touch(file)
	}
	if len(rest) >= 2 && (rest[0].text == "-c" || rest[0].text == "--command") {
		f.hand(c, nil)
		f.text = append(f.text, innerText{rest[1], c.dir})
		return
	}
	f.hand(c, rest)
}

func watch(c *simple, f *finding) {
	p := options{short: "nqs", long: []string{"interval", "equexit", "shotsdir"}, stop: true}.parse(c.args())
	f.raise(permission.RiskReadOnly, "")
	if p.has("x", "exec") {
		f.hand(c, p.operands)
		return
	}
	f.hand(c, p.operands)
	f.inner = nil
	text := word{}
	for i, w := range p.operands {
		if i > 0 {
			text.text += " "
		}
		text.text += w.text
		text.unknown = text.unknown || w.unknown || w.pattern
	}
	f.text = append(f.text, innerText{text, c.dir})
}

// typescript is script, which writes down what a command prints.
func typescript(c *simple, f *finding) {
	p := options{short: "cIBOTEmot", long: []string{"command", "log-in", "log-out", "log-io", "log-timing", "echo", "logging-format", "output-limit"}, stop: true}.parse(c.args())
	f.raise(permission.RiskReadOnly, "")
	text, ok := either(p, "c", "command")
	for _, name := range []string{"I", "B", "O", "T", "log-in", "log-out", "log-io", "log-timing"} {
		if v, ok := p.value(name); ok {
			f.writeFile(v)
		}
	}
	rest := p.operands
	if len(rest) > 0 {
		f.writeFile(rest[0])
		rest = rest[1:]
	} else {
		f.writeFile(word{text: "typescript"})
	}
	if len(rest) > 0 && rest[0].text == "--" {
		rest = rest[1:]
	}
	f.hand(c, rest)
	if ok {
		f.text = append(f.text, innerText{text, c.dir})
	} else if len(rest) == 0 {
		f.stdin = true
	}
}

// runXargs runs a command with words that it reads.
func runXargs(c *simple, f *finding) {
	p := options{short: "aEdILnPsRJ", long: []string{"arg-file", "delimiter", "max-lines", "max-args", "max-procs", "max-chars", "process-slot-var"}, stop: true}.parse(c.args())
	f.raise(permission.RiskReadOnly, "")
	if v, ok := either(p, "a", "arg-file"); ok {
		f.readFile(v)
	}
	rest := p.operands
	if len(rest) == 0 {
		f.hand(c, nil)
		return
	}
	f.hand(c, rest)
	f.inner[0].words = filled(rest, placeholder(p))
}

// placeholder is the mark that xargs replaces, "" where it appends.
func placeholder(p parsed) string {
	for _, o := range p.flags {
		switch o.name {
		case "I", "J":
			return o.value.text
		case "replace", "i":
			if o.value.text != "" {
				return o.value.text
			}
			return "{}"
		}
	}
	return ""
}

// filled are the words of a command with what xargs puts in.
func filled(words []word, mark string) []word {
	all := append([]word{}, words...)
	if mark == "" {
		return append(all, word{text: "{}", unknown: true, many: true})
	}
	for i, w := range all {
		if strings.Contains(w.text, mark) {
			all[i].unknown = true
		}
	}
	return all
}
