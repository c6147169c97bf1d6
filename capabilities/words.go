package capabilities

import (
	"fmt"
	"strings"
	"time"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/runtime"
)

// onlyInput is all that a program does.
const onlyInput = "only compute on its input"

func abiWords(abi hostabi.ABI) string {
	if !abi.KnowsAir() {
		return string(abi) + "  (a program: what its manifest asks for counts for nothing)"
	}
	return string(abi)
}

// permissionWords says in plain words the most that a capability can do once enabled. Its
// events and artifacts have lists of their own.
func permissionWords(m *Manifest) []string {
	var acts []string
	what := map[string][]string{}
	for _, p := range powers(m) {
		if p.act == publish || p.act == store {
			continue
		}
		if _, seen := what[p.act]; !seen {
			acts = append(acts, p.act)
		}
		what[p.act] = append(what[p.act], lines([]string{p.what}, 120)...)
	}
	for i, act := range acts {
		if len(what[act]) > 0 {
			acts[i] += ": " + strings.Join(what[act], ", ")
		}
	}
	if acts == nil {
		return []string{"compute on what it is given, and nothing else"}
	}
	return acts
}

// places parts patterns that are relative to the project from those that are not.
func places(patterns []string) (inside, outside []string) {
	for _, p := range patterns {
		if strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") {
			outside = append(outside, p)
		} else {
			inside = append(inside, p)
		}
	}
	return inside, outside
}

// neverWords names what a flag without a scope, or no flag, leaves out.
func neverWords(m *Manifest) []string {
	if !m.abi().KnowsAir() {
		return []string{"read files of the project", "write files", "run commands", "use the network", "use secrets", "call any tool"}
	}
	p, s := m.Permissions, m.Permissions.Scopes
	var out []string
	say := func(absent bool, text string) {
		if absent {
			out = append(out, text)
		}
	}
	say(!p.ReadProject, "read files of the project")
	say(!p.WriteProject, "write files")
	say(!p.ExecuteCommands, "run commands")
	say(p.ExecuteCommands && len(s.Commands) == 0, "run commands: it asks to, and names none")
	say(!p.Network, "use the network")
	say(p.Network && len(s.Network) == 0, "use the network: it asks to, and names no host")
	say(!p.Credentials || len(s.Secrets) == 0, "use secrets")
	return out
}

func scoped(scope []string) string {
	return strings.Join(lines(scope, 120), ", ")
}

// lines are texts of the publisher, each as one line.
func lines(texts []string, limit int) []string {
	var out []string
	for _, t := range texts {
		if one := text.Line(t, limit); one != "" {
			out = append(out, one)
		}
	}
	return out
}

func flagWords(t ToolPermissions, abi hostabi.ABI) []string {
	if !abi.KnowsAir() {
		return []string{onlyInput}
	}
	var out []string
	for _, flag := range []struct {
		set  bool
		word string
	}{
		{t.ReadPaths, "read"}, {t.WritePaths, "write"}, {t.Execute, "run commands"},
		{t.Network, "use the network"}, {t.SystemSensitive, "touch the system"}, {t.Credentials, "use secrets"},
	} {
		if flag.set {
			out = append(out, flag.word)
		}
	}
	if out == nil {
		return []string{"only compute"}
	}
	return out
}

func annotationWords(a Annotations) []string {
	var out []string
	if title := text.Line(a.Title, maxTitle); title != "" {
		out = append(out, fmt.Sprintf("title %q", title))
	}
	for _, hint := range []struct {
		value   *bool
		yes, no string
	}{
		{a.ReadOnly, "read-only", "not read-only"},
		{a.Destructive, "destructive", "not destructive"},
		{a.Idempotent, "idempotent", "not idempotent"},
	} {
		switch {
		case hint.value == nil:
		case *hint.value:
			out = append(out, hint.yes)
		default:
			out = append(out, hint.no)
		}
	}
	return out
}

func limitWords(l runtime.Limits, abi hostabi.ABI) []string {
	words := []string{
		"memory " + bytesWord(l.MemoryBytes),
		"time " + (time.Duration(l.TimeoutMS) * time.Millisecond).String(),
		"input " + bytesWord(l.InputBytes),
		"output " + bytesWord(l.OutputBytes),
	}
	if abi.KnowsAir() {
		words = append(words, fmt.Sprintf("%d calls of other tools", l.HostCalls))
	}
	return append(words, fmt.Sprintf("%d at once", l.ConcurrentCalls))
}

// signerWords names who signed, as the person calls them.
func signerWords(s *Signer) string {
	switch {
	case s == nil:
		return "none"
	case s.Name == "":
		return text.Line(s.KeyID, 100)
	}
	return fmt.Sprintf("%s (%s, a key you trust)", text.Line(s.Name, 64), text.Line(s.KeyID, 100))
}

func trustWords(t TrustLevel) string {
	switch t {
	case ProjectLocal:
		return "  (came with this project's files)"
	case UserInstalled:
		return "  (installed by you; nobody vouches for it)"
	case Untrusted:
		return "  (nobody vouches for it)"
	case VerifiedPublisher:
		return "  (signed by a publisher whom you trust for it)"
	case BuiltIn:
		return "  (part of air)"
	}
	return ""
}

func bytesWord(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
