package permission

import (
	"fmt"
	"strings"

	"github.com/aircoding/air/internal/fault"
)

const (
	// maxScreen is how many lines are read at a glance. What takes more is shown whole,
	// and can be allowed once only.
	maxScreen = 60
	// maxShown is how many lines anybody can be asked to read at all.
	maxShown = 1000
)

// render lays a question out, and returns the question that is left to be answered: of
// one that is longer than a screen, an answer for longer is not offered.
//
// Every line begins with a label of ours, so that no text from outside can look like one.
func render(q Question, columns int) (string, Question, error) {
	asks := newPage(columns, '|')
	for i := range q.Asks {
		asks.ask(&q.Asks[i], i+1 < len(q.Asks) && sameGrounds(&q.Asks[i], &q.Asks[i+1]))
	}
	if len(asks.lines) > maxShown {
		return "", q, tooLong(len(asks.lines))
	}
	p := newPage(columns, '|')
	p.line(fmt.Sprintf("air: %s asks for permission", p.cut(q.Tool)))
	p.lines = append(p.lines, asks.lines...)
	p.circumstances(&q)
	if n := len(asks.lines); n > maxScreen {
		q.OnceOnly, q.Rules, q.AnyHost = true, nil, false
		p.block("long", fmt.Sprintf("%d lines are asked about above: read all of them; no answer lasts", n))
	}
	p.choices(&q)
	return "\n" + p.String(), q, nil
}

func tooLong(lines int) error {
	return fault.New(fault.ApprovalRequired, "too_long_to_ask", "nobody was asked: the question would have %d lines", lines).
		WithHint("do it in smaller steps, or use fewer and shorter words")
}

// ask shows one effect, and on what grounds it is asked about unless the next one has
// the same.
func (p *page) ask(d *Decision, shared bool) {
	f := &d.Effect
	p.block(string(f.Kind), f.Target)
	if f.Recursive {
		p.block("with", "all that lies below it")
	}
	if f.Also != "" {
		p.block("that is", f.Also)
	}
	if f.Script != "" {
		p.block("script", f.Script)
		p.block("sha256", digestHead(f.ScriptSHA256))
	}
	if !shared {
		p.grounds(d)
	}
}

func digestHead(digest string) string {
	if digest == "" {
		return "not known: what it holds may change"
	}
	return digest[:min(16, len(digest))] + "…"
}

func (p *page) grounds(d *Decision) {
	f := &d.Effect
	if f.Class != "" {
		p.block("class", string(f.Class))
	}
	if f.Risk != "" {
		p.block("risk", string(f.Risk))
	}
	if f.Why != "" {
		p.block("why", f.Why)
	}
	if d.Reason != f.Why {
		p.block("why", d.Reason)
	}
	p.block("rule", d.Rule)
}

func sameGrounds(a, b *Decision) bool {
	return a.Effect.Kind == b.Effect.Kind && a.Effect.Class == b.Effect.Class && a.Effect.Risk == b.Effect.Risk &&
		a.Effect.Why == b.Effect.Why && a.Reason == b.Reason && a.Rule == b.Rule
}

// circumstances say who asks and where, and what else the call does.
func (p *page) circumstances(q *Question) {
	if q.Others > 0 {
		p.block("besides", fmt.Sprintf("%d that need no question", q.Others))
	}
	if q.Folder != "" {
		p.block("folder", q.Folder)
	}
	for _, c := range q.Chain {
		p.block("called by", callerText(c))
	}
	if len(q.Chain) == 0 {
		p.block("called by", "you or your agent")
	}
	if q.Project != "" {
		p.block("project", q.Project)
	}
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

// choices lists the answers. One that writes more rules than a screen shows is left out.
func (p *page) choices(q *Question) {
	rules := newPage(p.columns, '|')
	for _, rule := range q.Rules {
		rules.block("", rule)
	}
	if len(rules.lines) > maxScreen {
		q.Rules = nil
	}
	if q.Learning {
		p.line("  o = yes: a rule for it is proposed when the call has ended")
	} else {
		p.line("  o = once")
	}
	if q.AnyHost {
		p.line("  h = any public host that no rule denies, until this run ends")
	}
	if !q.OnceOnly {
		p.line("  s = for this session")
	}
	if len(q.Rules) > 0 {
		p.line("  p = for this project, which writes:")
		p.lines = append(p.lines, rules.lines...)
	}
	p.line("  d [why] = deny, with a word to the agent")
}

// page is text for a terminal, broken by us rather than by the terminal: a long text
// could otherwise be padded until its end looks like a line of its own.
type page struct {
	columns int
	mark    rune // stands before all text from outside
	lines   []string
}

const labelWidth = 10

// newPage is for a terminal with so many columns, 0 where that is not known.
func newPage(columns int, mark rune) *page {
	if columns <= 0 || columns > 80 {
		columns = 80
	}
	return &page{columns: columns, mark: mark}
}

func (p *page) String() string { return strings.Join(p.lines, "\n") + "\n" }

// line writes a line of air's own.
func (p *page) line(text string) { p.lines = append(p.lines, text) }

// width is how many columns are left for text from outside.
func (p *page) width() int { return max(16, p.columns-2-labelWidth-2-2) }

// block writes a text with a label.
func (p *page) block(label, text string) {
	text = Printable(text)
	for {
		head := p.cut(text)
		p.line(fmt.Sprintf("  %-*s%c %s", labelWidth, label, p.mark, head))
		if text, label = text[len(head):], ""; text == "" {
			return
		}
	}
}

// cut is as much of a text as fits into a line. Whatever is beyond ASCII counts as two
// columns, which is the most that it takes.
func (p *page) cut(text string) string {
	left := p.width()
	for i, r := range text {
		if left--; r > '~' {
			left--
		}
		if left < 0 {
			return text[:i]
		}
	}
	return text
}
