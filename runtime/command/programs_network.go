package command

import (
	"slices"
	"strings"

	"github.com/aircoding/air/runtime/permission"
)

const (
	asksHosts      = "it asks other machines"
	elsewhereWorks = "it works on another machine"
)

// networkPrograms speak to other machines.
var networkPrograms = table{
	"curl":                                program(curl),
	"wget":                                program(wget),
	"http https xh":                       program(httpie),
	"ping ping6 traceroute tracepath mtr": row{risk: permission.RiskNetwork, why: asksHosts, anyWords: true},
	"dig":                                 row{risk: permission.RiskNetwork, why: asksHosts, options: "f=< k=< b= p= q= t= x= c= y="},
	"nslookup host whois ssh-keyscan":     row{risk: permission.RiskNetwork, why: asksHosts},
	"nc ncat netcat":                      program(netcat),
	"socat":                               row{risk: permission.RiskOpaque, why: "it joins anything to anything"},
	"telnet ftp mosh ssh-copy-id rclone":  sends(elsewhereWorks),
	"openssl":                             openssl,
	"nmap":                                row{risk: permission.RiskPrivileged, why: "it searches other machines"},
	"ssh":                                 program(ssh),
	"scp sftp":                            program(copiesAway),
	"rsync":                               program(rsync),
	"ssh-keygen":                          row{risk: permission.RiskPrivileged, why: "it makes keys", operands: elsewhere, options: "f=> l E= y"},
	"ssh-add ssh-agent":                   row{risk: permission.RiskPrivileged, why: "it opens the person's keys"},
	"gpg":                                 row{risk: permission.RiskPrivileged, why: "it uses the person's keys"},
	"age":                                 row{risk: permission.RiskWorkspace, operands: reads, options: "o,output=> r= R=< i=< e d p a"},
	"aria2c yt-dlp":                       row{risk: permission.RiskOpaque, why: "it downloads files, and runs what its options name"},
	"mail sendmail mutt":                  sends("it sends mail"),
	"oras crane skopeo":                   row{risk: permission.RiskNetwork, why: "it speaks to a registry"},
	"cosign":                              row{risk: permission.RiskPrivileged, why: "it signs in the person's name"},
}

const curlOptions spec = "0 1 2 3 4,ipv4 6,ipv6 http1.0 http1.1 http2 http3 tlsv1 tlsv1.2 tlsv1.3 a,append A,user-agent= anyauth b,cookie=# basic " +
	"c,cookie-jar=> cacert=< capath=<< E,cert=< cert-type= key=< key-type= pass= ciphers= compressed connect-timeout= connect-to=! C,continue-at= " +
	"create-dirs crlf d,data,data-ascii=@ data-binary=@ data-raw= data-urlencode=@ json=@ digest D,dump-header=> e,referer= f,fail fail-with-body " +
	"fail-early F,form=& form-string= G,get g,globoff H,header=@ I,head i,include,show-headers k,insecure J,remote-header-name " +
	"j,junk-session-cookies K,config=! limit-rate= L,location location-trusted max-filesize= m,max-time= max-redirs= M,manual n,netrc! " +
	"netrc-file=< netrc-optional! N,no-buffer no-progress-meter no-keepalive noproxy= o,output=> output-dir=> O,remote-name remote-name-all " +
	"parallel Z parallel-max= x,proxy=! preproxy=! proto= proto-default= proto-redir= post301 post302 post303 progress-bar q,disable Q,quote=! " +
	"r,range= X,request= R,remote-time resolve=! retry= retry-all-errors retry-connrefused retry-delay= retry-max-time= S,show-error s,silent " +
	"ssl-reqd stderr=> styled-output T,upload-file=< trace=> trace-ascii=> trace-time unix-socket=! abstract-unix-socket=! u,user= oauth2-bearer= " +
	"url=* url-query=@ v,verbose V,version w,write-out=@ no-clobber next : path-as-is rate= no-styled-output t,telnet-option= y,speed-time= " +
	"Y,speed-limit= z,time-cond= l,list-only p,proxytunnel P,ftp-port= U,proxy-user= h,help=?"

// curl names its hosts, what it sends and where it writes.
func curl(c *simple, f *finding) {
	if len(c.words) == 2 && c.words[1].text == "-V" {
		return
	}
	a := f.parse(c, curlOptions, 0)
	f.raise(permission.RiskNetwork, asksHosts)
	for _, u := range a.uses {
		value := u.value
		switch u.use {
		case "@":
			f.sentFile(value, u.name == "data-urlencode" || u.name == "url-query")
		case "#":
			if !strings.Contains(value.text, "=") {
				f.readFile(value)
			}
		case "&":
			if _, file, _ := strings.Cut(value.text, "="); file != "" && (file[0] == '@' || file[0] == '<') {
				file, _, _ = strings.Cut(file[1:], ";")
				f.readFile(word{text: strings.Trim(file, `"`), unknown: value.unknown})
			}
		case "*":
			f.visit(value)
		}
	}
	for _, w := range a.operands {
		f.visit(w)
		if a.has("remote-name", "remote-name-all") {
			f.writeFile(word{text: urlName(w.text), unknown: w.unknown})
		}
	}
	if a.has("remote-header-name") {
		f.raise(permission.RiskOpaque, "the server says which file it writes")
	}
	if method, given := a.value("request"); given && oneOf(strings.ToUpper(method.text), "DELETE PUT PATCH") {
		f.raise(permission.RiskNetwork, "it changes something on another machine")
	}
}

// sentFile reads what stands after an @: curl's way to name a file.
func (f *finding) sentFile(w word, named bool) {
	text := w.text
	if i := strings.IndexByte(text, '@'); named && i > 0 && !strings.Contains(text[:i], "=") {
		text = text[i:]
	}
	if file, ok := strings.CutPrefix(text, "@"); ok {
		f.readFile(word{text: file, unknown: w.unknown, pattern: w.pattern})
	}
}

// visit adds the host of a literal URL, which may lack its scheme. Parts in braces and
// brackets stand for several.
func (f *finding) visit(w word) {
	if w.unknown {
		f.raise(permission.RiskOpaque, "which host "+w.text+" leads to cannot be known before it runs")
		return
	}
	text := w.text
	scheme, rest, full := strings.Cut(text, "://")
	switch {
	case !full:
		scheme, rest = "http", text
	case scheme == "file":
		_, file, _ := strings.Cut(rest, "/")
		f.readFile(word{text: "/" + file})
		return
	case !oneOf(strings.ToLower(scheme), "http https ftp ftps ws wss sftp scp"):
		f.raise(permission.RiskOpaque, "air does not know the scheme of "+text)
		return
	}
	host, _, _ := strings.Cut(strings.ReplaceAll(strings.ReplaceAll(rest, "?", "/"), "#", "/"), "/")
	if strings.ContainsAny(host, `{}\`) || strings.HasPrefix(scheme, "{") {
		f.raise(permission.RiskOpaque, "which hosts "+text+" stands for air does not read")
		return
	}
	scheme = strings.ToLower(scheme)
	if scheme == "sftp" || scheme == "scp" {
		scheme = "ssh"
	}
	if scheme == "ftps" {
		scheme = "https"
	}
	f.reach(scheme + "://" + host)
}

func urlName(url string) string {
	url, _, _ = strings.Cut(url, "?")
	url, _, _ = strings.Cut(url, "#")
	return base(url)
}

const wgetOptions spec = "q,quiet v,verbose nv,no-verbose O,output-document=> P,directory-prefix=> o,output-file=> a,append-output=> c,continue " +
	"N,timestamping nc,no-clobber t,tries= T,timeout= w,wait= r,recursive l,level= np,no-parent nd nH k,convert-links p,page-requisites m,mirror " +
	"A,accept= R,reject= D,domains= H,span-hosts U,user-agent= header= post-data= post-file=< body-data= body-file=< method= no-check-certificate " +
	"ca-certificate=< certificate=< private-key=< user= password= content-disposition! i,input-file=! e,execute=! use-askpass=! config=! spider " +
	"S,server-response show-progress no-cache no-cookies load-cookies=< save-cookies=> max-redirect= limit-rate= 4,inet4-only 6,inet6-only " +
	"progress= https-only retry-connrefused waitretry= no-hsts hsts-file=> compression= nv no-proxy"

func wget(c *simple, f *finding) {
	args := slices.DeleteFunc(slices.Clone(c.args()), func(w word) bool { return oneOf(w.text, "-nv -nc -np -nd -nH") }) // one option each
	a := f.parse(withArgs(c, args), wgetOptions, 0)
	f.raise(permission.RiskNetwork, "it downloads files")
	for _, w := range a.operands {
		f.visit(w)
		if !a.has("output-document", "directory-prefix", "spider") {
			name := urlName(w.text)
			if name == "" || !strings.Contains(strings.TrimPrefix(w.text, "https://"), "/") {
				name = "index.html"
			}
			f.writeFile(word{text: name, unknown: w.unknown})
		}
	}
}

func httpie(c *simple, f *finding) {
	a := f.parse(c, "b,body h,headers v,verbose j,json f,form p,print= o,output=> d,download c,continue F,follow timeout= a,auth= A,auth-type= "+
		"session=! verify= check-status ignore-stdin pretty= s,style= q,quiet m,meta multipart", 0)
	f.raise(permission.RiskNetwork, asksHosts)
	seen := false
	for _, w := range a.operands {
		switch {
		case !seen && oneOf(w.text, "GET POST PUT PATCH DELETE HEAD OPTIONS get post put patch delete head options"):
		case !seen:
			seen = true
			if strings.HasPrefix(w.text, ":") {
				w.text = "localhost" + w.text
			}
			f.visit(w)
		default:
			if i := strings.IndexByte(w.text, '@'); i >= 0 {
				f.readFile(word{text: w.text[i+1:], unknown: w.unknown})
			}
		}
	}
}

func netcat(c *simple, f *finding) {
	a := f.parse(c, "z v n u 4 6 w= i= l k N q= p= s= d t C e=! c=! X= x=! U! h", 0)
	f.raise(permission.RiskNetwork, "it joins its input to another machine")
	if !a.has("l") && len(a.operands) == 2 && !a.operands[0].unknown && isDigits(a.operands[1].text) {
		f.reach("tcp://" + a.operands[0].text + ":" + a.operands[1].text)
	}
}

var openssl = subcommands{of: table{
	"version list": shows,
	"x509 dgst enc base64 asn1parse verify crl pkcs12 rsa ec pkey req genrsa genpkey ecparam rand pkeyutl " +
		"passwd": row{risk: permission.RiskWorkspace, why: "it may write files", operands: reads, single: true, guarded: true, options: "in=< " +
		"out=> inform= outform= noout text subject issuer dates enddate startdate fingerprint serial modulus pubkey pubout pubin nodes newkey= " +
		"new x509 days= subj= key=< keyout=> CA=< CAkey=< CAcreateserial CAfile=< extfile=< extensions= addext= sha1 sha256 sha384 sha512 md5 hex " +
		"base64 binary d e a A aes-256-cbc pbkdf2 iter= salt k= pass= passin= passout= sign=< verify=< signature=< algorithm= pkeyopt= name= " +
		"noenc batch purpose ext= config=! checkend= r name= nopad"},
	"s_client": row{risk: permission.RiskNetwork, why: asksHosts},
}}

const sshOptions spec = "1 2 4 6 A a C c= D= E=> e= F=! f G g I=! i=< J= K k L= l= M m= N n O= o=# p= Q= q R= S=! s T t V v W= w= X x Y y B= b="

// harmlessSSH are settings by which ssh runs and reads nothing.
var harmlessSSH = set("connecttimeout stricthostkeychecking batchmode port user loglevel serveraliveinterval serveralivecountmax compression " +
	"passwordauthentication preferredauthentications identitiesonly hostname numberofpasswordprompts forwardagent requesttty connectionattempts " +
	"addressfamily")

// ssh runs a command on another machine; its settings may run one here.
func ssh(c *simple, f *finding) {
	if len(c.words) == 2 && c.words[1].text == "-V" {
		return
	}
	a := f.parse(c, sshOptions, stop)
	f.raise(permission.RiskNetwork, asksHosts)
	f.raise(permission.RiskPrivileged, elsewhereWorks)
	f.sshSettings(&a)
	if len(a.operands) == 0 {
		return
	}
	port, given := a.value("p")
	if !given {
		port.text = "22"
	}
	f.sshHost(a.operands[0], port.text)
}

func (f *finding) sshSettings(a *arguments) {
	for _, u := range a.uses {
		if u.use != "#" {
			continue
		}
		name, _, _ := strings.Cut(strings.ToLower(u.value.text), "=")
		name, _, _ = strings.Cut(name, " ")
		if u.value.unknown || !harmlessSSH[name] {
			f.raise(permission.RiskOpaque, "ssh may run what the setting "+u.value.text+" names")
		}
	}
}

func (f *finding) sshHost(w word, port string) {
	if w.unknown || w.pattern {
		f.raise(permission.RiskOpaque, "which machine "+w.text+" stands for cannot be known before it runs")
		return
	}
	host := strings.TrimPrefix(w.text, "ssh://")
	host = host[strings.LastIndexByte(host, '@')+1:]
	host, _, _ = strings.Cut(host, "/")
	if strings.Contains(host, ":") {
		f.reach("ssh://" + host)
		return
	}
	f.reach("ssh://" + host + ":" + port)
}

// copiesAway is scp and sftp.
func copiesAway(c *simple, f *finding) {
	a := f.parse(c, "3 4 6 A B C O p q R r T v b=! c= F=! i=< J= l= o=# P= S=! D=! X= a f N s=!", 0)
	f.raise(permission.RiskNetwork, asksHosts)
	f.raise(permission.RiskPrivileged, "it copies files to or from another machine")
	f.sshSettings(&a)
	port, given := a.value("P")
	if !given {
		port.text = "22"
	}
	f.copiedAway(a.operands, port.text)
}

// copiedAway reads and writes the local ones of HOST:PATH and PATH.
func (f *finding) copiedAway(all []word, port string) {
	for i, w := range all {
		host, _, remote := strings.Cut(w.text, ":")
		switch {
		case strings.Contains(w.text, "://"):
			f.visit(w)
		case remote && !strings.Contains(host, "/"):
			f.sshHost(word{text: host, unknown: w.unknown}, port)
		case i == len(all)-1 && len(all) > 1:
			f.writeTree(w)
		default:
			f.readTree(w)
		}
	}
}

// rsync copies, here or to another machine, and may delete what is there.
func rsync(c *simple, f *finding) {
	a := f.parse(c, "v,verbose q,quiet c,checksum a,archive r,recursive R,relative b,backup backup-dir=> suffix= u,update inplace append d,dirs "+
		"l,links L,copy-links k K H,hard-links p,perms E,executability chmod= A,acls X,xattrs o,owner g,group devices specials D t,times O "+
		"omit-dir-times J S,sparse n,dry-run W,whole-file x,one-file-system existing ignore-existing remove-source-files delete delete-before "+
		"delete-during delete-after delete-excluded force max-delete= max-size= min-size= partial partial-dir=> P m,prune-empty-dirs numeric-ids "+
		"timeout= I,ignore-times size-only T,temp-dir=> z,compress compress-level= C,cvs-exclude f,filter=! F exclude= exclude-from=< include= "+
		"include-from=< files-from=! 0,from0 s h,human-readable progress info= stats itemize-changes i log-file=> list-only bwlimit= 4 6 version "+
		"e,rsh=! rsync-path=! link-dest=<< no-perms no-owner no-group mkpath", 0)
	f.raise(permission.RiskWorkspace, "it copies files")
	for _, w := range a.operands {
		if host, _, remote := strings.Cut(w.text, ":"); remote && !strings.Contains(host, "/") {
			f.raise(permission.RiskNetwork, asksHosts)
			f.raise(permission.RiskPrivileged, "it copies files to or from another machine")
		}
	}
	if a.has("delete", "delete-before", "delete-during", "delete-after", "delete-excluded", "remove-source-files") {
		f.raise(permission.RiskDestructive, "what it deletes cannot be brought back")
	}
	f.copiedAway(a.operands, "22")
}
