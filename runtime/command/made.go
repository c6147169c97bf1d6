package command

import (
	"path"
	"slices"
	"strings"

	"github.com/aircoding/air/runtime/permission"
)

// What a path leads to is decided before the command line runs. So a name that one of its
// commands gives to something else counts as what it stands for then: for those before
// that command, too, as loops and jobs run in another order.

// made is a name that a command gives to what has another one.
type made struct {
	by    string // the command
	from  string // absolute, as it was named
	below bool   // it is some file below that
	link  bool   // a symbolic link
	loose bool   // links in it may lead elsewhere than they did under the other name
}

// pathUse is an effect on a path, and the command that has it where that makes names.
type pathUse struct {
	kind      permission.Kind
	target    string
	recursive bool
	known     bool
	below     bool
	byName    bool // it does not follow links
	by        string
}

const (
	maxPath   = 4096 // bytes of a path, as systems limit them
	maxRoutes = 32   // names that one path may stand for
	maxMade   = 1000 // names that are made
	// maxLooked bounds the bytes of paths that are compared with the names.
	maxLooked = 8 << 20
)

// makesNames reports whether a command moves, links or copies links, and whether it surely
// makes symbolic ones of its own.
func makesNames(c *simple) (makes, links bool) {
	switch base(c.name()) {
	case "mv", "link", "rsync":
		return true, false
	case "ln":
		return true, symbolic(c)
	case "cp", "gcp":
		return hasLetter(c, "adlPrRs"), false
	case "git":
		for _, w := range c.args() {
			makes = makes || w.text == "mv"
		}
	}
	return makes, false
}

func symbolic(c *simple) bool {
	return slices.ContainsFunc(c.args(), func(w word) bool {
		letters, ok := strings.CutPrefix(w.text, "-")
		return !w.unknown && (ok && strings.Contains(letters, "s") && strings.Trim(letters, "sfnrvi") == "" || w.text == "--symbolic")
	})
}

// worksByName reports whether a command takes links as they are.
func worksByName(c *simple) bool {
	return base(c.name()) == "git" && len(c.words) > 1 && oneOf(c.words[1].text, "add commit status rm")
}

// hasLetter reports whether a command has one of the letters among its options, or a long
// option.
func hasLetter(c *simple, letters string) bool {
	for _, w := range c.args() {
		if w.unknown || strings.HasPrefix(w.text, "--") && len(w.text) > 2 || strings.HasPrefix(w.text, "-") && strings.ContainsAny(w.text, letters) {
			return true
		}
	}
	return false
}

// noteNames notes the names that a command makes: each path that it writes stands for
// those that it read or deleted just before, and so does a file of that name in it, as it
// may be a folder. It returns how the command is known.
func (a *analysis) noteNames(c *simple, f *finding) (by string) {
	makes, links := makesNames(c)
	if !makes {
		return ""
	}
	by = c.dir + "\x00" + argvOf(c.words)
	var sources []made
	written := false
	for _, e := range f.effects {
		target := absolute(c.dir, e.Target)
		switch {
		case !e.Kind.IsPath() || !path.IsAbs(target):
		case e.Kind == permission.Write:
			written = true
			for _, m := range sources {
				a.makeName(target, m)
				a.makeName(target+"/"+base(path.Clean(m.from)), m)
			}
		default:
			if written {
				sources, written = nil, false
			}
			sources = append(sources, made{by: by, from: target, below: e.Below, link: links})
		}
	}
	return by
}

func (a *analysis) makeName(name string, m made) {
	if len(name) > maxPath || len(m.from) > maxPath || len(a.names) >= maxMade {
		a.unknown(tooMuch)
		return
	}
	if a.names == nil {
		a.names = map[string][]made{}
	}
	name = strings.ToLower(path.Clean(name)) // as some systems do not tell letters apart
	for _, old := range a.names[name] {
		if old == m {
			return
		}
	}
	a.names[name] = append(a.names[name], m)
}

// noteUse notes an effect, where it is on an absolute path.
func (a *analysis) noteUse(e permission.Effect, by string, byName bool) {
	if !e.Kind.IsPath() {
		return
	}
	u := pathUse{kind: e.Kind, target: e.Target, recursive: e.Recursive, known: e.Known, below: e.Below, byName: byName, by: by}
	if a.used == nil {
		a.used = map[pathUse]bool{}
	}
	if !a.used[u] && a.output <= maxOutput {
		a.used[u] = true
		a.uses = append(a.uses, u)
	}
}

// followNames adds the effects on what the names that the command line makes stand for.
func (a *analysis) followNames() {
	if len(a.names) == 0 {
		return
	}
	a.loosen()
	for _, u := range a.uses {
		a.followName(u)
	}
}

// loosen finds the names under which links lead elsewhere: relative ones, where they are
// moved up, and those that the command line itself makes, where they are moved at all.
func (a *analysis) loosen() {
	var links []string
	for name, all := range a.names {
		for _, m := range all {
			if m.link {
				links = append(links, name)
				break
			}
		}
	}
	for name, all := range a.names {
		for i := range all {
			m := &all[i]
			from := strings.ToLower(path.Clean(m.from))
			m.loose = !m.link && strings.Count(name, "/") < strings.Count(from, "/")
			for _, l := range links {
				m.loose = m.loose || !m.link && path.Dir(name) != path.Dir(from) && isBelow(l, from)
			}
		}
	}
}

// isBelow reports whether a clean path is another one, or lies below it.
func isBelow(name, folder string) bool {
	return name == folder || strings.HasPrefix(name, strings.TrimSuffix(folder, "/")+"/")
}

// followName adds what an effect on a path has on all that the path stands for.
func (a *analysis) followName(u pathUse) {
	if u.below && !u.byName {
		a.checkMatches(u)
	}
	routes, seen := []string{u.target}, map[string]bool{u.target: true}
	for i := 0; i < len(routes); i++ {
		if i > 0 {
			a.add(permission.Effect{Kind: u.kind, Target: routes[i], Recursive: u.recursive, Below: u.below, Known: u.known})
		}
		for _, to := range a.leadsTo(routes[i], u) {
			if seen[to] {
				continue
			}
			if len(routes) == maxRoutes {
				a.unknown(tooMuch)
				return
			}
			seen[to] = true
			routes = append(routes, to)
		}
	}
}

// checkMatches is for a pattern, which may match any name in a folder.
func (a *analysis) checkMatches(u pathUse) {
	folder := strings.ToLower(path.Clean(u.target))
	for name, all := range a.names {
		for _, m := range all {
			if m.loose && m.by != u.by && isBelow(name, folder) {
				a.unknown(movedLinks)
			}
		}
	}
}

const movedLinks = "what a moved or linked name leads to cannot be known before it runs: use it in a command line of its own"

// leadsTo returns what a path stands for where it, or a folder above it, is a made name.
func (a *analysis) leadsTo(target string, u pathUse) (all []string) {
	if len(target) > maxPath {
		a.unknown(tooMuch)
		return nil
	}
	for end := 1; end <= len(target); end++ {
		if end < len(target) && target[end] != '/' {
			continue
		}
		if a.looked += end; a.looked > maxLooked || len(all) > maxRoutes {
			a.unknown(tooMuch)
			return nil
		}
		for _, m := range a.names[strings.ToLower(path.Clean(target[:end]))] {
			if m.by == u.by {
				continue
			}
			if m.loose && !u.byName || m.below && u.kind != permission.Read {
				a.unknown(movedLinks)
			}
			if !m.below {
				all = append(all, m.from+target[end:])
			}
		}
	}
	return all
}
