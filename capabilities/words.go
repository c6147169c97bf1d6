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

// permissionWords says in plain words the most that a capability can do once enabled.
func permissionWords(m *Manifest) []string {
	if !m.abi().KnowsAir() {
		return []string{onlyInput}
	}
	p, s := m.Permissions, m.Permissions.Scopes
	var out []string
	say := func(has bool, text string, scope ...string) {
		if has {
			out = append(out, text+scoped(scope))
		}
	}
	readIn, readOut := places(s.Read)
	writeIn, writeOut := places(s.Write)
	say(p.ReadProject && s.Read == nil, "read every file of the project but protected ones (.git, .env, keys)")
	say(p.ReadProject && len(readIn) > 0, "read in the project: ", readIn...)
	say(p.ReadProject && len(readOut) > 0, "read OUTSIDE the project: ", readOut...)
	say(p.WriteProject && s.Write == nil, "create, change and delete every file of the project but protected ones")
	say(p.WriteProject && len(writeIn) > 0, "create, change and delete in the project: ", writeIn...)
	say(p.WriteProject && p.ProjectOutsideWrite && len(writeOut) > 0, "create, change and delete OUTSIDE the project: ", writeOut...)
	say(p.ExecuteCommands && len(s.Commands) > 0, "run the commands: ", s.Commands...)
	say(p.Network && len(s.Network) > 0, "talk to: ", s.Network...)
	say(p.Credentials && len(s.Secrets) > 0, "have these secrets put into its requests, without seeing them: ", s.Secrets...)
	say(p.Credentials, "ask for files that hold credentials, each time after a question")
	say(p.SystemSensitive, "ask for what concerns the whole machine, each time after a question")
	say(len(s.Tools) > 0, "call the tools: ", s.Tools...)
	say(s.Tools == nil && len(out) > 0, "call air's own tools for the above, and no other capability's")
	if len(out) == 0 {
		return []string{"compute on what it is given, and nothing else"}
	}
	return out
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

func bytesWord(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
