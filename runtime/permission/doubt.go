package permission

import (
	"os"
	"strings"
)

// doubt says of a rule that it may not do what its reader expects, "" where nothing
// seems wrong with it.
func (r *rule) doubt() string {
	switch {
	case r.kind == Run:
		return r.doubtCommand()
	case r.kind == Net && r.verdict == Allow && r.tier == TierProject && r.matchers[0].net.private():
		return "it can never match: only a rule of a person's own file opens a private host"
	case r.kind == Env && r.verdict == Allow && r.tier == TierProject && !isLiteral(r.matchers[0].text):
		return "it can never match: a project's rule opens a variable only by its whole name"
	case r.kind.IsPath():
		return r.doubtPath()
	}
	return ""
}

func (r *rule) doubtCommand() string {
	words := r.matchers[0].argv.words
	first, last := words[0], words[len(words)-1]
	switch {
	case first.literal() && strings.Contains(first.text, "=") && !strings.HasPrefix(r.pattern, "'"):
		return "a variable in front of a command is no word of it: leave it out"
	case r.verdict == Allow:
		return ""
	case first.literal() && strings.HasPrefix(first.text, "/"):
		return "it holds only where the command is written with its path: the bare name holds for both"
	case last.literal():
		return "it holds for these words alone: with ** behind them it holds whatever follows"
	}
	return ""
}

// doubtPath looks at what is there: the only use of that is this advice.
func (r *rule) doubtPath() string {
	switch {
	case strings.ContainsRune(r.pattern, '$'):
		return "$ is a character of the name here, and no variable"
	case strings.HasPrefix(r.pattern, "~") && !strings.HasPrefix(r.pattern, "~/") && r.pattern != "~":
		return "only ~/ stands for a home"
	case strings.Contains(r.pattern, ", "):
		return "it is one pattern: two need two rules, or braces as in {a,b}/**"
	}
	for i := range r.matchers {
		m := &r.matchers[i]
		if info, err := os.Stat(sample(m.text, "")); m.pattern == nil && err == nil && info.IsDir() {
			return "it names a folder and not what is in it: " + r.pattern + "/** holds for both"
		}
	}
	return ""
}

// private reports whether the pattern names a host of a private network, or this machine.
func (p *netPattern) private() bool {
	if !p.names() {
		return false
	}
	_, private, err := canonicalHost(strings.Trim(p.host, "[]"))
	return err == nil && private
}
