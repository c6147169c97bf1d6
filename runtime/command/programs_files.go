package command

import (
	"regexp"
	"slices"
	"strings"

	"github.com/aircoding/air/runtime/permission"
)

// filePrograms look at files, and move, change or pack them.
var filePrograms = table{
	"ls": row{operands: readsTrees, options: "I,ignore= w,width= T,tabsize= block-size= color=? hide= time= sort= format= time-style= " +
		"indicator-style= quoting-style= hyperlink=?"},
	"dir": row{operands: readsTrees},
	"cat": readsFiles,
	"bat": row{operands: reads, guarded: true, options: "l,language= n,number p,plain A,show-all style= color= paging=never r,line-range= theme= " +
		"wrap= tabs= P pager=!"},
	"head": row{operands: reads, options: "n,lines= c,bytes="},
	"tail": row{operands: reads, options: "n,lines= c,bytes= s,sleep-interval= pid= max-unchanged-stats="},
	"less": pager(row{operands: reads, guarded: true, options: "N S R F X e E i I n r s g G j= p= x= P= o,log-file=> O=>"}),
	"more": pager(row{operands: reads, guarded: true, options: "n,lines= d f l c p s u"}),
	"file": row{operands: reads, guarded: true, options: "b,brief i,mime mime-type mime-encoding L,dereference h,no-dereference k,keep-going z Z " +
		"s,special-files f,files-from=! m,magic-file=< F,separator= e,exclude= N,no-pad n r 0,print0 p,preserve-date extension c v,version"},
	"stat": row{operands: reads, options: "c,format= printf= f= t="},
	"du":   row{operands: readsTrees, options: "d,max-depth= B,block-size= t,threshold= X,exclude-from=< exclude= files0-from=!"},
	"df":   row{operands: reads, options: "B,block-size= t,type= x,exclude-type= output=?"},
	"tree": row{operands: readsTrees, guarded: true, options: "a d l f x L= R P= I= p u g s h D F q N Q r t c U v i A S n C J X filelimit= " +
		"gitignore prune noreport dirsfirst matchdirs ignore-case sort=? du si inodes device timefmt= charset= o,output=>"},
	"pwd basename dirname which whereis type": onlyPrints,
	"realpath": row{operands: reads, options: "relative-to= relative-base="},
	"readlink": readsFiles,
	"cmp":      row{operands: reads, options: "n,bytes= i,ignore-initial="},
	"diff": row{operands: readsTrees, options: "U,unified= C,context= I,ignore-matching-lines= F,show-function-line= L,label= W,width= x,exclude= " +
		"X,exclude-from=< S,starting-file= from-file=< to-file=< color=? tabsize= horizon-lines= line-format= D,ifdef="},
	"diff3":  row{operands: reads, guarded: true, options: "A,show-all e E m,merge T a,text L,label= x X 3 i"},
	"sdiff":  row{operands: reads, guarded: true, options: "w,width= s,suppress-common-lines l i W E b B a"},
	"mkdir":  program(makeFolders),
	"rmdir":  row{risk: permission.RiskWorkspace, operands: removes},
	"touch":  row{risk: permission.RiskWorkspace, operands: touches, options: "d,date= t= r,reference=<"},
	"mktemp": row{risk: permission.RiskWorkspace, operands: writes, guarded: true, options: "d,directory p,tmpdir=> suffix= q,quiet t u,dry-run"},
	"mkfifo": row{risk: permission.RiskWorkspace, operands: writes, options: "m,mode="},
	"shred": row{risk: permission.RiskDestructive, why: "what shred overwrites cannot be brought back", operands: removes,
		options: "n,iterations= s,size= random-source=<"},
	"truncate":          row{risk: permission.RiskWorkspace, operands: writes, options: "s,size= r,reference=<"},
	"rename":            row{risk: permission.RiskOpaque, why: "rename takes code, or moves files whose names cannot be known"},
	"rm unlink":         program(remove),
	"cp install":        copies(false),
	"mv":                copies(true),
	"ln":                program(link),
	"chmod chown chgrp": program(modes),
	"dd":                program(convert),
	"find":              program(findFiles),
	"fd": row{operands: treesAfter, guarded: true, options: "H,hidden I,no-ignore u,unrestricted s,case-sensitive i,ignore-case g,glob " +
		"F,fixed-strings a,absolute-path l,list-details L,follow p,full-path 0,print0 d,max-depth= min-depth= E,exclude= t,type= e,extension= " +
		"S,size= changed-within= changed-before= c,color= j,threads= q,quiet 1 max-results= x,exec! X,exec-batch!"},
	"tar":   program(archive),
	"zip":   program(zip),
	"unzip": program(unzip),
	"gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 compress uncompress": program(squeeze),
	"zcat bzcat xzcat zstdcat": readsFiles,
	"cpio":                     row{risk: permission.RiskOpaque, why: "the files that cpio works on cannot be known before it runs"},
	"7z":                       row{risk: permission.RiskOpaque, why: "air does not know what an archive holds, and where 7z writes it"},
	"split": splits("b,bytes= C,line-bytes= l,lines= n,number= a,suffix-length= d,numeric-suffixes=? x,hex-suffixes=? e,elide-empty-files "+
		"t,separator= u,unbuffered verbose additional-suffix= filter=$", "x"),
	"csplit": splits("b,suffix-format= f,prefix= k,keep-files n,digits= s,silent z,elide-empty-files q,quiet suppress-matched", ""),
}

// pager is for less and more, to which an operand with + is a command of their own.
func pager(r row) program {
	return func(c *simple, f *finding) {
		for _, w := range r.read(c, f).operands {
			if strings.HasPrefix(w.text, "+") && strings.Trim(w.text, "+G0123456789") != "" {
				f.raise(permission.RiskOpaque, base(c.name())+" runs what follows the +")
			}
		}
	}
}

// makeFolders is mkdir.
func makeFolders(c *simple, f *finding) {
	row{risk: permission.RiskWorkspace, operands: touches, options: "m,mode="}.read(c, f)
	for i := range f.effects {
		f.effects[i].MakesFolder = f.effects[i].Kind == permission.Write
	}
}

const lost = "what is deleted recursively cannot be brought back"

var deletion = row{
	risk: permission.RiskWorkspace, why: "it deletes files", operands: removes, guarded: true,
	options: "r,R,recursive f,force i I d,dir v,verbose one-file-system no-preserve-root preserve-root=? interactive=?",
	raises:  []raise{{"recursive no-preserve-root", permission.RiskDestructive, lost}},
}

// remove is rm.
func remove(c *simple, f *finding) {
	a := deletion.read(c, f)
	for i := range f.effects {
		e := &f.effects[i]
		e.Recursive = e.Recursive || a.has("recursive")
		if leadsOut(e.Target) {
			f.raise(permission.RiskDestructive, "it deletes files that may lie outside the project")
		}
	}
}

const copyOptions spec = "a,archive b,backup=? d f,force i,interactive H l,link L,dereference n,no-clobber P,no-dereference p preserve=? " +
	"no-preserve= parents r,R,recursive reflink=? remove-destination sparse= strip-trailing-slashes s,symbolic-link S,suffix= " +
	"t,target-directory= T,no-target-directory u,update=? v,verbose x,one-file-system exchange debug c m,mode= g,group= o,owner= " +
	"D C,compare keep-directory-structure"

const moves = "it moves files; nothing is lost where they stay in the project"

// copies is cp, and mv, which also takes the source away.
func copies(takes bool) program {
	return func(c *simple, f *finding) {
		a := f.parse(c, copyOptions, 0)
		if takes {
			f.raise(permission.RiskWorkspace, moves)
		}
		f.raise(permission.RiskWorkspace, "it writes files")
		sources := a.operands
		target, given := a.value("target-directory")
		if base(c.name()) == "install" && a.has("d") {
			touches.add(sources, f)
			return
		}
		into := given
		if !given && len(sources) > 0 {
			target, sources = sources[len(sources)-1], sources[:len(sources)-1]
			into = len(sources) > 1 || strings.HasSuffix(target.text, "/") || target.text == "." || target.text == ".."
		}
		for _, s := range sources {
			f.readTree(s)
			if takes {
				f.take(s)
			}
			f.put(s, target, into && !a.has("no-target-directory"))
		}
	}
}

// put writes a source to its target, or into that folder.
func (f *finding) put(source, target word, into bool) {
	to := target
	if into && !source.pattern {
		to = joined(target, word{text: base(strings.TrimSuffix(source.text, "/")), unknown: source.unknown})
	}
	if into && source.pattern {
		to = word{text: strings.TrimSuffix(target.text, "/") + "/" + base(source.text), pattern: true, unknown: target.unknown}
	}
	if e := f.writeFile(to); e != nil {
		e.Recursive = into && source.pattern
	}
	f.obeyed(to)
}

// link is ln. What a link leads to is read: whoever opens the link opens that.
func link(c *simple, f *finding) {
	a := f.parse(c, "s,symbolic f,force n,no-dereference r,relative v,verbose i,interactive L,logical P,physical T,no-target-directory "+
		"t,target-directory= b,backup=? S,suffix= d F", 0)
	f.raise(permission.RiskWorkspace, "it writes files")
	sources := a.operands
	target, given := a.value("target-directory")
	switch {
	case given:
	case len(sources) > 1:
		target, sources = sources[len(sources)-1], sources[:len(sources)-1]
	default:
		target = word{text: "."}
	}
	for _, s := range sources {
		from := s
		if folder, _, below := cutLast(target.text, '/'); a.has("symbolic") && !a.has("relative") && below {
			from = under(word{text: folder}, s)
		}
		f.readTree(from)
		f.put(s, target, given || len(sources) > 1 || target.text == "." || strings.HasSuffix(target.text, "/"))
	}
}

func cutLast(text string, separator byte) (before, after string, found bool) {
	i := strings.LastIndexByte(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

// modes is chmod, chown and chgrp: the first operand is the mode or the owner.
func modes(c *simple, f *finding) {
	a := f.parse(withArgs(c, chmodArgs(c)), "R,recursive reference=< from= f,silent v,verbose c,changes h,no-dereference H L P preserve-root "+
		"no-preserve-root dereference", 0)
	f.raise(permission.RiskWorkspace, "it changes who may do what with files")
	operands := a.operands
	if len(operands) > 0 && !a.has("reference") {
		if mode := operands[0].text; base(c.name()) == "chmod" && (strings.Contains(mode, "s") || len(mode) == 4 && mode[0] != '0') {
			f.raise(permission.RiskPrivileged, "it lets a program run with the rights of its owner")
		}
		operands = operands[1:]
	}
	if base(c.name()) != "chmod" {
		f.raise(permission.RiskPrivileged, "it gives files to other users")
	}
	for _, w := range operands {
		if e := f.touch(w); e != nil {
			e.Recursive = e.Recursive || a.has("recursive")
		} else if a.has("recursive") {
			f.raise(permission.RiskDestructive, "it changes who may read the protected files, too")
		}
	}
}

// chmodArgs are the words of a command without dashes before modes such as -x.
func chmodArgs(c *simple) []word {
	var args []word
	for _, w := range c.args() {
		if len(w.text) > 1 && w.text[0] == '-' && strings.Trim(w.text[1:], "rwxXst,+=ugoa-") == "" && w.text != "--" && !w.unknown {
			w.text = "a" + w.text
		}
		args = append(args, w)
	}
	return args
}

// convert is dd.
func convert(c *simple, f *finding) {
	for _, w := range c.args() {
		name, value, _ := strings.Cut(w.text, "=")
		file := word{text: value, pattern: w.pattern, unknown: w.unknown}
		switch {
		case w.unknown:
			f.raise(permission.RiskOpaque, "which file "+w.text+" stands for cannot be known before it runs")
		case name == "if":
			f.readFile(file)
		case name == "of" && strings.HasPrefix(value, "/dev/") && !isFree(value, permission.Write):
			f.raise(permission.RiskPrivileged, "it writes a device")
			f.writeFile(file)
		case name == "of":
			f.writeFile(file)
		}
	}
}

// findFiles is find: folders, then an expression.
func findFiles(c *simple, f *finding) {
	args := c.args()
	for len(args) > 0 && oneOf(args[0].text, "-H -L -P -O0 -O1 -O2 -O3") {
		args = args[1:]
	}
	roots := 0
	for roots < len(args) && !inExpression(args[roots]) {
		if args[roots].pattern && args[roots].mayBeOption() {
			f.raise(permission.RiskOpaque, "a file whose name begins with - would be a part of the expression of find: write ./"+args[roots].text)
		}
		roots++
	}
	readsTrees.add(args[:roots], f)
	starts := args[:roots]
	if len(starts) == 0 {
		starts = []word{{text: "."}}
	}
	findExpression(c, f, starts, args[roots:])
	if slices.ContainsFunc(args[roots:], func(w word) bool { return beginsWith(w.text, "-exec -ok") }) {
		f.readFound(starts, args[roots:])
	}
}

// readFound reads the protected names that an expression picks out for a command to work
// on. A test whose opposite, or whose pruning, leaves them out for all that follows does
// not count.
func (f *finding) readFound(starts, args []word) {
	if len(starts) > 64 {
		f.raise(permission.RiskOpaque, tooMuch)
		return
	}
	depth, list := 0, texts(args)
	either := 0 // behind the last place where what does not hold goes on
	for i, text := range list {
		if oneOf(text, "-o -or ,") {
			either = i
		}
	}
	for i, test := range list {
		switch test {
		case "(":
			depth++
		case ")":
			depth--
		}
		if i+1 >= len(args) || !oneOf(test, "-name -iname -path -ipath -wholename -iwholename -regex -iregex") {
			continue
		}
		if depth == 0 && leavesOut(list, i, either) {
			continue
		}
		f.readTest(starts, test, args[i+1])
	}
}

// leavesOut reports whether the test at i is such that nothing it holds for goes on.
func leavesOut(list []string, i, either int) bool {
	rest, negations := list[i+2:], 0
	for negations < i && oneOf(list[i-1-negations], "! -not") {
		negations++
	}
	if negations == 0 {
		return len(rest) > 1 && rest[0] == "-prune" && oneOf(rest[1], "-o -or") && list[either] != ","
	}
	return negations == 1 && either < i
}

// readTest reads what one test of find may hold for. To find, a mark may stand for the
// dot at the start of a name.
func (f *finding) readTest(starts []word, test string, value word) {
	if strings.HasSuffix(test, "regex") {
		f.readRegexp(starts, test, value)
		return
	}
	name := word{text: value.text, pattern: strings.ContainsAny(value.text, "*?["), unknown: value.unknown}
	if strings.HasPrefix(test, "-i") {
		name.text = strings.ToLower(name.text)
	}
	folder, last := "", name.text
	if at := strings.LastIndexByte(name.text, '/'); at >= 0 {
		folder, last = name.text[:at+1], name.text[at+1:]
	}
	all := []word{name}
	switch plain := withoutSets(last); {
	case strings.HasPrefix(plain, "*"):
		last = "." + last
	case strings.HasPrefix(plain, "?"):
		last = "." + plain[1:]
	}
	if slices.ContainsFunc(permission.GuardedFrom(permission.Read).Names, func(n string) bool { return matches(last, n) }) {
		name.text = folder + last
		all = append(all, name)
	}
	for _, name := range all {
		for _, start := range starts {
			if folder == "" {
				f.readTree(under(start, name))
			} else {
				f.readTree(name)
			}
		}
	}
}

// readRegexp reads the protected names that a regular expression matches, in one notation
// or another.
func (f *finding) readRegexp(starts []word, test string, value word) {
	flags := ""
	if test == "-iregex" {
		flags = "(?i)"
	}
	plain := strings.NewReplacer(`\(`, "(", `\)`, ")", `\|`, "|", `\{`, "{", `\}`, "}").Replace(value.text)
	for _, text := range []string{value.text, plain} {
		r, err := regexp.Compile(flags + "^(?:" + text + ")$")
		for _, name := range permission.GuardedFrom(permission.Read).Names {
			for _, start := range starts {
				if file := under(start, word{text: name}); value.unknown || err != nil || r.MatchString(file.text) {
					f.readTree(file)
				}
			}
		}
	}
}

func inExpression(w word) bool {
	return !w.unknown && (strings.HasPrefix(w.text, "-") || w.text == "(" || w.text == ")" || w.text == "!" || w.text == ",")
}

var (
	findTests = set("-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -perm -user -group -uid -gid " +
		"-links -inum -lname -ilname -mtime -atime -ctime -mmin -amin -cmin -used -maxdepth -mindepth -fstype -context -printf -newermt -newerat " +
		"-newerct")
	findFlags = set("-print -print0 -prune -quit -ls -empty -true -false -depth -d -xdev -mount -daystart -follow -noleaf -readable -writable " +
		"-executable -nouser -nogroup -nowarn -warn -ignore_readdir_race -noignore_readdir_race -not -and -or -a -o ! ( ) , --")
	findReads  = set("-newer -anewer -cnewer -samefile")
	findWrites = set("-fprint -fprint0 -fls")
)

func findExpression(c *simple, f *finding, starts, args []word) {
	for len(args) > 0 {
		w := args[0]
		args = args[1:]
		value := word{}
		if len(args) > 0 {
			value = args[0]
		}
		switch {
		case w.unknown:
			f.raise(permission.RiskOpaque, "what find does with "+w.text+" cannot be known before it runs")
		case findFlags[w.text]:
			continue
		case value.pattern && findTests[w.text]:
			f.raise(permission.RiskOpaque, "the names that "+value.text+" matches may be a part of the expression of find: write it in quotes")
		case findTests[w.text]:
		case findReads[w.text]:
			f.readFile(value)
		case findWrites[w.text]:
			f.writeFile(value)
		case w.text == "-fprintf":
			f.writeFile(value)
			args = args[min(1, len(args)):]
		case w.text == "-delete":
			f.deletes(starts)
			continue
		case w.text == "-exec" || w.text == "-execdir" || w.text == "-ok" || w.text == "-okdir":
			args = f.findRuns(c, w.text, starts, args)
			continue
		default:
			f.raise(permission.RiskOpaque, "air does not know the test "+w.text+" of find")
		}
		args = args[min(1, len(args)):]
	}
}

func (f *finding) deletes(starts []word) {
	f.raise(permission.RiskDestructive, "what find deletes cannot be brought back")
	for _, s := range starts {
		if e := f.removeFile(s); e != nil {
			e.Recursive, e.Below = true, e.Below || base(s.text) == "." // which find does not delete
		}
	}
}

// findRuns adds the command that find runs for what it finds. {} stands for anything
// below the folders where it starts.
func (f *finding) findRuns(c *simple, how string, starts, args []word) []word {
	var inner []word
	for len(args) > 0 {
		w := args[0]
		args = args[1:]
		if w.text == ";" || w.text == "+" && len(inner) > 0 && inner[len(inner)-1].text == foundIn(starts) {
			break
		}
		if strings.Contains(w.text, "{}") && !w.unknown {
			w = found(w, starts)
		}
		inner = append(inner, w)
	}
	dir := c.dir
	if strings.HasSuffix(how, "dir") {
		dir = ""
	}
	if len(inner) == 0 {
		f.raise(permission.RiskOpaque, "the command of "+how+" is missing")
		return args
	}
	f.inner = append(f.inner, simple{words: inner, dir: dir})
	return args
}

// found is the word that stands for what find finds.
func found(w word, starts []word) word {
	if w.text == "{}" {
		return word{text: foundIn(starts), pattern: len(starts) == 1, unknown: len(starts) != 1 || starts[0].unknown}
	}
	w.unknown = true
	return w
}

func foundIn(starts []word) string {
	if len(starts) != 1 || starts[0].unknown {
		return "{}"
	}
	return strings.TrimSuffix(starts[0].text, "/") + "/**"
}

const archiveOptions spec = "c,create x,extract,get t,list r,append u,update A,catenate,concatenate d,diff,compare delete test-label f,file= " +
	"C,directory=% v,verbose z,gzip,gunzip,ungzip j,bzip2 J,xz Z,compress,uncompress lzma lzip lzop zstd a,auto-compress no-auto-compress " +
	"T,files-from=! X,exclude-from=< exclude= exclude-vcs exclude-vcs-ignores exclude-backups wildcards no-wildcards anchored no-anchored " +
	"no-recursion recursion strip-components= transform=! p,preserve-permissions,same-permissions same-owner no-same-owner " +
	"no-same-permissions o m,touch k,keep-old-files keep-newer-files skip-old-files overwrite overwrite-dir no-overwrite-dir unlink-first U " +
	"h,dereference hard-dereference n,seek numeric-owner owner= group= mode= mtime= sort= O,to-stdout S,sparse W,verify w,interactive " +
	"b,blocking-factor= B,read-full-records i,ignore-zeros l,check-links one-file-system show-transformed-names show-omitted-dirs totals=? " +
	"checkpoint=? utc full-time format= H= posix pax-option= V,label= N,newer,after-date=< newer-mtime=< quoting-style= null no-null " +
	"block-number R occurrence=? level= warning= ignore-failed-read remove-files s,same-order,preserve-order"

// archive is tar. Its first word may be options without a dash.
func archive(c *simple, f *finding) {
	args := c.args()
	if len(args) > 0 && !args[0].unknown && args[0].text != "" && args[0].text[0] != '-' {
		args = oldStyle(args)
	}
	a := f.parse(withArgs(c, args), archiveOptions, 0)
	dir, moved := a.folder()
	if moved {
		f.readTree(dir)
	} else {
		dir = word{text: "."}
	}
	file, _ := a.value("file")
	if strings.Contains(file.text, ":") {
		f.raise(permission.RiskOpaque, "tar reaches another machine through the : in "+file.text)
	}
	switch {
	case a.has("list", "get", "compare", "test-label"):
		f.readFile(file)
	case len(a.flags) > 0:
		f.writeFile(file)
	}
	switch {
	case a.has("get") && !a.has("to-stdout"):
		f.unpacks(dir)
	case !a.has("list", "test-label", "get"):
		for _, w := range a.operands {
			f.readTree(under(dir, w))
		}
	}
	if !a.has("file") && !a.has("to-stdout") {
		f.raise(permission.RiskOpaque, "tar works on the archive that the environment names")
	}
	if a.has("remove-files") {
		f.raise(permission.RiskDestructive, "it deletes what it packs")
	}
}

// oldStyle turns tar's options without a dash, whose values follow in their order, into
// options with one.
func oldStyle(args []word) []word {
	letters, args := args[0].text, args[1:]
	var all []word
	for i := range len(letters) {
		all = append(all, word{text: "-" + letters[i:i+1]})
		if strings.Contains("fCTXbHgIKLNVF", letters[i:i+1]) && len(args) > 0 {
			all, args = append(all, args[0]), args[1:]
		}
	}
	return append(all, args...)
}

func zip(c *simple, f *finding) {
	a := f.parse(c, "r,recurse-paths q,quiet v,verbose j,junk-paths 9 1 0 u,update f,freshen d,delete m,move x= i= n= y,symlinks X,no-extra o "+
		"D,no-dir-entries e P= l g S A z c s= b=> O,output-file=> t= @! h", 0)
	f.raise(permission.RiskWorkspace, "it writes an archive")
	for i, w := range a.operands {
		if i == 0 {
			f.writeFile(w)
			continue
		}
		f.readTree(w)
		if a.has("move") {
			f.raise(permission.RiskDestructive, "it deletes what it packs")
			f.removeFile(w)
		}
	}
}

func unzip(c *simple, f *finding) {
	a := f.parse(c, "l v t z p c Z q o n j x d= a L X K u f C B D W b M s V 1", 0)
	if len(a.operands) > 0 {
		f.readFile(a.operands[0])
	}
	if a.has("l", "v", "t", "z", "p", "c", "Z") {
		return
	}
	dir, given := a.value("d")
	if !given {
		dir = word{text: "."}
	}
	f.unpacks(dir)
}

// unpacks writes into a folder what an archive holds: any name, also one that other
// programs obey, over what is there or beside it.
func (f *finding) unpacks(dir word) {
	f.raise(permission.RiskWorkspace, "it writes the files of an archive")
	if oneOf(dir.text, ". ./") {
		f.raise(permission.RiskDestructive, "it writes what has the names of the files in the archive")
		f.readTree(dir)
		return
	}
	f.writeTree(dir)
}

const squeezeOptions spec = "c,stdout,to-stdout d,decompress,uncompress f,force k,keep l,list n,no-name N,name q,quiet r,recursive t,test " +
	"v,verbose best fast T,threads= S,suffix= o=> z,compress rm e,extreme a C,check= F,format= ultra long=? rsyncable V,version h,help s D=<"

// squeeze is gzip and its like: they replace a file by one with another ending.
func squeeze(c *simple, f *finding) {
	a := f.parse(c, squeezeOptions, 0)
	for _, w := range a.operands {
		f.readTree(w)
		switch {
		case a.has("to-stdout", "list", "test") || standard(w, permission.Read):
		case !a.has("o"):
			f.writeFile(w) // beside it, under a name that depends on what it holds
		case a.has("rm"):
			f.removeFile(w)
		}
	}
}

// splits is split and csplit, which write many files beginning with a prefix.
func splits(options spec, prefix string) program {
	return func(c *simple, f *finding) {
		a := f.parse(c, options, 0)
		f.raise(permission.RiskWorkspace, "it writes files")
		if len(a.operands) > 0 {
			f.readFile(a.operands[0])
		}
		to := word{text: prefix}
		given := prefix != "" && len(a.operands) > 1
		if given {
			to = a.operands[1]
		}
		if p, named := a.value("prefix"); named {
			to, given = p, true
		}
		to.text += "*"
		to.pattern = true
		if given || a.has("additional-suffix", "suffix-format") {
			f.writeFile(to)
		} else {
			f.touch(to)
		}
	}
}
