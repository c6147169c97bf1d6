package command

import (
	"slices"
	"strings"

	"github.com/aircoding/air/internal/lazyregexp"
	"github.com/aircoding/air/runtime/permission"
)

// textPrograms read text and print something of it.
var textPrograms = table{
	"echo true false : seq yes expr sleep factor numfmt tput clear cal": onlyPrints,
	"printf": noVariable("-v"),
	"test [": noVariable("-v", "-R"),
	"wc":     row{operands: reads, options: "files0-from=! total="},
	"sort": row{operands: reads, guarded: true, options: "b,ignore-leading-blanks d,dictionary-order f,ignore-case g,general-numeric-sort " +
		"i,ignore-nonprinting M,month-sort h,human-numeric-sort n,numeric-sort R,random-sort random-source=< r,reverse sort= V,version-sort " +
		"batch-size= c,check=? C check=? compress-program=! debug files0-from=! k,key= m,merge o,output=> s,stable S,buffer-size= " +
		"t,field-separator= T,temporary-directory=> parallel= u,unique z,zero-terminated"},
	"uniq": secondWritten("c,count d,repeated D all-repeated=? f,skip-fields= group=? i,ignore-case s,skip-chars= u,unique z,zero-terminated " +
		"w,check-chars="),
	"cut":     row{operands: reads, options: "b,bytes= c,characters= d,delimiter= f,fields= output-delimiter="},
	"tr":      shows,
	"tee":     row{operands: writes, options: "output-error=?"},
	"comm":    row{operands: reads, options: "output-delimiter="},
	"xxd":     program(hexDump),
	"od":      row{operands: reads, options: "A,address-radix= t,format= N,read-bytes= j,skip-bytes= w,width=? S,strings=? endian="},
	"hexdump": row{operands: reads, options: "n,length= s,skip= e,format= f,format-file=<"},
	"hd rev":  readsFiles,
	"base64":  row{operands: reads, options: "w,wrap= i=< o=>"},
	"base32":  row{operands: reads, options: "w,wrap="},
	"md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum md5": readsFiles,
	"shasum": row{operands: reads, options: "a,algorithm="},
	"column": row{operands: reads, options: "s,separator= o,output-separator= c,output-width= N,table-columns= R,table-right= H,table-hide= " +
		"n,table-name= O,table-order= W,table-wrap= T,table-truncate= l,table-columns-limit= E,table-noextreme="},
	"nl": row{operands: reads, options: "b,body-numbering= d,section-delimiter= f,footer-numbering= h,header-numbering= i,line-increment= " +
		"l,join-blank-lines= n,number-format= s,number-separator= v,starting-line-number= w,number-width="},
	"paste": row{operands: reads, options: "d,delimiters="},
	"join":  row{operands: reads, options: "a= e= j= o= t= v= 1= 2="},
	"fold":  row{operands: reads, options: "w,width="},
	"fmt":   row{operands: reads, options: "w,width= g,goal= p,prefix="},
	"pr": row{operands: reads, options: "h,header= l,length= o,indent= w,width= N,first-line-number= s,separator=? S,sep-string=? " +
		"n,number-lines=?"},
	"expand unexpand": row{operands: reads, options: "t,tabs="},
	"strings":         row{lists: true, operands: reads, options: "n,bytes= t,radix= e,encoding= T,target= s,output-separator="},
	"tac":             row{operands: reads, options: "s,separator="},
	"shuf": row{operands: reads, guarded: true, options: "e,echo i,input-range= n,head-count= o,output=> random-source=< r,repeat " +
		"z,zero-terminated"},
	"iconv":             row{operands: reads, guarded: true, options: "f,from-code= t,to-code= l,list c s,silent o,output=> verbose"},
	"dos2unix unix2dos": row{risk: permission.RiskWorkspace, operands: formats, guarded: true, options: "k,keepdate q,quiet v,verbose f,force"},
	"envsubst":          onlyPrints,
	"bc":                row{operands: reads, options: "e,expression= f,file=<"},
	"dc":                row{risk: permission.RiskOpaque, why: "dc runs the shell commands of its program"},
	"date":              program(date),
	"xmllint": row{operands: reads, guarded: true, options: "format noout valid xpath= schema=< relaxng=< dtdvalid=< noblanks huge nonet recover " +
		"html c14n encode= o,output=>"},
	"patch":                  program(patch),
	"grep egrep fgrep zgrep": program(grep),
	"rg":                     program(ripgrep),
	"ag": row{operands: treesAfter, guarded: true, options: "l,files-with-matches L,files-without-matches i,ignore-case s,case-sensitive " +
		"S,smart-case w,word-regexp Q,literal F,fixed-strings v,invert-match c,count A,after= B,before= C,context= G,file-search-regex= g= " +
		"m,max-count= n,norecurse hidden ignore= ignore-dir= u,unrestricted U,skip-vcs-ignores nocolor color noheading heading nogroup group " +
		"numbers nonumbers column vimgrep f,follow o,only-matching depth= a,all-types t,all-text silent p,path-to-ignore=< H filename nofilename " +
		"nobreak"},
	"ack": row{operands: treesAfter, guarded: true, options: "l,files-with-matches L,files-without-matches i,ignore-case w,word-regexp Q,literal " +
		"v,invert-match c,count A,after-context= B,before-context= C,context= g= f m,max-count= n,no-recurse nocolor color noheading heading " +
		"nogroup group o H,with-filename h,no-filename type= t= T= s follow"},
	"jq gojq jaq":                       program(jq),
	"yq":                                program(yq),
	"sed gsed":                          program(sed),
	"awk gawk mawk nawk":                program(awk),
	"ed ex vi vim nvim nano emacs pico": editor,
}

var dates = row{operands: noPaths, guarded: true, options: "d,date= f,file=< I,iso-8601=? debug R,rfc-email rfc-3339= resolution r,reference=< " +
	"s,set= u,utc,universal j v=", raises: []raise{{"set", permission.RiskPrivileged, "it sets the clock of the machine"}}}

// date sets the clock with an operand that is no format.
func date(c *simple, f *finding) {
	for _, w := range dates.read(c, f).operands {
		if !strings.HasPrefix(w.text, "+") {
			f.raise(permission.RiskPrivileged, "it sets the clock of the machine")
		}
	}
}

// hexDump is xxd, which has options of several letters.
func hexDump(c *simple, f *finding) {
	args := slices.DeleteFunc(slices.Clone(c.args()), func(w word) bool {
		return oneOf(w.text, "-ps -postscript -plain -revert -autoskip -bits -uppercase -EBCDIC -include")
	})
	secondWritten("a b C E e i p r u v c,cols= g,groupsize= l,len= s,seek= o= n,name= R= d").find(withArgs(c, args), f)
}

var editor = row{risk: permission.RiskOpaque, why: "an editor runs what is typed into it"}

// noVariable is for programs that do no more than print or compare, but for options by
// which bash evaluates the name of a variable.
func noVariable(options ...string) program {
	return func(c *simple, f *finding) {
		f.anyWords = true
		for i, w := range c.args() {
			for _, o := range options {
				if w.text == o || i == 0 && strings.HasPrefix(w.text, o) {
					f.raise(permission.RiskOpaque, "bash evaluates what follows "+o)
				}
			}
		}
	}
}

// secondWritten is for programs whose second operand is the file that they write.
func secondWritten(options spec) program {
	return func(c *simple, f *finding) {
		a := f.parse(c, options, 0)
		for i, w := range a.operands {
			switch {
			case w.pattern: // which may be more than one
				f.readFile(w)
				f.writeFile(w)
			case i == 0:
				f.readFile(w)
			default:
				f.writeFile(w)
			}
		}
	}
}

const grepOptions spec = "e,regexp= f,file=< m,max-count= A,after-context= B,before-context= C,context= d,directories= D,devices= label= color=? " +
	"colour=? include= exclude= exclude-from=< exclude-dir= binary-files= r,recursive R,dereference-recursive " +
	"i,ignore-case v,invert-match n,line-number l,files-with-matches L,files-without-match c,count w,word-regexp x,line-regexp o,only-matching " +
	"q,quiet,silent s,no-messages H,with-filename h,no-filename E,extended-regexp F,fixed-strings G,basic-regexp P,perl-regexp a,text I " +
	"b,byte-offset T,initial-tab z,null-data Z,null U,binary V,version y no-ignore-case line-buffered"

// grep has the pattern as its first operand, unless an option gives one.
func grep(c *simple, f *finding) {
	a := f.parse(c, grepOptions, named)
	files := a.operands
	if !a.has("regexp", "file") && len(files) > 0 {
		files = files[1:]
	}
	if a.has("recursive", "dereference-recursive", "directories") {
		readsTrees.add(files, f)
	} else {
		reads.add(files, f)
	}
	f.includes(&a)
}

// includes reads the names to which an option limits a search, where they are written like
// files.
func (f *finding) includes(a *arguments) {
	for _, o := range a.flags {
		if oneOf(o.name, "include glob iglob") && !strings.HasPrefix(o.value.text, "!") {
			f.readNamed(word{text: strings.ToLower(o.value.text), pattern: strings.ContainsAny(o.value.text, "*?["), unknown: o.value.unknown})
		}
	}
}

const ripgrepOptions spec = "e,regexp= f,file=< A,after-context= B,before-context= C,context= g,glob= iglob= t,type= T,type-not= type-add= " +
	"type-clear= m,max-count= M,max-columns= max-depth,d= maxdepth= j,threads= r,replace= E,encoding= color= colors= sort= sortr= path-separator= " +
	"ignore-file=< max-filesize= engine= context-separator= field-match-separator= field-context-separator= regex-size-limit= dfa-size-limit= " +
	"i,ignore-case S,smart-case s,case-sensitive v,invert-match w,word-regexp x,line-regexp F,fixed-strings P,pcre2 U,multiline multiline-dotall " +
	"n,line-number N,no-line-number H,with-filename I,no-filename heading no-heading l,files-with-matches files-without-match c,count " +
	"count-matches include-zero o,only-matching q,quiet p,pretty vimgrep column no-column json stats b,byte-offset a,text L,follow hidden,. " +
	"no-hidden u,unrestricted no-ignore no-ignore-vcs no-ignore-parent no-ignore-global no-ignore-dot no-ignore-exclude no-ignore-files " +
	"no-require-git no-messages no-config files type-list trim null 0 null-data crlf one-file-system passthru debug trace max-columns-preview " +
	"line-buffered block-buffered mmap no-mmap version V no-unicode auto-hybrid-regex glob-case-insensitive " +
	"z,search-zip pre=! pre-glob= hostname-bin=! hyperlink-format="

// ripgrep is rg, which can run a program on each file.
func ripgrep(c *simple, f *finding) {
	a := f.parse(c, ripgrepOptions, 0)
	files := a.operands
	if !a.has("regexp", "file", "files", "type-list") && len(files) > 0 {
		files = files[1:]
	}
	readsTrees.add(files, f)
	f.includes(&a)
}

const patched = "it changes the files that the patch names"

const patchOptions spec = "p,strip= i,input=< o,output=> d,directory=% R,reverse N,forward s,silent,quiet dry-run E,remove-empty-files f,force " +
	"t,batch l,ignore-whitespace F,fuzz= u,unified c,context n,normal b,backup B,prefix= z,suffix= r,reject-file=> v,version verbose binary " +
	"merge=? no-backup-if-mismatch posix"

// patch changes what its input names.
func patch(c *simple, f *finding) {
	a := row{risk: permission.RiskWorkspace, why: patched, operands: touches, guarded: true, options: patchOptions}.read(c, f)
	if !a.has("dry-run") {
		f.raise(permission.RiskDestructive, patched)
	}
}

const jqOptions spec = "f,from-file=! L,library-path=! indent= tab n,null-input r,raw-output j,join-output a,ascii-output s,slurp S,sort-keys " +
	"C,color-output M,monochrome-output c,compact-output e,exit-status R,raw-input h,help V,version seq stream stream-errors raw-output0 " +
	"unbuffered b,binary build-configuration"

var jqImports = lazyregexp.New(`(import|include)\s*"`)

// jq has options with two values. Its programs cannot write or run anything, but import
// what no word names.
func jq(c *simple, f *finding) {
	var args []word
	for rest := c.args(); len(rest) > 0; rest = rest[1:] {
		w := rest[0]
		switch {
		case oneOf(w.text, "--arg --argjson") && len(rest) > 2:
			rest = rest[2:]
		case oneOf(w.text, "--slurpfile --rawfile --argfile") && len(rest) > 2:
			f.readFile(rest[2])
			rest = rest[2:]
		case w.text == "--args" || w.text == "--jsonargs":
			if len(args) == 0 && len(rest) > 1 {
				args = append(args, rest[1])
			}
			rest = rest[:1]
		default:
			args = append(args, w)
		}
	}
	a := f.parse(withArgs(c, args), jqOptions, 0)
	files := a.operands
	if !a.has("from-file") && len(files) > 0 {
		if jqImports.MatchString(files[0].text) {
			f.raise(permission.RiskOpaque, "the program of jq reads files that it names itself")
		}
		files = files[1:]
	}
	reads.add(files, f)
}

// yq rewrites its files with -i, and its expressions can load others.
func yq(c *simple, f *finding) {
	a := f.parse(c, "i,inplace eval-all P,prettyPrint r,raw-output,unwrapScalar=? o,output-format= p,input-format= y,yaml-output j,tojson "+
		"C,colors M,no-colors N,no-doc n,null-input c,compact-output s,slurp! e,exit-status I,indent= front-matter= expression= header-preprocess "+
		"arg=! from-file=< 0,nul-output", 0)
	all := a.operands
	if len(all) > 0 && oneOf(all[0].text, "eval e eval-all ea") {
		all = all[1:]
	}
	expression, given := a.value("expression")
	if !given && len(all) > 0 {
		expression, all = all[0], all[1:]
	}
	if strings.Contains(expression.text, "load") {
		f.raise(permission.RiskOpaque, "the expression of yq loads files that it names itself")
	}
	for _, w := range all {
		if f.readFile(w); a.has("inplace") {
			f.writeFile(w)
		}
	}
}
