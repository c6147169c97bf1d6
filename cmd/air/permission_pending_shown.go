package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/aircoding/air/runtime/permission"
)

// grantCommands are lines for a shell, each word in single quotes that is not harmless
// without. They are nil where one of them would have characters that are not shown as what
// they are: what is pasted has to be what was read.
func grantCommands(grants []permission.Grant, script string) (commands []string) {
	for _, g := range grants {
		words := []string{"air", "permission", "grant", strings.TrimPrefix(g.Rule, "allow: ")}
		if g.For != "" {
			words = append(words, "--for", g.For)
		}
		if g.ScriptSHA256 != "" {
			words = append(words, "--script", script)
		}
		if g.Session != "" {
			words = append(words, "--this-session")
		}
		command := permission.JoinArgv(words)
		if oneLine(command) != command {
			return nil
		}
		commands = append(commands, command)
	}
	return commands
}

func (p pendingAsk) writeTogether(w io.Writer) {
	if len(p.Together) > 0 {
		fmt.Fprintf(w, "all that this call asked for:\n  %s\n", strings.Join(p.Together, " && \\\n  "))
	}
}

func (p pendingAsk) write(w io.Writer) {
	who := p.Tool
	if len(p.Route) > 0 {
		who = strings.Join(p.Route, " > ") + " > " + who
	}
	times := ""
	if p.Count > 1 {
		times = fmt.Sprintf("  (%d times)", p.Count)
	}
	fmt.Fprintf(w, "%s  %s  %s%s\n", p.Time.Local().Format(time.DateTime), oneLine(who), oneLine(p.Effect.String()), times)
	fmt.Fprintf(w, "  why:   %s (%s)\n", oneLine(p.Reason), oneLine(p.Rule))
	for _, command := range p.Allow {
		fmt.Fprintf(w, "  allow: %s\n", command)
	}
	if p.Line != "" {
		fmt.Fprintf(w, "  allow, in %s:\n    %s\n", oneLine(p.File), oneLine(p.Line))
	}
	if p.Note != "" {
		fmt.Fprintf(w, "  note:  %s\n", oneLine(p.Note))
	}
}

// byCall takes asks apart that came from different calls.
func byCall(asks []pendingAsk) (calls [][]pendingAsk) {
	for from, i := 0, 1; i <= len(asks); i++ {
		if i == len(asks) || asks[i].Run != asks[from].Run {
			calls = append(calls, asks[from:i])
			from = i
		}
	}
	return calls
}

// together notes the commands that allow all asks of one call.
func together(call []pendingAsk) {
	var all []string
	for _, p := range call {
		if p.Allow == nil {
			return
		}
		for _, command := range p.Allow {
			if !slices.Contains(all, command) {
				all = append(all, command)
			}
		}
	}
	for i := range call {
		if len(call) > 1 {
			call[i].Together = all
		}
	}
}
