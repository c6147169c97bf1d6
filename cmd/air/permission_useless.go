package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/aircoding/air/runtime/permission"
)

var effectForm = regexp.MustCompile(`(?s)^allow:\s*([a-z_]+)\((.*)\)\s*$`)

// useless says why a stored grant opens nothing, "" when it does or when that cannot be
// told: it is tried on one thing that its pattern names.
func useless(engine *permission.Engine, paths *permission.Paths, g permission.Grant) string {
	form := effectForm.FindStringSubmatch(g.Rule)
	if form == nil {
		return ""
	}
	request := permission.Request{Subject: permission.Subject{Tool: "air", BuiltIn: true}, SessionID: g.Session}
	if g.For != "" {
		request.Chain = []permission.Caller{broadCaller(g.For)}
	}
	for _, kind := range kindsOf(permission.Kind(form[1])) {
		e, ok := sampleEffect(paths, kind, form[2])
		if !ok {
			return ""
		}
		e.ScriptSHA256 = g.ScriptSHA256
		request.Effects = append(request.Effects, e)
	}
	why := ""
	for _, d := range engine.Decide(request) {
		switch {
		case d.Verdict == permission.Deny:
			why = fmt.Sprintf("the grant opens nothing: %s is denied: %s (%s)", d.Effect, d.Reason, d.Rule)
		case d.Verdict == permission.Ask && d.NoAlways:
			why = fmt.Sprintf("the grant opens nothing: %s is asked about in each session: %s; --this-session allows it for this one", d.Effect, d.Reason)
		default:
			return ""
		}
	}
	return why
}

// broadCaller is a capability that declares everything, as the grant is about rules.
func broadCaller(forText string) permission.Caller {
	id, digest, _ := strings.Cut(forText, "@")
	all := []string{"**"}
	return permission.Caller{
		Capability: id, Digest: digest,
		Permissions: permission.Permissions{Read: true, Write: true, Execute: true, Network: true, SystemSensitive: true, Credentials: true, OutsideWrite: true},
		Scopes:      permission.Scopes{Read: []string{"/**"}, Write: []string{"/**"}, Commands: all, Network: all, Tools: all, Secrets: all},
	}
}

func kindsOf(kind permission.Kind) []permission.Kind {
	if kind == permission.Write {
		return []permission.Kind{permission.Create, permission.Overwrite, permission.Delete}
	}
	return []permission.Kind{kind}
}

// sampleEffect is an effect that a pattern of the simple sort matches: wildcards become
// a name of their own. What cannot be said for sure is not ok.
func sampleEffect(paths *permission.Paths, kind permission.Kind, pattern string) (e permission.Effect, ok bool) {
	e = permission.Effect{Kind: kind, Target: pattern}
	switch {
	case kind == permission.Run:
		e.Risk = permission.RiskDestructive // asked about, and may be allowed for always
		return e, !strings.ContainsAny(pattern, `*?[]{}\`)
	case strings.ContainsAny(pattern, `[]{}`):
		return e, false
	case kind == permission.Net:
		e, err := permission.NetTarget(pattern)
		return e, err == nil
	case !kind.IsPath():
		return e, !strings.ContainsAny(pattern, `*?\`)
	}
	e.Target = samplePath(pattern)
	if home, below := strings.CutPrefix(e.Target, "~/"); below {
		e.Target = filepath.Join(personHome(), home)
	}
	resolved, err := paths.Resolve(e)
	resolved.Kind = kind // whatever is there
	return resolved, err == nil
}

func samplePath(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern):
			i++
			b.WriteByte(pattern[i])
		case c != '*' && c != '?':
			b.WriteByte(c)
		case i == 0 || pattern[i-1] != '*':
			b.WriteString("any-name")
		}
	}
	return b.String()
}
