package command

import (
	"strings"

	"github.com/aircoding/air/runtime/permission"
)

const (
	daemon  = "it acts through a service that has the rights of the system"
	cluster = "it changes a cluster"
	cloud   = "it changes a cloud in the person's name"
	asksFor = "it asks other machines in the person's name"
)

var asks = row{risk: permission.RiskNetwork, why: asksFor, operands: elsewhere, options: "o,output="}

// clusterPrograms command containers, clusters, clouds and databases.
var clusterPrograms = table{
	"docker podman nerdctl":             containers,
	"buildah minikube kind k3d vagrant": sends(daemon),
	"docker-compose podman-compose":     compose,
	"kubectl oc":                        kubectl,
	"k9s":                               editor,
	"kustomize":                         subcommands{of: table{"build version cfg": asks}},
	"helm": subcommands{options: "n,namespace= kube-context= debug kubeconfig=<", of: table{
		"version env completion verify": shows,
		"template lint": row{guarded: true, operands: readsTrees, options: "f,values=< set= set-string= set-json= n,namespace= output-dir=> " +
			"name-template= s,show-only= include-crds a,api-versions= kube-version= strict skip-tests debug g,generate-name quiet with-subcharts " +
			"no-hooks is-upgrade release-name"},
		"show list ls status get history search pull dependency dep repo": asks,
		"create package": row{risk: permission.RiskWorkspace, why: "it writes files", operands: writes},
		"install upgrade uninstall delete rollback test push": sends(cluster),
	}},
	"terraform tofu":           terraform,
	"terragrunt pulumi packer": sends(cloud),
	"ansible ansible-playbook": sends(elsewhereWorks),
	"aws gcloud az gsutil doctl flyctl fly heroku vercel netlify wrangler firebase": program(clouds),
	"vault op pass security": privilege("it gives away secrets"),
	"psql": database("c", "h= p= U= d= c= f,file=! o,output=> v= A t q x w W l X 1 F= R= P= L=> n e a b E H s S T= command= no-psqlrc host= port= "+
		"username= dbname= csv tuples-only version"),
	"mysql": database("e", "h,host= P,port= u,user= p,password=? D,database= e,execute= N B,batch s t r V version default-character-set= "+
		"protocol= skip-column-names table raw silent"),
	"mariadb":       database("e", "h,host= P,port= u,user= p,password=? D,database= e,execute= N B t s V"),
	"redis-cli":     program(redis),
	"mongosh mongo": row{risk: permission.RiskOpaque, why: inline},
	"pg_dump":       row{risk: permission.RiskNetwork, why: "it copies a database", options: "h= p= U= d= n= t= T= N= f,file=> F= j= Z="},
	"mysqldump":     row{risk: permission.RiskNetwork, why: "it copies a database", options: "r,result-file=>"},
	"pg_restore":    row{risk: permission.RiskDestructive, why: "it changes a database"},
	"createdb":      row{risk: permission.RiskPrivileged, why: "it changes a database server"},
	"dropdb":        row{risk: permission.RiskDestructive, why: "it deletes a database"},
	"duckdb":        row{risk: permission.RiskOpaque, why: "its statements read and write files"},
	"pg_isready":    asks,
}

func privilege(why string) row {
	return row{risk: permission.RiskPrivileged, why: why, operands: elsewhere}
}

// sends is for programs that need hosts, and do more there than ask.
func sends(why string) row {
	return row{risk: permission.RiskPrivileged, why: why, operands: elsewhere, hosts: true}
}

const dockerGlobal spec = "c,context= l,log-level= v,version D,debug"

var dockerShows = "ps images version info inspect logs top stats port diff history events"

var containers = subcommands{options: dockerGlobal, of: table{
	dockerShows: row{},
	"build buildx": row{risk: permission.RiskPrivileged, why: daemon, operands: readsTrees, options: "f,file=< t,tag= build-arg= " +
		"target= platform= cache-from= cache-to= o,output= progress= secret= ssh= label= network= iidfile=> build-context= builder= p= " +
		"metadata-file=>"},
	"pull search manifest":    row{risk: permission.RiskNetwork, why: "it speaks to a registry"},
	"push login logout trust": sends(publishes),
	"run exec create start stop restart kill pause unpause cp commit tag load import attach wait update rename save export context plugin swarm " +
		"service stack node secret config init scout": sends(daemon),
	"rm rmi": row{risk: permission.RiskPrivileged, why: "it deletes containers or images"},
	"container": subcommands{of: table{"ls list ps inspect logs top stats port diff": shows, "run exec create start stop restart kill rm prune cp " +
		"attach pause unpause rename update wait commit export": sends(daemon)}},
	"image": subcommands{of: table{"ls list inspect history": shows, "pull": asks, "build rm prune push tag load save " +
		"import": sends(daemon)}},
	"volume":  subcommands{of: table{"ls list inspect": shows, "create rm prune": sends(daemon)}},
	"network": subcommands{of: table{"ls list inspect": shows, "create rm prune connect disconnect": sends(daemon)}},
	"system":  subcommands{of: table{"df info events": shows, "prune": sends(daemon)}},
	"compose": compose,
}}

var compose = subcommands{options: "f,file=< p,project-name= profile= env-file=< project-directory=% ansi= progress= parallel= v,version dry-run " +
	"compatibility all-resources", of: table{
	"ps ls logs images top port events version": shows,
	"config convert": row{risk: permission.RiskPrivileged, why: "it shows the values of .env"},
	"pull":           asks,
	"up down build run exec start stop restart kill rm create pause unpause cp push watch wait attach scale": sends(daemon),
}}

const kubeOptions spec = "n,namespace= context= cluster= kubeconfig=< user= v= request-timeout= s,server=! as=! token=! insecure-skip-tls-verify! " +
	"certificate-authority=< cache-dir=>"

var kubectl = subcommands{options: kubeOptions, of: table{
	"version options completion": shows,
	"get describe logs top api-resources api-versions explain cluster-info events diff wait auth kustomize": asks,
	"config": program(kubeConfig),
	"apply create delete edit patch replace scale rollout set run expose label annotate drain cordon uncordon taint exec cp port-forward proxy " +
		"attach debug certificate autoscale": sends(cluster),
}}

func kubeConfig(c *simple, f *finding) {
	if len(c.words) > 1 && oneOf(c.words[1].text, "view get-contexts current-context get-clusters "+
		"get-users") && !strings.Contains(argvText(c.words), "--raw") {
		return
	}
	f.raise(permission.RiskPrivileged, "it changes which cluster is commanded, or shows its keys")
}

func argvText(all []word) string { return strings.Join(texts(all), " ") }

var terraform = subcommands{options: "chdir=% version", of: table{
	"version":                                 shows,
	"fmt validate providers graph":            runsCode,
	"init get plan output show state refresh": row{risk: permission.RiskNetwork, why: asksFor, operands: elsewhere, here: true},
	"apply destroy import taint untaint workspace force-unlock login logout": sends(cloud),
}}

// cloudShows begin the names of what only asks.
var cloudShows = []string{"ls", "list", "describe", "get-", "show", "info", "version", "status", "logs", "tail", "head-", "search"}

// clouds are the command lines of clouds, of which only the verb is known.
func clouds(c *simple, f *finding) {
	if len(c.words) == 1 || len(c.words) == 2 && oneOf(c.words[1].text, "version help info --info") {
		return
	}
	operands := f.parse(c, "profile= region= output= project= format= query= resource-group= g= o= subscription= zone= limit= filter= n= name=", loose).
		operands
	f.raise(permission.RiskNetwork, asksFor)
	f.raise(permission.RiskPrivileged, cloud)
	for i, w := range operands {
		for _, shows := range cloudShows {
			if i < 4 && strings.HasPrefix(w.text, shows) && !w.unknown && !secretive(c) {
				f.risk, f.why = permission.RiskNetwork, asksFor
			}
		}
	}
	for _, w := range c.args() {
		f.readNamed(w)
		if file, ok := strings.CutPrefix(w.text, "file://"); ok {
			f.readFile(word{text: file})
		}
	}
}

// secretive reports whether a command names what gives away secrets, or any other verb
// that does more than ask.
func secretive(c *simple) bool {
	text := argvText(c.words)
	for _, word := range []string{"secret", "token", "password", "credential", " delete", " create", " update", " put-", " run", " rm", " deploy",
		" set", " add", " remove", " cp", " mv", " sync", " ssh", "keys", " start", " stop", " terminate"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// database is a client of a database whose statement an option gives.
func database(statement string, options spec) program {
	return func(c *simple, f *finding) {
		if len(c.words) == 2 && c.words[1].text == "-V" {
			return
		}
		a := f.parse(c, options, 0)
		f.raise(permission.RiskNetwork, "it asks a database")
		given := false
		for _, o := range a.flags {
			if o.name != statement && o.name != "execute" && o.name != "command" {
				continue
			}
			given = true
			f.statement(o.value)
		}
		if !given && !a.has("l") {
			f.raise(permission.RiskOpaque, "the statements come from its input")
		}
	}
}

func (f *finding) statement(w word) {
	text := strings.TrimSpace(w.text)
	switch {
	case w.unknown || strings.Contains(text, `\!`) || strings.HasPrefix(text, `\`) && !strings.HasPrefix(text, `\d`) && text != `\l` && text != `\dt`:
		f.raise(permission.RiskOpaque, "the statement may run commands, or cannot be known before it runs")
	case strings.HasPrefix(text, `\d`) || text == `\l`:
		if strings.ContainsAny(text[1:], "\\|;\n") {
			f.raise(permission.RiskOpaque, "the statement may run commands")
		}
	case strings.Contains(text, `\`) || strings.Contains(strings.ToLower(text), "system"):
		f.raise(permission.RiskOpaque, "the statement may run commands")
	case !sqlReads(text):
		f.raise(permission.RiskDestructive, "what the statement changes cannot be brought back")
	}
}

// redis is redis-cli.
func redis(c *simple, f *finding) {
	a := f.parse(c, "h= p= a= n= u= s= r= i= raw no-raw csv tls user= pass= scan pattern= stat latency bigkeys memkeys no-auth-warning x json", stop)
	f.raise(permission.RiskNetwork, "it asks a database")
	if len(a.operands) == 0 {
		if !a.has("scan", "stat", "latency", "bigkeys", "memkeys") {
			f.raise(permission.RiskOpaque, "the commands come from its input")
		}
		return
	}
	if !oneOf(strings.ToUpper(a.operands[0].text), "GET MGET HGET HGETALL HKEYS LRANGE LLEN SMEMBERS SCARD ZRANGE ZCARD KEYS SCAN EXISTS TTL TYPE "+
		"PING INFO DBSIZE STRLEN XLEN XRANGE TIME ECHO") {
		f.raise(permission.RiskDestructive, "what it changes in a database cannot be brought back")
	}
}
