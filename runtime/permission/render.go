package permission

import (
	"fmt"
	"strings"
)

// render lays a question out. Every line begins with a label of ours, so that no text
// from outside can look like one.
func render(q Question) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nair: %s asks for permission\n", Printable(q.Tool))
	for _, d := range q.Asks {
		block(&b, string(d.Effect.Kind), d.Effect.Target)
		if d.Effect.Class != "" {
			block(&b, "class", string(d.Effect.Class))
		}
		block(&b, "why", d.Reason)
		block(&b, "rule", d.Rule)
	}
	for _, c := range q.Chain {
		block(&b, "called by", callerText(c))
	}
	if len(q.Chain) == 0 {
		block(&b, "called by", "you or your agent")
	}
	if q.Project != "" {
		block(&b, "project", q.Project)
	}
	choices(&b, q)
	return b.String()
}

func callerText(c Caller) string {
	switch {
	case c.Digest == "":
		return c.Capability + " (a module without a digest)"
	case !c.Consented:
		return c.Capability + "@" + c.Digest + " (not enabled here)"
	}
	return c.Capability + "@" + c.Digest
}

func choices(b *strings.Builder, q Question) {
	fmt.Fprintf(b, "  o  once\n")
	if !q.OnceOnly {
		fmt.Fprintf(b, "  s  for this session\n")
	}
	if len(q.Rules) > 0 {
		fmt.Fprintf(b, "  p  for this project, which writes:\n")
		for _, rule := range q.Rules {
			block(b, "", rule)
		}
	}
	fmt.Fprintf(b, "  d  deny; a word to the agent may follow\n")
}

// block writes a labelled text, broken by us rather than by the terminal: a long text
// could otherwise be padded until its end looks like a line of its own.
func block(b *strings.Builder, label, text string) {
	const width = 64
	runes := []rune(Printable(text))
	for {
		n := min(width, len(runes))
		fmt.Fprintf(b, "  %-10s| %s\n", label, string(runes[:n]))
		if runes, label = runes[n:], ""; len(runes) == 0 {
			return
		}
	}
}
