package command

import (
	"slices"
	"strings"

	"github.com/aircoding/air/runtime/permission"
)

// wrappers are programs that run another one, which is looked at by itself. An option that
// air does not know may take the name of that program for its value.
var wrappers = map[string]program{
	"env":       runEnv,
	"sudo":      sudo,
	"doas":      wrapper{options: "C=! L n s! u=", risk: permission.RiskPrivileged, why: "doas runs it as another user", clears: true}.find,
	"su":        switchUser,
	"runuser":   switchUser,
	"nice":      wrapper{options: "n,adjustment="}.find,
	"ionice":    wrapper{options: "c,class= n,classdata= p,pid=! P,pgid=! u,uid=! t,ignore"}.find,
	"nohup":     wrapper{}.find,
	"setsid":    wrapper{options: "c,ctty f,fork w,wait"}.find,
	"stdbuf":    wrapper{options: "i,input= o,output= e,error="}.find,
	"timeout":   timeout,
	"gtimeout":  timeout,
	"time":      wrapper{options: "f,format= o,output=> a,append l p,portability q,quiet v,verbose"}.find,
	"chroot":    wrapper{options: "groups= userspec= skip-chdir", skip: 1, risk: permission.RiskPrivileged, why: "chroot runs it in another root folder", elsewhere: true}.find,
	"taskset":   wrapper{options: "a,all-tasks c,cpu-list p,pid!", skip: 1, number: true}.find,
	"chrt":      wrapper{options: chrtOptions, skip: 1, number: true}.find,
	"unbuffer":  wrapper{options: "p"}.find,
	"busybox":   wrapper{}.find,
	"catchsegv": wrapper{}.find,
	"strace":    tracer(straceOptions),
	"ltrace":    tracer(ltraceOptions),
	"flock":     lock,
	"watch":     watch,
	"script":    typescript,
	"xargs":     runXargs,
	"parallel":  row{risk: permission.RiskOpaque, why: "parallel puts commands together from what it reads"}.find,

	"bash": runShell, "sh": runShell, "dash": runShell, "ash": runShell, "rbash": runShell,
	"zsh": otherShell, "ksh": otherShell, "mksh": otherShell, "fish": otherShell, "csh": otherShell, "tcsh": otherShell,
	"yash": otherShell, "pwsh": otherShell, "elvish": otherShell, "nu": otherShell, "xonsh": otherShell,
}

const chrtOptions = `a,all-tasks b,batch d,deadline f,fifo i,idle m,max o,other p,pid! r,rr R,reset-on-fork
	T,sched-runtime= P,sched-period= D,sched-deadline= v,verbose`

var timeout = wrapper{options: "k,kill-after= s,signal= f,foreground p,preserve-status v,verbose", skip: 1, number: true}.find

// wrapper is a program whose operands are the words of another one.
type wrapper struct {
	options   spec
	skip      int  // operands before the words of the other
	number    bool // those are numbers, which newer versions may leave out
	risk      permission.Risk
	why       string
	elsewhere bool // the other does not run in this folder
	clears    bool // nor with these variables
}

func (w wrapper) find(c *simple, f *finding) {
	a := f.parse(c, w.options, stop)
	f.raise(w.risk, w.why)
	f.clears = f.clears || w.clears
	skip := min(w.skip, len(a.operands))
	if w.number && skip > 0 && !isDigits(a.operands[0].text[:min(1, len(a.operands[0].text))]) {
		f.raise(permission.RiskOpaque, "what "+base(c.name())+" runs cannot be known where it is given no number first")
	}
	inner := f.hand(c, a.operands[skip:])
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
		f.raise(permission.RiskOpaque, notKnown("what "+base(c.name())+" runs"))
	}
	if len(rest) == 0 {
		return nil
	}
	f.inner = append(f.inner, simple{words: rest, dir: c.dir})
	return &f.inner[len(f.inner)-1]
}

const envOptions spec = `a,argv0= C,chdir=% i,ignore-environment 0,null u,unset= S,split-string= v,debug
	block-signal=? default-signal=? ignore-signal=? list-signal-handling`

// runEnv is env: options, which may hold words in a text, then variables and a command.
func runEnv(c *simple, f *finding) {
	dir := word{}
	words, own := c.args(), []word(nil) // own: what is not the command's
	for range maxWraps {
		a := f.parse(&simple{words: append(c.words[:1:1], words...), dir: c.dir}, envOptions, stop)
		if to, ok := a.folder(); ok {
			dir = under(dir, to)
		}
		f.unset(&a)
		own = append(own, words[:len(words)-len(a.operands)]...)
		text, split := a.value("split-string")
		if !split {
			f.envWords(c, own, a.operands, dir)
			return
		}
		more, ok := splitString(text)
		if last := a.flags[len(a.flags)-1]; !ok || last.name != "split-string" || countFlags(&a, last.name) > 1 || a.dashes >= 0 {
			f.raise(permission.RiskOpaque, "env splits a text in its own way")
			return
		}
		words = append(more, a.operands...)
	}
	f.raise(permission.RiskOpaque, "env splits too many texts")
}

func countFlags(a *arguments, name string) (n int) {
	for _, o := range a.flags {
		if o.name == name {
			n++
		}
	}
	return n
}

// unset notes the variables that env takes away.
func (f *finding) unset(a *arguments) {
	f.clears = f.clears || a.has("ignore-environment")
	for _, o := range a.flags {
		if o.name == "unset" {
			f.sets = append(f.sets, setting{name: o.value.text, gone: true})
		}
	}
}

// setting notes NAME=value, and reports whether the word is that.
func (f *finding) setting(w word) bool {
	name, text, ok := strings.Cut(w.text, "=")
	if !ok || w.unknown && startsUnknown(w.text) {
		return false
	}
	s := setting{name: name}
	if !w.unknown && !w.pattern {
		s.value = value{kind: textValue, text: text}
	}
	f.sets = append(f.sets, s)
	return true
}

// envWords takes the variables from the words that are left.
func (f *finding) envWords(c *simple, own, words []word, dir word) {
	if len(words) > 0 && words[0].text == "-" {
		f.clears, words = true, words[1:]
	}
	f.anyWords = allKnown(own)
	for len(words) > 0 && f.setting(words[0]) {
		f.anyWords = f.anyWords && !words[0].many
		words = words[1:]
	}
	if !f.anyWords {
		f.raise(permission.RiskOpaque, notKnown("what env runs"))
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

const sudoOptions = `A,askpass B,bell b,background C,close-from= D,chdir= E preserve-env=? e,edit! g,group= H,set-home host= i,login K,remove-timestamp
	k,reset-timestamp l,list N,no-update n,non-interactive P,preserve-groups p,prompt= R,chroot= r,role= S,stdin s,shell T,command-timeout= t,type=
	U,other-user= u,user= V,version v,validate`

func sudo(c *simple, f *finding) {
	f.raise(permission.RiskPrivileged, "sudo runs it as another user")
	a := f.parse(c, sudoOptions, stop)
	f.clears = true
	rest := a.operands
	for len(rest) > 0 && assignment.MatchString(rest[0].text) && f.setting(rest[0]) {
		rest = rest[1:]
	}
	switch inner := f.hand(c, rest); {
	case inner == nil:
		f.stdin = a.has("shell", "login")
	case a.has("edit"):
		f.inner = nil
	case a.has("chdir", "chroot", "login"):
		inner.dir = ""
	}
}

const suOptions = `c,C,session-command,command= f,fast g,group= G,supp-group= l,login m,p,preserve-environment P,pty T,no-pty s,shell=!
	w,whitelist-environment= u,user=`

// switchUser is su and runuser.
func switchUser(c *simple, f *finding) {
	f.raise(permission.RiskPrivileged, base(c.name())+" runs it as another user")
	a := f.parse(c, suOptions, 0)
	f.clears = true
	text, ok := a.value("command")
	dash := len(a.operands) > 0 && a.operands[0].text == "-"
	switch {
	case ok:
		dir := c.dir
		if dash || a.has("login") {
			dir = ""
		}
		f.anyWords = true
		f.runText(text, dir)
	case a.has("user"):
		f.hand(c, a.operands)
	case len(a.operands) > 2 || len(a.operands) > 1 && !dash:
		f.raise(permission.RiskOpaque, base(c.name())+" gives words to a shell")
	default:
		f.stdin = true
	}
}

const (
	straceOptions spec = `a,columns= A,output-append-mode b,detach-on= c,summary-only C,summary d,debug D daemonize=? e= E,env== f,follow-forks
		F output-separately i,instruction-pointer I,interruptible= k stack-trace=? n,syscall-number o,output= O,summary-syscall-overhead= p,attach=!
		P,trace-path= q quiet,silent,silence=? r relative-timestamps=? s,string-limit= S,summary-sort-by= t absolute-timestamps,timestamps=?
		T syscall-times=? u,user=! U,summary-columns= v,no-abbrev w,summary-wall-clock x strings-in-hex=? X,const-print-style= y decode-fds=?
		z,successful-only Z,failed-only,failing-only seccomp-bpf trace= abbrev= verbose= raw= signal,signals= status= read,reads= write,writes=`
	ltraceOptions spec = `a,align= A= b,no-signals c C,demangle D,debug= e= f F,config=< i l,library= L n,indent= o,output= p=! r s= S t T u=! x=`
)

// tracer is strace and ltrace, whose output may go to a command, and which may change what
// a system call does.
func tracer(options spec) program {
	return func(c *simple, f *finding) {
		a := f.parse(c, options, stop)
		if to, ok := a.value("output"); ok {
			if strings.ContainsAny(to.text[:min(1, len(to.text))], "|!") {
				f.runText(word{text: to.text[1:], unknown: to.unknown, pattern: to.pattern}, c.dir)
			} else {
				f.writeFile(to)
			}
		}
		for _, o := range a.flags {
			if what, _, ok := strings.Cut(o.value.text, "="); o.name == "e" && ok && !oneOf(what, "t trace a abbrev v verbose x raw q quiet s signal r read w write status decode-fds") {
				f.raise(permission.RiskOpaque, base(c.name())+" -e "+what+" may change what the program does")
			}
		}
		f.hand(c, a.operands)
	}
}

const lockOptions = "s,shared x,e,exclusive u,unlock n,nb,nonblock w,wait,timeout= E,conflict-exit-code= o,close F,no-fork verbose"

// lock is flock: a file, then words or a text.
func lock(c *simple, f *finding) {
	a := f.parse(c, lockOptions, stop)
	if len(a.operands) == 0 {
		return
	}
	file, rest := a.operands[0], a.operands[1:]
	if len(rest) > 0 {
		f.touch(file)
	}
	if len(rest) >= 2 && oneOf(rest[0].text, "-c --command") {
		f.hand(c, nil)
		f.runText(rest[1], c.dir)
		return
	}
	f.hand(c, rest)
}

const watchOptions = `b,beep c,color C,no-color d,differences=? e,errexit g,chgexit n,interval= p,precise q,equexit= r,no-rerun s,shotsdir=>
	t,no-title w,no-wrap x,exec`

func watch(c *simple, f *finding) {
	a := f.parse(c, watchOptions, stop)
	f.hand(c, a.operands)
	if a.has("exec") {
		return
	}
	f.inner = nil
	text := word{}
	for i, w := range a.operands {
		if i > 0 {
			text.text += " "
		}
		text.text += w.text
		text.unknown = text.unknown || w.unknown || w.pattern
	}
	f.runText(text, c.dir)
}

// scriptOptions: -t has a value in the next word on some systems, and none on others.
const scriptOptions = `a,append c,command=$ e,return E,echo= f,flush force I,log-in=> B,log-io=> O,log-out=> m,logging-format= o,output-limit=
	q,quiet t! timing=?> T,log-timing=>`

// typescript is script, which writes down what a command prints.
func typescript(c *simple, f *finding) {
	a := f.parse(c, scriptOptions, stop)
	file, rest := word{text: "typescript"}, a.operands
	if len(rest) > 0 {
		file, rest = rest[0], rest[1:]
	}
	f.writeFile(file)
	if len(rest) > 0 && rest[0].text == "--" {
		rest = rest[1:]
	}
	f.hand(c, rest)
	f.stdin = len(rest) == 0 && !a.has("command")
}

const xargsOptions = `0,null a,arg-file=< d,delimiter= E= e,eof=? I= i,replace=? J= l,max-lines=? L= n,max-args= o,open-tty P,max-procs= p,interactive
	process-slot-var== r,no-run-if-empty R= s,max-chars= S= show-limits t,verbose x,exit`

// runXargs runs a command with words that it reads.
func runXargs(c *simple, f *finding) {
	a := f.parse(c, xargsOptions, stop)
	if inner := f.hand(c, a.operands); inner != nil {
		inner.words = filled(a.operands, &a)
		inner.fed = slices.ContainsFunc(inner.words, func(w word) bool { return w.unknown })
	}
}

// onlyReaders only read and print, whatever their words are.
var onlyReaders = set("cat head tail wc grep egrep fgrep ls stat du cut nl od rev tac paste comm cmp md5sum sha1sum sha224sum sha256sum sha384sum " +
	"sha512sum b2sum cksum sum basename dirname realpath readlink")

// findFed is for a program with words that xargs reads, of one that only reads: behind a
// sandbox those can name nothing that the folder does not stand for.
func findFed(c *simple, f *finding) {
	known := simple{words: slices.Clone(c.words), dir: c.dir}
	for i, w := range known.words {
		if w.unknown {
			known.words[i] = word{text: "."}
		}
	}
	findNamed(&known, f)
	f.works(word{}, false)
	f.anyWords = true
}

// filled are the words of a command with what xargs puts in: at a mark, else at the end.
// Which of several options that say how counts differs.
func filled(words []word, a *arguments) []word {
	all, marked, counted := append([]word{}, words...), false, false
	for _, o := range a.flags {
		mark := o.value.text
		switch {
		case oneOf(o.name, "L max-lines max-args"):
			counted = true
			continue
		case o.name == "replace" && mark == "":
			mark = "{}"
		case !oneOf(o.name, "I J replace"):
			continue
		}
		marked = true
		for i, w := range all {
			if strings.Contains(w.text, mark) {
				all[i].unknown, all[i].many = true, w.many || o.name == "J"
			}
		}
	}
	if !marked || counted {
		all = append(all, word{text: "{}", unknown: true, many: true})
	}
	return all
}
