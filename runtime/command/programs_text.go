package command

import (
	"strings"

	"github.com/aircoding/air/runtime/permission"
)

var (
	readsFiles = row{operands: reads}.program()
	onlyPrints = row{anyWords: true}.program()
	digests    = row{operands: reads}.program()
	grep       = grepWith("")
)

// textPrograms read text and print something of it.
var textPrograms = map[string]program{
	"echo": onlyPrints, "true": onlyPrints, "false": onlyPrints, ":": onlyPrints, "seq": onlyPrints, "yes": onlyPrints,
	"expr": onlyPrints, "sleep": onlyPrints, "factor": onlyPrints, "numfmt": onlyPrints, "tput": onlyPrints, "clear": onlyPrints,
	"printf": noVariable("-v"), "test": noVariable("-v", "-R"), "[": noVariable("-v", "-R"),
	"wc":      row{operands: reads, options: "files0-from=< total="}.program(),
	"sort":    row{operands: reads, guarded: true, options: "b,ignore-leading-blanks d,dictionary-order f,ignore-case g,general-numeric-sort i,ignore-nonprinting M,month-sort h,human-numeric-sort n,numeric-sort R,random-sort random-source=< r,reverse sort= V,version-sort batch-size= c,check=? C check=? compress-program=! debug files0-from=< k,key= m,merge o,output=> s,stable S,buffer-size= t,field-separator= T,temporary-directory=> parallel= u,unique z,zero-terminated"}.program(),
	"uniq":    secondWritten("f,skip-fields= s,skip-chars= w,check-chars= group=? all-repeated=?"),
	"cut":     row{operands: reads, options: "b,bytes= c,characters= d,delimiter= f,fields= output-delimiter="}.program(),
	"tr":      row{}.program(),
	"tee":     row{operands: writes, options: "output-error=?"}.program(),
	"comm":    row{operands: reads, options: "output-delimiter="}.program(),
	"xxd":     secondWritten("c,cols= g,groupsize= l,len= s,seek= o= n,name= R="),
	"od":      row{operands: reads, options: "A,address-radix= t,format= N,read-bytes= j,skip-bytes= w,width=? S,strings=? endian="}.program(),
	"hexdump": row{operands: reads, options: "n,length= s,skip= e,format= f,format-file=<"}.program(), "hd": readsFiles,
	"base64": row{operands: reads, options: "w,wrap= i= o=>"}.program(), "base32": row{operands: reads, options: "w,wrap="}.program(),
	"md5sum": digests, "sha1sum": digests, "sha224sum": digests, "sha256sum": digests, "sha384sum": digests, "sha512sum": digests, "b2sum": digests, "cksum": digests, "sum": digests,
	"shasum": row{operands: reads, options: "a,algorithm="}.program(), "md5": digests,
	"column": row{operands: reads, options: "s,separator= o,output-separator= c,output-width= N,table-columns= R,table-right= H,table-hide= n,table-name= O,table-order= W,table-wrap= T,table-truncate= l,table-columns-limit= E,table-noextreme="}.program(),
	"nl":     row{operands: reads, options: "b,body-numbering= d,section-delimiter= f,footer-numbering= h,header-numbering= i,line-increment= l,join-blank-lines= n,number-format= s,number-separator= v,starting-line-number= w,number-width="}.program(),
	"paste":  row{operands: reads, options: "d,delimiters="}.program(),
	"join":   row{operands: reads, options: "a= e= j= o= t= v= 1= 2="}.program(),
	"fold":   row{operands: reads, options: "w,width="}.program(),
	"fmt":    row{operands: reads, options: "w,width= g,goal= p,prefix="}.program(),
	"pr":     row{operands: reads, options: "h,header= l,length= o,indent= w,width= N,first-line-number= s,separator=? S,sep-string=? n,number-lines=?"}.program(),
	"expand": row{operands: reads, options: "t,tabs="}.program(), "unexpand": row{operands: reads, options: "t,tabs="}.program(),
	"rev": readsFiles, "strings": row{operands: reads, options: "n,bytes= t,radix= e,encoding= T,target= s,output-separator="}.program(),
	"tac":      row{operands: reads, options: "s,separator="}.program(),
	"shuf":     row{operands: reads, guarded: true, options: "e,echo i,input-range= n,head-count= o,output=> random-source=< r,repeat z,zero-terminated"}.program(),
	"iconv":    row{operands: reads, guarded: true, options: "f,from-code= t,to-code= l,list c s,silent o,output=> verbose"}.program(),
	"dos2unix": row{risk: permission.RiskWorkspace, operands: formats, guarded: true, options: "k,keepdate q,quiet v,verbose f,force"}.program(),
	"unix2dos": row{risk: permission.RiskWorkspace, operands: formats, guarded: true, options: "k,keepdate q,quiet v,verbose f,force"}.program(),
	"envsubst": row{anyWords: true}.program(),
	"bc":       row{operands: reads, options: "e,expression= f,file=<"}.program(),
	"dc":       row{risk: permission.RiskOpaque, why: "dc runs the shell commands of its program"}.program(),
	"date":     row{operands: noPaths, guarded: true, options: "d,date= f,file=< I,iso-8601=? debug R,rfc-email rfc-3339= resolution r,reference=< s,set= u,utc,universal j v=", raises: []raise{{"set", permission.RiskPrivileged, "it sets the clock of the machine"}}}.program(),
	"cal":      onlyPrints,
	"xmllint":  row{operands: reads, guarded: true, options: "format noout valid xpath= schema=< relaxng=< dtdvalid=< noblanks huge nonet recover html c14n encode= o,output=>"}.program(),
	"patch":    row{risk: permission.RiskWorkspace, why: "it changes the files that the patch names", operands: touches, guarded: true, options: "p,strip= i,input=< o,output=> d,directory=% R,reverse N,forward s,silent,quiet dry-run E,remove-empty-files f,force t,batch l,ignore-whitespace F,fuzz= u,unified c,context n,normal b,backup B,prefix= z,suffix= r,reject-file=> v,version verbose binary merge=? no-backup-if-mismatch posix"}.program(),
	"grep":     grep, "egrep": grep, "fgrep": grep, "zgrep": grep,
	"rg":  ripgrep,
	"ag":  row{operands: treesAfter, guarded: true, options: "l,files-with-matches L,files-without-matches i,ignore-case s,case-sensitive S,smart-case w,word-regexp Q,literal F,fixed-strings v,invert-match c,count A,after= B,before= C,context= G,file-search-regex= g= m,max-count= n,norecurse hidden ignore= ignore-dir= u,unrestricted U,skip-vcs-ignores nocolor color noheading heading nogroup group numbers nonumbers column vimgrep f,follow o,only-matching depth= a,all-types t,all-text silent p,path-to-ignore=< H filename nofilename nobreak"}.program(),
	"ack": row{operands: treesAfter, guarded: true, options: "l,files-with-matches L,files-without-matches i,ignore-case w,word-regexp Q,literal v,invert-match c,count A,after-context= B,before-context= C,context= g= f m,max-count= n,no-recurse nocolor color noheading heading nogroup group o H,with-filename h,no-filename type= t= T= s follow"}.program(),
	"jq":  jq, "gojq": jq, "jaq": jq,
	"yq":  yq,
	"sed": sed, "gsed": sed,
	"awk": awk, "gawk": awk, "mawk": awk, "nawk": awk,
	"ed": editor, "ex": editor, "vi": editor, "vim": editor, "nvim": editor, "nano": editor, "emacs": editor, "pico": editor,
}

var editor = row{risk: permission.RiskOpaque, why: "an editor runs what is typed into it"}.program()

// noVariable is for programs that do no more than print or compare, but for options by
// which bash evaluates the name of a variable.
func noVariable(options ...string) program {
	return func(c *simple, f *finding) {
		f.raise(permission.RiskReadOnly, "")
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
	known := options.options
	return func(c *simple, f *finding) {
		f.raise(permission.RiskReadOnly, "")
		a := (&reader{options: known(), args: c.args()}).read()
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

const grepOptions spec = "e,regexp= f,file=< m,max-count= A,after-context= B,before-context= C,context= d,directories= D,devices= label= color=? colour=? include= exclude= exclude-from=< exclude-dir= binary-files= r,recursive R,dereference-recursive " +
	"i,ignore-case v,invert-match n,line-number l,files-with-matches L,files-without-match c,count w,word-regexp x,line-regexp o,only-matching q,quiet,silent s,no-messages H,with-filename h,no-filename E,extended-regexp F,fixed-strings G,basic-regexp P,perl-regexp a,text I b,byte-offset T,initial-tab z,null-data Z,null U,binary V,version y no-ignore-case line-buffered"

// grepWith is grep: the first operand is the pattern, unless an option gives one.
func grepWith(more spec) program {
	known := (grepOptions + " " + more).options
	return func(c *simple, f *finding) {
		f.raise(permission.RiskReadOnly, "")
		a := (&reader{options: known(), args: c.args()}).read()
		a.apply(c, f)
		files := a.operands
		if !a.has("regexp", "file") && len(files) > 0 {
			files = files[1:]
		}
		deep := a.has("recursive", "dereference-recursive", "directories")
		for _, w := range files {
			if deep {
				f.readTree(w)
			} else {
				f.readFile(w)
			}
		}
		if deep && len(files) == 0 {
			f.readTree(word{text: "."})
		}
	}
}

const ripgrepOptions spec = "e,regexp= f,file=< A,after-context= B,before-context= C,context= g,glob= iglob= t,type= T,type-not= type-add= type-clear= m,max-count= M,max-columns= max-depth,d= maxdepth= j,threads= r,replace= E,encoding= color= colors= sort= sortr= path-separator= ignore-file=< max-filesize= engine= context-separator= field-match-separator= field-context-separator= regex-size-limit= dfa-size-limit= " +
	"i,ignore-case S,smart-case s,case-sensitive v,invert-match w,word-regexp x,line-regexp F,fixed-strings P,pcre2 U,multiline multiline-dotall n,line-number N,no-line-number H,with-filename I,no-filename heading no-heading l,files-with-matches files-without-match c,count count-matches include-zero o,only-matching q,quiet p,pretty vimgrep column no-column json stats b,byte-offset a,text L,follow hidden,. no-hidden u,unrestricted no-ignore no-ignore-vcs no-ignore-parent no-ignore-global no-ignore-dot no-ignore-exclude no-ignore-files no-require-git no-messages no-config files type-list trim null 0 null-data crlf one-file-system passthru debug trace max-columns-preview line-buffered block-buffered mmap no-mmap version V no-unicode auto-hybrid-regex glob-case-insensitive " +
	"z,search-zip pre=! pre-glob= hostname-bin=! hyperlink-format="

// ripgrep is rg, which can run a program on each file.
func ripgrep(c *simple, f *finding) {
	f.raise(permission.RiskReadOnly, "")
	if helps(c) {
		return
	}
	a := (&reader{options: ripgrepOptions.options(), args: c.args()}).read()
	a.guard(c, f)
	a.apply(c, f)
	files := a.operands
	if !a.has("regexp", "file", "files", "type-list") && len(files) > 0 {
		files = files[1:]
	}
	readsTrees.add(files, f)
}

// jq has options with two values; its programs cannot write or run anything.
func jq(c *simple, f *finding) {
	f.raise(permission.RiskReadOnly, "")
	var args []word
	for rest := c.args(); len(rest) > 0; rest = rest[1:] {
		w := rest[0]
		switch {
		case set("--arg --argjson")[w.text] && len(rest) > 2:
			rest = rest[2:]
		case set("--slurpfile --rawfile --argfile")[w.text] && len(rest) > 2:
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
	a := (&reader{options: spec("f,from-file=< L,library-path=<< indent= tab").options(), args: args}).read()
	a.apply(c, f)
	files := a.operands
	if !a.has("from-file") && len(files) > 0 {
		files = files[1:]
	}
	reads.add(files, f)
}

// yq rewrites its files with -i, and its expressions can load others.
func yq(c *simple, f *finding) {
	f.raise(permission.RiskReadOnly, "")
	if helps(c) {
		return
	}
	known := spec("i,inplace eval-all P,prettyPrint r,raw-output,unwrapScalar=? o,output-format= p,input-format= y,yaml-output j,tojson C,colors M,no-colors N,no-doc n,null-input c,compact-output s,slurp e,exit-status I,indent= front-matter= expression= header-preprocess arg=! from-file=< 0,nul-output").options()
	a := (&reader{options: known, args: c.args()}).read()
	a.guard(c, f)
	a.apply(c, f)
	all := a.operands
	if len(all) > 0 && set("eval e eval-all ea")[all[0].text] {
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
