package command

import (
	"path"
	"slices"
	"strings"

	"github.com/aircoding/air/runtime/permission"
)

// gitPrograms are git and what speaks to its hosts.
var gitPrograms = table{
	"git":         program(git),
	"gh glab":     program(forge),
	"tig lazygit": editor,
	"pre-commit": subcommands{of: table{
		"run validate-config validate-manifest sample-config": runsCode,
		"autoupdate try-repo install-hooks":                   row{risk: permission.RiskNetwork, why: foreignCode},
		"clean gc":                                            row{risk: permission.RiskWorkspace, why: "it deletes what can be downloaded again"},
	}},
	"git-lfs": row{risk: permission.RiskNetwork, why: "it moves large files to and from a remote"},
}

const gitGlobal spec = "C=% c=# git-dir=! work-tree=! exec-path=! namespace= P,no-pager p,paginate! bare! no-replace-objects no-optional-locks " +
	"no-lazy-fetch literal-pathspecs glob-pathspecs noglob-pathspecs icase-pathspecs config-env=! super-prefix=! attr-source=! v,version h,help " +
	"html-path man-path info-path list-cmds="

// git is told apart by its command. Options before it may change what any command does.
func git(c *simple, f *finding) {
	a := f.parse(c, gitGlobal, stop|named)
	for _, o := range a.flags {
		if o.name == "c" && !harmlessSetting(o.value) {
			f.raise(permission.RiskOpaque, "git may run what the setting "+o.value.text+" names")
		}
	}
	if len(a.operands) == 0 || a.has("help") {
		return
	}
	name := a.operands[0]
	does, known := gitCommands.entry(name.text)
	if name.unknown || name.pattern || !known {
		f.raise(permission.RiskOpaque, "air does not know what git "+name.text+" does: it may be an alias")
		return
	}
	if len(a.flags) > 0 {
		f.plain = append([]string{"git"}, texts(a.operands)...)
	}
	dir, moved := a.folder()
	start := len(f.effects)
	f.look(does, &simple{words: append([]word{{text: "git " + name.text}}, a.operands[1:]...), dir: c.dir})
	if moved {
		f.below(dir, start)
		f.moveInner(dir, c)
	}
	if !homeless[name.text] {
		f.works(dir, moved)
		f.repository = rank(f.risk) > rank(permission.RiskReadOnly) && len(f.inner)+len(f.texts) == 0
	}
}

// moveInner lets inner commands run in another folder.
func (f *finding) moveInner(dir word, c *simple) {
	to := ""
	if c.dir != "" && !dir.unknown && !dir.pattern {
		to = joined(word{text: c.dir}, dir).text
	}
	for i := range f.inner {
		f.inner[i].dir = to
	}
	for i := range f.texts {
		f.texts[i].dir = to
	}
}

func texts(words []word) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = w.text
	}
	return all
}

// configFile is where git keeps the settings of a repository, as seen from its top folder.
const configFile = ".git/config"

// configures notes a change of the settings of the repository.
func (f *finding) configures() { f.write(word{text: configFile}) }

// tracks is a command that notes for a new branch which one of a remote it follows, where it
// is told so, or begins there.
func (f *finding) tracks(a *arguments) {
	begins := slices.ContainsFunc(a.operands, func(w word) bool { return beginsWith(w.text, "origin/ upstream/ refs/remotes/") })
	if a.has("track") || begins && !a.has("no-track", "detach") {
		f.configures()
	}
}

// homeless are the commands of git that need no repository.
var homeless = set("clone init ls-remote version help")

// harmlessSettings are those by which git runs nothing, and harmlessSections those of
// which this holds for all of two parts.
var (
	harmlessSettings = set("init.defaultbranch core.quotepath core.autocrlf core.eol core.safecrlf core.abbrev core.filemode core.ignorecase " +
		"core.longpaths core.precomposeunicode diff.renames diff.renamelimit diff.algorithm diff.context diff.interhunkcontext diff.noprefix " +
		"diff.mnemonicprefix diff.wserrorhighlight diff.colormoved diff.colormovedws diff.submodule diff.indentheuristic diff.statgraphwidth " +
		"merge.conflictstyle merge.ff merge.renames merge.renamelimit merge.stat pull.rebase pull.ff push.default push.autosetupremote " +
		"push.followtags rebase.autostash rebase.autosquash rebase.updaterefs fetch.prune fetch.prunetags format.pretty " +
		"branch.autosetupmerge branch.autosetuprebase branch.sort commit.verbose tag.sort rerere.enabled rerere.autoupdate help.autocorrect gc.auto")
	harmlessSections = set("user color advice log status column grep")
)

func harmlessSetting(setting word) bool {
	name, value, _ := strings.Cut(strings.ToLower(setting.text), "=")
	switch {
	case setting.unknown || setting.pattern:
		return false
	case name == "core.pager" || name == "pager.log" || name == "pager.diff":
		return value == "cat" || value == ""
	case strings.HasSuffix(name, "gpgsign"):
		return value == "false"
	}
	section, rest, _ := strings.Cut(name, ".")
	return harmlessSettings[name] || harmlessSections[section] && (section == "color" || !strings.Contains(rest, "."))
}

const (
	gitDiffOptions spec = "p,u,patch s,no-patch U,unified= output=> output-indicator-new= output-indicator-old= output-indicator-context= raw " +
		"patch-with-raw indent-heuristic no-indent-heuristic minimal patience histogram anchored= diff-algorithm= stat=? compact-summary numstat " +
		"shortstat X,dirstat=? cumulative summary patch-with-stat z name-only name-status submodule=? color=? no-color color-moved=? " +
		"no-color-moved color-moved-ws= word-diff=? word-diff-regex= color-words=? no-renames rename-empty check ws-error-highlight= full-index " +
		"binary abbrev=? B,break-rewrites=? M,find-renames=? C,find-copies=? find-copies-harder D,irreversible-delete l= diff-filter= S= G= " +
		"find-object= pickaxe-all pickaxe-regex O= skip-to= rotate-to= R relative=? no-relative a,text ignore-cr-at-eol ignore-space-at-eol " +
		"b,ignore-space-change w,ignore-all-space ignore-blank-lines I,ignore-matching-lines= inter-hunk-context= W,function-context exit-code " +
		"quiet ext-diff! no-ext-diff textconv! no-textconv ignore-submodules=? src-prefix= dst-prefix= no-prefix default-prefix line-prefix= " +
		"ita-invisible-in-index cached staged merge-base no-index ours theirs base 0 c cc combined-all-paths m t r root no-commit-id stdin v " +
		"pretty=? q"
	gitLogOptions spec = gitDiffOptions + " follow no-decorate decorate=? decorate-refs= decorate-refs-exclude= source mailmap use-mailmap " +
		"no-mailmap log-size L= n,max-count= skip= since= after= until= before= author= committer= grep= grep-reflog= all-match invert-grep " +
		"i,regexp-ignore-case basic-regexp E,extended-regexp F,fixed-strings P,perl-regexp remove-empty merges no-merges min-parents= " +
		"max-parents= no-min-parents no-max-parents first-parent exclude-first-parent-only not all branches=? tags=? remotes=? glob= exclude= " +
		"exclude-hidden= reflog alternate-refs single-worktree ignore-missing bisect cherry-mark cherry-pick left-only right-only cherry " +
		"g,walk-reflogs merge boundary simplify-by-decoration simplify-merges show-pulls full-history dense sparse ancestry-path=? date-order " +
		"author-date-order topo-order reverse no-walk=? do-walk format= abbrev-commit no-abbrev-commit oneline encoding= expand-tabs=? " +
		"no-expand-tabs notes=? no-notes show-notes show-signature! relative-date date= parents children left-right graph no-graph " +
		"show-linear-break=? count objects objects-edge timestamp header no-object-names disk-usage=? e,email s,summary numbered committer group= " +
		"quiet"
)

const (
	gitBranchOptions spec = "d,delete D f,force m,move M c,copy C list q,quiet r,remotes a,all show-current v,vv,verbose no-abbrev t,track=? " +
		"no-track u,set-upstream-to= unset-upstream edit-description! contains=? no-contains=? merged=? no-merged=? sort= points-at= format= " +
		"color=? column=? i,ignore-case abbrev=? recurse-submodules"
	gitTagOptions spec = "a,annotate s,sign! no-sign u,local-user=! f,force d,delete v,verify n=? l,list sort= color=? column=? contains=? " +
		"no-contains=? merged=? no-merged=? points-at= m,message= F,file=< cleanup= create-reflog format="
)

// listing is a command that lists where it has no operands or says so, and otherwise
// changes something.
func listing(changes string, options spec, otherwise row) program {
	return func(c *simple, f *finding) {
		a := f.parse(c, options, 0)
		lists := len(a.operands) == 0 || a.has("list", "show-current", "contains", "no-contains", "merged", "no-merged", "points-at")
		if lists && !a.has(strings.Fields(changes)...) {
			return
		}
		otherwise.find(c, f)
	}
}

// gitReads is a command that looks at the repository.
func gitReads(options spec) row {
	return row{guarded: true, options: options, operands: pathspecs}
}

// gitChanges is a command that changes the repository or its files, and can be undone.
func gitChanges(options spec, more ...raise) row {
	return row{risk: permission.RiskWorkspace, why: "it changes the repository", named: true, options: options, operands: pathspecs, raises: more}
}

func gitNetwork(why string, options spec) program {
	r := row{risk: permission.RiskNetwork, why: why, guarded: true, options: options, operands: elsewhere}
	return func(c *simple, f *finding) {
		r.find(c, f)
		for _, w := range c.args() {
			f.remote(w)
		}
	}
}

// gitFetches is gitNetwork for what may note a branch of a remote as the one to follow.
func gitFetches(why string, options spec) program {
	find := gitNetwork(why, options)
	return func(c *simple, f *finding) {
		find(c, f)
		if slices.ContainsFunc(c.args(), func(w word) bool { return w.text == "--set-upstream" }) {
			f.configures()
		}
	}
}

func gitLoses(why string) row {
	return row{risk: permission.RiskDestructive, why: why, operands: elsewhere}
}

const unsaved = "changes that are not committed are lost"

var gitCommands = table{
	"status": gitReads("s,short b,branch show-stash porcelain=? long v,verbose u,untracked-files=? ignore-submodules=? ignored=? z column=? " +
		"no-column ahead-behind no-ahead-behind renames no-renames find-renames=?"),
	"log whatchanged rev-list":        program(gitLog),
	"shortlog":                        gitReads(gitLogOptions + " n,numbered s,summary e,email c,committer w=?"),
	"reflog":                          program(gitReflog),
	"diff":                            program(gitDiff),
	"show":                            program(gitShow),
	"diff-tree diff-index diff-files": gitReads(gitDiffOptions),
	"range-diff":                      gitReads(gitDiffOptions + " creation-factor= no-dual-color left-only right-only"),
	"blame": gitReads("b root show-stats L= l t S=< reverse first-parent p,porcelain line-porcelain incremental encoding= contents=< date= M=? C=? " +
		"ignore-rev= ignore-revs-file=< color-lines color-by-age c abbrev= s e,show-email w f,show-name n,show-number score-debug progress " +
		"no-progress h"),
	"annotate": gitReads("L= l t"),
	"cherry":   gitReads("v abbrev=?"),
	"describe": gitReads("all tags contains dirty=? broken=? abbrev= candidates= exact-match debug long match= exclude= always first-parent"),
	"rev-parse": gitReads("abbrev-ref=? verify q,quiet short=? show-toplevel show-prefix show-cdup show-superproject-working-tree git-dir " +
		"absolute-git-dir git-common-dir git-path= is-inside-work-tree is-inside-git-dir is-bare-repository is-shallow-repository symbolic " +
		"symbolic-full-name all branches=? tags=? remotes=? glob= exclude= not revs-only no-revs flags no-flags sq path-format= " +
		"show-object-format=? local-env-vars since= until= default= prefix= parseopt sq-quote disambiguate= resolve-git-dir= shared-index-path " +
		"end-of-options"),
	"ls-files": gitReads("c,cached d,deleted m,modified o,others i,ignored s,stage u,unmerged k,killed t v f z x,exclude= X,exclude-from=< " +
		"exclude-per-directory= exclude-standard directory no-empty-directory error-unmatch with-tree= full-name recurse-submodules abbrev=? " +
		"debug eol sparse deduplicate format="),
	"ls-tree":    gitReads("d r t l,long z name-only name-status object-only full-name full-tree abbrev=? format="),
	"merge-base": gitReads("a,all is-ancestor fork-point octopus independent"),
	"name-rev":   gitReads("tags refs= exclude= all name-only no-undefined always"),
	"for-each-ref": gitReads("count= sort= format= color=? points-at= merged=? no-merged=? contains=? no-contains=? ignore-case omit-empty " +
		"exclude= include-root-refs shell! perl! python! tcl!"),
	"show-ref": gitReads("head heads branches tags d,dereference s,hash=? verify abbrev=? q,quiet exclude-existing=? exists"),
	"show-branch": gitReads("a,all r,remotes current topo-order date-order sparse more= list merge-base independent no-name sha1-name topics " +
		"g,reflog=? color=? no-color"),
	"cat-file":      program(gitCatFile),
	"count-objects": gitReads("v,verbose H,human-readable"),
	"fsck": gitReads("tags root unreachable dangling no-dangling no-reflogs full no-full strict verbose progress no-progress connectivity-only " +
		"name-objects cache references no-references"),
	"check-ignore":             gitReads("q,quiet v,verbose stdin z n,non-matching no-index"),
	"check-attr":               gitReads("a,all cached stdin z source="),
	"version":                  gitReads("build-options"),
	"help":                     gitReads("a,all g,guides"),
	"var":                      gitReads("l"),
	"verify-commit verify-tag": gitReads("v,verbose raw"),
	"grep": gitReads("cached untracked no-index no-exclude-standard exclude-standard recurse-submodules a,text no-textconv i,ignore-case I " +
		"max-depth= r,recursive no-recursive w,word-regexp v,invert-match h H full-name E,extended-regexp G,basic-regexp P,perl-regexp " +
		"F,fixed-strings n,line-number column l,files-with-matches name-only L,files-without-match z,null o,only-matching c,count color=? " +
		"no-color break heading p,show-function C,context= A,after-context= B,before-context= W,function-context m,max-count= threads= f=< e= and " +
		"or not all-match q,quiet parent-basename="),
	"archive": gitReads("format= l,list v,verbose prefix= add-file=< add-virtual-file= o,output=> worktree-attributes mtime= 0 1 9"),
	"bundle":  program(gitBundle),
	"format-patch": row{risk: permission.RiskWorkspace, why: "it writes patches", guarded: true, operands: elsewhere, options: gitLogOptions + " " +
		"o,output-directory=> n,numbered N,no-numbered start-number= numbered-files k,keep-subject signoff stdout attach=? no-attach inline=? thread=? " +
		"no-thread in-reply-to= ignore-if-in-upstream always cover-from-description= subject-prefix= filename-max-length= rfc=? v,reroll-count= " +
		"to= cc= from=? force-in-body-from add-header= cover-letter no-cover-letter encode-email-headers interdiff= range-diff= creation-factor= " +
		"no-signature signature= signature-file=< suffix= no-binary zero-commit base=? progress"},

	"add stage": program(gitAdd),
	"commit": gitChanges("a,all p,patch C,reuse-message= c,reedit-message= fixup= squash= reset-author short branch porcelain long z F,file=< " +
		"author= date= m,message= t,template=< s,signoff trailer= n,no-verify allow-empty allow-empty-message cleanup= e,edit no-edit amend " +
		"no-post-rewrite i,include o,only pathspec-from-file=< u,untracked-files=? v,verbose q,quiet dry-run S,gpg-sign=? no-gpg-sign"),
	"branch": program(gitBranch),
	"tag": listing("delete force annotate sign message file local-user", gitTagOptions, gitChanges(gitTagOptions, raise{"force delete",
		permission.RiskDestructive, "the tag no longer names its commit"})),
	"switch":   program(gitSwitch),
	"checkout": program(gitCheckout),
	"restore":  program(gitRestore),
	"reset":    program(gitReset),
	"stash":    program(gitStash),
	"clean":    program(gitClean),
	"merge": gitChanges("commit no-commit e,edit no-edit cleanup= ff no-ff ff-only S=? gpg-sign=? no-gpg-sign log=? no-log signoff stat n,no-stat " +
		"squash no-squash verify no-verify s,strategy= X,strategy-option= verify-signatures q,quiet v,verbose autostash allow-unrelated-histories " +
		"m= into-name= F,file=< rerere-autoupdate abort quit continue"),
	"rebase": gitChanges("onto= keep-base continue skip abort quit edit-todo show-current-patch empty= no-keep-empty root reapply-cherry-picks " +
		"allow-empty-message m,merge s,strategy= X,strategy-option= q,quiet v,verbose stat n,no-stat verify no-verify C= f,force-rebase no-ff " +
		"fork-point no-fork-point ignore-whitespace whitespace= committer-date-is-author-date ignore-date,reset-author-date signoff i,interactive " +
		"r,rebase-merges=? x,exec=$ autosquash no-autosquash autostash no-autostash reschedule-failed-exec update-refs no-update-refs " +
		"S,gpg-sign=? no-gpg-sign"),
	"cherry-pick": gitChanges("e,edit cleanup= x r m,mainline= n,no-commit s,signoff S,gpg-sign=? ff allow-empty keep-redundant-commits strategy= " +
		"X,strategy-option= continue skip quit abort"),
	"revert": gitChanges("e,edit no-edit m,mainline= n,no-commit s,signoff strategy= X,strategy-option= continue skip quit abort reference"),
	"am":     program(gitMail),
	"apply":  program(gitApply),
	"mv":     program(gitMove),
	"rm":     program(gitRemove),
	"notes":  gitChanges("m= F=< f,force ref="),
	"gc": gitChanges("aggressive auto q,quiet force prune=? no-prune", raise{"prune", permission.RiskDestructive, "commits that nothing names are " +
		"lost"}),
	"update-index": gitChanges("add remove refresh q chmod= assume-unchanged no-assume-unchanged skip-worktree no-skip-worktree " +
		"cacheinfo=! stdin!"), // what it puts under a name is seen nowhere
	"read-tree":         gitLoses(unsaved),
	"write-tree rerere": gitChanges(""),
	"mktree":            row{risk: permission.RiskOpaque, why: "it makes a folder of what it reads"},
	"commit-tree":       gitChanges("p= m= F=<"),
	"hash-object":       gitChanges("t= w stdin path="),
	"sparse-checkout":   program(gitSparse),
	"pack-refs":         gitChanges("all prune no-prune"),
	"repack":            gitChanges("a A d f F l n q window= depth= threads="),
	"symbolic-ref":      gitChanges("short q d,delete m="),
	"update-ref":        gitLoses("the name no longer names its commits"),
	"replace":           gitLoses("it replaces an object"),
	"prune":             gitLoses("commits that nothing names are lost"),
	"filter-branch":     row{risk: permission.RiskOpaque, why: "it runs commands on every commit"},
	"filter-repo":       gitLoses("it rewrites every commit"),
	"bisect":            program(gitBisect),
	"worktree":          program(gitWorktree),
	"submodule":         program(gitSubmodule),
	"remote":            program(gitRemote),
	"config":            program(gitConfig),
	"init":              program(gitInit),
	"lfs":               program(gitLFS),

	"clone": program(gitClone),
	"fetch": gitFetches("it fetches from a remote", "all no-all a,append atomic depth= deepen= shallow-since= shallow-exclude= unshallow "+
		"update-shallow dry-run f,force k,keep multiple p,prune P,prune-tags n,no-tags refmap= t,tags recurse-submodules=? no-recurse-submodules "+
		"j,jobs= set-upstream u,update-head-ok q,quiet v,verbose progress no-progress o,server-option= show-forced-updates no-show-forced-updates "+
		"4,ipv4 6,ipv6 refetch filter= negotiation-tip= porcelain auto-gc no-auto-gc no-write-fetch-head write-commit-graph no-auto-maintenance"),
	"pull": gitFetches("it fetches from a remote and merges what it gets", "q,quiet v,verbose all a,append depth= f,force p,prune t,tags no-tags "+
		"r,rebase=? no-rebase ff no-ff ff-only commit no-commit e,edit no-edit stat n,no-stat squash no-squash s,strategy= X,strategy-option= "+
		"autostash no-autostash allow-unrelated-histories recurse-submodules=? progress no-progress set-upstream unshallow 4,ipv4 6,ipv6 j,jobs= "+
		"no-verify signoff"),
	"push": program(gitPush),
	"ls-remote": gitNetwork("it asks a remote for its branches", "b,h,heads branches t,tags refs q,quiet exit-code get-url sort= symref "+
		"o,server-option="),
	"send-email":   sends("it sends mail"),
	"request-pull": gitNetwork("it asks a remote for its branches", "p"),
	"credential":   row{risk: permission.RiskPrivileged, why: "it gives away passwords"},
}

// remote adds the host of a literal address of a repository. Some addresses are
// commands.
func (f *finding) remote(w word) {
	scheme, rest, full := strings.Cut(w.text, "://")
	switch {
	case w.unknown || strings.HasPrefix(w.text, "-"):
	case strings.Contains(w.text, "::"):
		f.raise(permission.RiskOpaque, "git runs what stands before the :: in "+w.text)
	case full && scheme == "file":
		f.readTree(word{text: rest})
	case full:
		f.reach(scheme + "://" + withoutUser(rest))
	default:
		if host, path, found := strings.Cut(w.text, ":"); found && path != "" && strings.Contains(host, "@") && !strings.Contains(host, "/") {
			f.reach("ssh://" + withoutUser(host))
		}
	}
}

// withoutUser leaves out the plain user name, such as git@, that hosts of repositories
// want. Another one, or a password, stays and is refused.
func withoutUser(rest string) string {
	user, host, found := strings.Cut(rest, "@")
	if found && !strings.ContainsAny(user, "/:@%\\") && !strings.Contains(host, "@") {
		return host
	}
	return rest
}

// gitLog reads the file of -L as well.
func gitLog(c *simple, f *finding) {
	for _, o := range gitReads(gitLogOptions).read(c, f).flags {
		if o.name == "L" {
			f.readNamed(o.value)
		}
	}
}

// gitDiff also compares files outside of a repository.
func gitDiff(c *simple, f *finding) {
	a := gitReads(gitDiffOptions).read(c, f)
	if a.has("no-index") {
		readsTrees.add(a.operands, f)
	}
	f.revisionPaths(a.operands)
}

func gitShow(c *simple, f *finding) {
	f.revisionPaths(gitReads(gitLogOptions).read(c, f).operands)
}

var gitObjects = gitReads("t s e p batch! batch-check=? batch-command! batch-all-objects buffer unordered allow-unknown-type follow-symlinks z " +
	"mailmap textconv! filters! path= filter=")

func gitCatFile(c *simple, f *finding) {
	f.revisionPaths(gitObjects.read(c, f).operands)
}

// revisionPaths reads REVISION:PATH as the file, which it is or was.
func (f *finding) revisionPaths(all []word) {
	for _, w := range all {
		if _, file, found := cutLast(w.text, ':'); found && file != "" && !strings.HasPrefix(w.text, ":/") && !w.unknown {
			f.readTree(word{text: file, pattern: w.pattern})
		}
	}
}

func gitReflog(c *simple, f *finding) {
	if len(c.words) > 1 && oneOf(c.words[1].text, "expire delete drop") {
		f.raise(permission.RiskDestructive, "commits that nothing else names are lost")
		return
	}
	gitReads(gitLogOptions).find(c, f)
}

func gitBundle(c *simple, f *finding) {
	a := f.parse(c, gitLogOptions+" version= progress q,quiet all-progress all-progress-implied", 0)
	if len(a.operands) < 2 {
		return
	}
	if a.operands[0].text == "create" {
		f.writeFile(a.operands[1])
	} else {
		f.readFile(a.operands[1])
	}
}

var gitBranches = listing("delete D force move M copy C set-upstream-to unset-upstream edit-description track", gitBranchOptions,
	gitChanges(gitBranchOptions, raise{"D force M C", permission.RiskDestructive, "commits that only the branch holds are lost"},
		raise{"edit-description", permission.RiskOpaque, "it runs an editor"}))

func gitBranch(c *simple, f *finding) {
	gitBranches(c, f)
	a := (&reader{options: gitBranchOptions.options(), args: c.args()}).read()
	switch {
	case a.has("move", "M", "copy", "C", "set-upstream-to", "unset-upstream", "edit-description"):
		f.configures()
	case rank(f.risk) > rank(permission.RiskReadOnly) && !a.has("delete", "D"):
		f.tracks(&a)
	}
}

var gitSwitches = gitChanges("c,create= C,force-create= d,detach guess no-guess f,force discard-changes m,merge conflict= q,quiet progress "+
	"no-progress t,track=? no-track orphan= ignore-other-worktrees", raise{"force discard-changes", permission.RiskDestructive, unsaved},
	raise{"force-create", permission.RiskDestructive, "the branch no longer names its commits"})

func gitSwitch(c *simple, f *finding) {
	a := gitSwitches.read(c, f)
	f.tracks(&a)
}

// gitSparse says in the settings that not all files are checked out.
func gitSparse(c *simple, f *finding) {
	a := gitChanges("cone no-cone sparse-index no-sparse-index stdin skip-checks").read(c, f)
	if len(a.operands) > 0 && oneOf(a.operands[0].text, "init set disable") {
		f.configures()
	}
}

// gitCheckout switches branches or throws changes of files away. A word alone may mean
// either: as a path it exists, and overwriting it is decided as that.
func gitCheckout(c *simple, f *finding) {
	f.raise(permission.RiskWorkspace, "it changes the files of the repository")
	a := f.parse(c, "q,quiet progress no-progress f,force ours 2 theirs 3 b= B= t,track=? no-track guess no-guess l d,detach orphan= "+
		"ignore-skip-worktree-bits m,merge conflict= p,patch ignore-other-worktrees overwrite-ignore no-overwrite-ignore recurse-submodules "+
		"no-recurse-submodules overlay no-overlay pathspec-from-file=< pathspec-file-nul", 0)
	n := len(a.operands)
	if a.has("track", "b", "B") {
		f.tracks(&a)
	}
	switch {
	case a.has("force", "ours", "theirs", "patch", "pathspec-from-file") || a.dashes >= 0 && a.dashes < n:
		f.raise(permission.RiskDestructive, unsaved)
	case a.has("B"):
		f.raise(permission.RiskDestructive, "the branch no longer names its commits")
	case a.has("b", "orphan", "detach"):
	case n > 1:
		f.raise(permission.RiskDestructive, unsaved)
	case n == 1:
		w := a.operands[0]
		if w.pattern || strings.HasPrefix(w.text, ":") || strings.HasSuffix(w.text, "/") || w.text == "." || w.text == ".." {
			f.raise(permission.RiskDestructive, unsaved)
		} else if w.text != "-" && a.dashes < 0 {
			f.writeTree(w)
		}
	}
}

func gitRestore(c *simple, f *finding) {
	a := f.parse(c, "s,source= p,patch W,worktree S,staged q,quiet progress no-progress ours theirs m,merge conflict= ignore-unmerged "+
		"ignore-skip-worktree-bits recurse-submodules no-recurse-submodules overlay no-overlay pathspec-from-file=< pathspec-file-nul", 0)
	f.raise(permission.RiskWorkspace, "it changes the index of the repository")
	if !a.has("staged") || a.has("worktree") {
		f.raise(permission.RiskDestructive, unsaved)
	}
}

func gitReset(c *simple, f *finding) {
	a := f.parse(c, "soft mixed N hard merge keep q,quiet no-quiet refresh no-refresh p,patch pathspec-from-file=< pathspec-file-nul "+
		"recurse-submodules no-recurse-submodules", 0)
	f.raise(permission.RiskWorkspace, "it changes the index of the repository")
	if a.has("hard", "merge", "keep") {
		f.raise(permission.RiskDestructive, unsaved)
	}
}

const gitMailOptions spec = "s,signoff k,keep 3,3way p= C= directory= exclude= include= i,interactive continue skip abort quit show-current-patch=? q,quiet"

// gitMail is git am.
func gitMail(c *simple, f *finding) {
	a := f.parse(c, gitMailOptions, named)
	reads.add(a.operands, f)
	f.raise(permission.RiskWorkspace, "it changes the repository")
	if !a.has("abort", "quit", "skip", "show-current-patch") {
		f.raise(permission.RiskDestructive, patched)
	}
}

const gitApplyOptions spec = "stat numstat summary check index cached intent-to-add 3,3way ours theirs union build-fake-ancestor=> R,reverse " +
	"reject z p= C= unidiff-zero apply no-add allow-binary-replacement binary exclude= include= ignore-space-change ignore-whitespace whitespace= " +
	"inaccurate-eof v,verbose q,quiet recount directory= allow-empty"

// gitApply changes what the patch names, which no word does.
func gitApply(c *simple, f *finding) {
	a := f.parse(c, gitApplyOptions, 0)
	reads.add(a.operands, f)
	if !a.has("stat", "numstat", "summary", "check") || a.has("apply") {
		f.raise(permission.RiskDestructive, patched)
	}
}

var gitAdds = gitChanges("n,dry-run v,verbose f,force i,interactive p,patch e,edit u,update A,all no-all N,intent-to-add refresh ignore-errors " +
	"renormalize chmod= pathspec-from-file=<")

// gitAdd is git add. With force it takes what the repository ignores, such as secrets,
// too: what that is has to be named.
func gitAdd(c *simple, f *finding) {
	a := gitAdds.read(c, f)
	open := len(a.operands) == 0
	for _, w := range a.operands {
		open = open || pathspec(w) != w || oneOf(path.Clean(w.text), ". ..")
	}
	if a.has("force") && open {
		f.raise(permission.RiskDestructive, "it adds files that the repository ignores, which may be secrets")
	}
}

// pathspec is a word as git takes it: of a pattern the pattern, without what is before it
// in :(...).
func pathspec(w word) word {
	if rest, magic := strings.CutPrefix(w.text, ":("); magic {
		if _, name, closed := strings.Cut(rest, ")"); closed {
			w.text = strings.ToLower(name)
		}
	}
	w.pattern = w.pattern || strings.ContainsAny(w.text, "*?[")
	return w
}

func gitStash(c *simple, f *finding) {
	verb, rest := "push", c.args()
	if len(rest) > 0 && !strings.HasPrefix(rest[0].text, "-") {
		verb, rest = rest[0].text, rest[1:]
	}
	if verb == "push" || verb == "save" {
		a := f.parse(withArgs(c, rest), "p,patch S,staged k,keep-index no-keep-index q,quiet u,include-untracked no-include-untracked a,all "+
			"m,message= pathspec-from-file=< pathspec-file-nul", named)
		if a.has("all") {
			f.raise(permission.RiskDestructive, "it takes away the files that the repository ignores, which may be secrets")
		}
		if verb == "push" {
			pathspecs.add(a.operands, f)
		}
	}
	switch verb {
	case "list":
	case "show":
		gitReads(gitDiffOptions+" include-untracked only-untracked").find(withArgs(c, c.words[2:]), f)
	case "push", "save", "pop", "apply", "branch", "create", "store":
		f.raise(permission.RiskWorkspace, "it changes the files of the repository")
	case "drop", "clear":
		f.raise(permission.RiskDestructive, "what is stashed is lost")
	default:
		f.raise(permission.RiskOpaque, "air does not know what git stash "+verb+" does")
	}
}

func gitClean(c *simple, f *finding) {
	a := f.parse(c, "d f,force i,interactive n,dry-run q,quiet e,exclude= x X", 0)
	if !a.has("dry-run") {
		f.raise(permission.RiskDestructive, "files that are not in the repository are lost")
	}
}

func gitMove(c *simple, f *finding) {
	f.raise(permission.RiskWorkspace, moves)
	a := f.parse(c, "f,force k n,dry-run v,verbose sparse", 0)
	if len(a.operands) < 2 || a.has("dry-run") {
		return
	}
	target, sources := a.operands[len(a.operands)-1], a.operands[:len(a.operands)-1]
	for _, s := range sources {
		f.take(s)
		f.put(s, target, len(sources) > 1 || strings.HasSuffix(target.text, "/") || target.text == ".")
	}
}

func gitRemove(c *simple, f *finding) {
	f.raise(permission.RiskWorkspace, "it takes files out of the repository")
	a := f.parse(c, "f,force n,dry-run r cached ignore-unmatch sparse q,quiet pathspec-from-file=< pathspec-file-nul", 0)
	if a.has("cached", "dry-run") {
		return
	}
	if a.has("force") {
		f.raise(permission.RiskDestructive, unsaved)
	}
	removes.add(a.operands, f)
}

func gitBisect(c *simple, f *finding) {
	f.raise(permission.RiskWorkspace, "it changes the files of the repository")
	switch args := c.args(); {
	case len(args) < 2:
	case args[0].text == "run":
		f.runs(c, args[1:])
	case args[0].text == "view" || args[0].text == "visualize":
		f.raise(permission.RiskOpaque, "git bisect "+args[0].text+" runs another command")
	}
}

func gitWorktree(c *simple, f *finding) {
	args := c.args()
	if len(args) == 0 || args[0].text == "list" {
		return
	}
	a := f.parse(withArgs(c, args[1:]), "f,force d,detach checkout no-checkout guess-remote no-guess-remote track no-track lock reason= orphan "+
		"q,quiet b= B= n,dry-run v,verbose expire= relative-paths no-relative-paths", 0)
	f.raise(permission.RiskWorkspace, "it changes the worktrees of the repository")
	switch args[0].text {
	case "add":
		if len(a.operands) > 0 {
			f.writeFile(a.operands[0])
		}
		if a.has("B") {
			f.raise(permission.RiskDestructive, "the branch no longer names its commits")
		}
	case "remove":
		f.raise(permission.RiskDestructive, "the files of the worktree are lost")
		removes.add(a.operands, f)
	case "move":
		for i, w := range a.operands {
			if i == 0 {
				f.take(w)
			} else {
				f.writeFile(w)
			}
		}
	case "prune", "lock", "unlock", "repair":
	default:
		f.raise(permission.RiskOpaque, "air does not know what git worktree "+args[0].text+" does")
	}
}

func gitSubmodule(c *simple, f *finding) {
	args := c.args()
	for len(args) > 0 && oneOf(args[0].text, "-q --quiet --cached") {
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	switch args[0].text {
	case "status", "summary":
	case "init", "sync", "absorbgitdirs", "set-branch", "deinit":
		f.raise(permission.RiskWorkspace, "it changes the submodules of the repository")
		if args[0].text != "set-branch" { // which changes .gitmodules alone
			f.configures()
		}
		if slices.ContainsFunc(args[1:], func(w word) bool { return oneOf(w.text, "-f --force") }) {
			f.raise(permission.RiskDestructive, unsaved)
		}
	case "update", "add", "set-url":
		f.raise(permission.RiskNetwork, "it fetches submodules from their remotes")
		if args[0].text != "update" || slices.ContainsFunc(args[1:], func(w word) bool { return w.text == "--init" }) {
			f.configures()
		}
		for _, w := range args[1:] {
			f.remote(w)
		}
	case "foreach":
		rest := args[1:]
		for len(rest) > 0 && oneOf(rest[0].text, "--recursive -q --quiet") {
			rest = rest[1:]
		}
		f.raise(permission.RiskWorkspace, "it runs a command in every submodule")
		if len(rest) == 1 {
			f.runText(rest[0], "")
		} else if len(rest) > 1 {
			f.inner = append(f.inner, simple{words: rest})
		}
	default:
		f.raise(permission.RiskOpaque, "air does not know what git submodule "+args[0].text+" does")
	}
}

func gitRemote(c *simple, f *finding) {
	args := c.args()
	for len(args) > 0 && oneOf(args[0].text, "-v --verbose") {
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	switch args[0].text {
	case "get-url":
	case "show", "update", "prune":
		f.raise(permission.RiskNetwork, "it asks a remote for its branches")
	case "add", "set-url", "rename", "remove", "rm", "set-head", "set-branches":
		f.raise(permission.RiskWorkspace, "it changes where the repository fetches from and sends to")
		if args[0].text != "set-head" {
			f.configures()
		}
		for _, w := range args[1:] {
			if args[0].text == "add" && (w.text == "-f" || w.text == "--fetch") {
				f.raise(permission.RiskNetwork, "it fetches from a remote")
			}
			if strings.Contains(w.text, "::") {
				f.raise(permission.RiskOpaque, "git runs what stands before the :: in "+w.text)
			}
		}
	default:
		f.raise(permission.RiskOpaque, "air does not know what git remote "+args[0].text+" does")
	}
}

const gitConfigOptions spec = "global system local worktree f,file= blob= get get-all get-regexp get-urlmatch replace-all add unset unset-all " +
	"rename-section remove-section l,list e,edit! fixed-value type= bool int bool-or-int path expiry-date z,null name-only show-origin show-scope " +
	"includes no-includes default= comment= get-color get-colorbool all regexp show-names no-show-names value= url= append no-type"

// gitConfig reads or writes settings. Most of what they name, git runs one day.
func gitConfig(c *simple, f *finding) {
	a := f.parse(c, gitConfigOptions, 0)
	file, given := a.value("file")
	if gitConfigReads(&a) {
		for _, w := range c.args() {
			if name := strings.ToLower(w.text); beginsWith(name, "http credential") || strings.Contains(name, "header") || strings.Contains(name, "token") {
				f.raise(permission.RiskPrivileged, "it may show the person's token")
			}
		}
		if given {
			f.readFile(file)
		}
		return
	}
	f.raise(permission.RiskWorkspace, "it changes a setting of the repository")
	switch {
	case given:
		f.writeFile(file)
	case a.has("global", "system"):
		f.raise(permission.RiskPrivileged, "it changes a setting of all repositories")
	case a.has("worktree"):
		f.write(word{text: configFile + ".worktree"})
	default:
		f.configures()
	}
	all := a.operands
	if a.has("rename-section") || len(all) > 0 && all[0].text == "rename-section" {
		f.raise(permission.RiskOpaque, "git may run what the settings of another name hold")
	}
	if len(all) > 0 && oneOf(all[0].text, gitConfigVerbs) {
		all = all[1:]
	}
	if !allKnown(all) || len(all) == 0 || !harmlessSetting(word{text: all[0].text + "=" + argvText(all[1:])}) {
		f.raise(permission.RiskOpaque, "git may run what the setting names")
	}
}

const gitConfigVerbs = "set unset rename-section remove-section edit"

func gitConfigReads(a *arguments) bool {
	all := a.operands
	switch {
	case a.has("get", "get-all", "get-regexp", "get-urlmatch", "list", "get-color", "get-colorbool"), len(all) > 0 && oneOf(all[0].text, "list get"):
		return true
	case len(all) > 0 && oneOf(all[0].text, gitConfigVerbs), len(all) > 1:
		return false
	}
	return !a.has("unset", "unset-all", "add", "replace-all", "rename-section", "remove-section", "edit")
}

func gitInit(c *simple, f *finding) {
	f.raise(permission.RiskWorkspace, "it makes a repository")
	a := f.parse(c, "q,quiet bare template=! separate-git-dir=> object-format= ref-format= b,initial-branch= shared=?", 0)
	for _, w := range a.operands {
		if e := f.touch(w); e != nil {
			e.MakesFolder = true
		}
	}
	if len(a.operands) == 0 {
		f.works(word{}, false)
	}
}

func gitLFS(c *simple, f *finding) {
	if len(c.words) > 1 && oneOf(c.words[1].text, "ls-files status env version logs track") {
		return
	}
	f.raise(permission.RiskNetwork, "it moves large files to and from a remote")
}

func gitClone(c *simple, f *finding) {
	f.raise(permission.RiskNetwork, "it fetches a repository")
	a := f.parse(c, "l,local no-hardlinks s,shared reference=<< reference-if-able=<< dissociate q,quiet v,verbose progress server-option= "+
		"n,no-checkout reject-shallow no-reject-shallow bare sparse filter= also-filter-submodules mirror o,origin= b,branch= revision= depth= "+
		"shallow-since= shallow-exclude= single-branch no-single-branch no-tags tags recurse-submodules,recursive=? shallow-submodules "+
		"no-shallow-submodules remote-submodules j,jobs= separate-git-dir=> ref-format= 4,ipv4 6,ipv6", 0)
	if len(a.operands) == 0 {
		return
	}
	from := a.operands[0]
	f.remote(from)
	if local := !strings.Contains(from.text, ":"); local {
		f.readTree(from)
	}
	to := word{text: strings.TrimSuffix(base(strings.TrimSuffix(from.text, "/")), ".git"), unknown: from.unknown}
	if len(a.operands) > 1 {
		to = a.operands[1]
	}
	if e := f.writeFile(to); e != nil {
		e.MakesFolder = true
	}
}

// gitPush sends, and may make a remote forget.
func gitPush(c *simple, f *finding) {
	f.raise(permission.RiskNetwork, "it sends commits to a remote")
	a := f.parse(c, "all branches prune! mirror! n,dry-run porcelain d,delete tags follow-tags signed=? no-signed atomic no-atomic o,push-option= "+
		"force-with-lease=? no-force-with-lease f,force force-if-includes repo= u,set-upstream thin no-thin q,quiet v,verbose progress "+
		"recurse-submodules= no-recurse-submodules verify no-verify 4,ipv4 6,ipv6", 0)
	if a.has("set-upstream") {
		f.configures()
	}
	loses := a.has("force", "force-with-lease", "delete", "mirror", "prune")
	for i, w := range a.operands {
		f.remote(w)
		loses = loses || i > 0 && (strings.HasPrefix(w.text, "+") || strings.HasPrefix(w.text, ":"))
	}
	if loses {
		f.raise(permission.RiskDestructive, "commits that only the remote holds are lost")
	}
}

// forgeReads are what gh and glab only show.
var forgeReads = map[string]map[string]bool{
	"pr": set("list view status diff checks"), "mr": set("list view diff"), "issue": set("list view status"), "repo": set("list view"),
	"run": set("list view watch"), "workflow": set("list view"),
	"release": set("list view"), "label": set("list"), "gist": set("list view"), "search": set("repos issues prs commits code"),
	"auth": set("status"), "cache": set("list"), "secret": set("list"), "variable": set("list get"), "project": set("list view"),
	"org": set("list"), "ruleset": set("list view check"), "status": nil, "ci": set("status view list"),
}

// forge is gh and glab: they speak to a host of repositories in the person's name.
func forge(c *simple, f *finding) {
	if len(c.words) == 1 || oneOf(c.words[1].text, "version help completion") {
		return
	}
	verb, what := c.words[1].text, ""
	if len(c.words) > 2 {
		what = c.words[2].text
	}
	shows, known := forgeReads[verb]
	if !known {
		shows = map[string]bool{}
	}
	switch {
	case verb == "auth" && what == "status" && len(c.words) > 3:
		f.raise(permission.RiskPrivileged, "it may show the person's token")
	case verb == "status" || shows[what]:
		f.raise(permission.RiskNetwork, "it asks the repository's host in the person's name")
	case verb == "api" && onlyGets(c.args()[1:]):
		f.raise(permission.RiskNetwork, "it asks the repository's host in the person's name")
	case oneOf(verb+"-"+what, "pr-checkout repo-clone release-download run-download"):
		f.raise(permission.RiskNetwork, "it fetches from the repository's host")
	case verb == "alias" || verb == "extension" || verb == "config" || !known && verb != "api":
		f.raise(permission.RiskOpaque, "air does not know what "+base(c.name())+" "+verb+" does")
	default:
		f.raise(permission.RiskNetwork, asksHosts)
		f.raise(permission.RiskPrivileged, "it acts on the repository's host in the person's name")
	}
}

// onlyGets reports whether the words of an api command send nothing.
func onlyGets(args []word) bool {
	for i, w := range args {
		switch {
		case w.unknown || w.text == "graphql":
			return false
		case w.text == "-X" || w.text == "--method":
			if i+1 >= len(args) || args[i+1].text != "GET" {
				return false
			}
		case oneOf(w.text, "--paginate -q --jq -i --include --slurp -t --template --silent") || strings.HasPrefix(w.text, "--jq="):
		case strings.HasPrefix(w.text, "-"):
			return false
		}
	}
	return true
}
