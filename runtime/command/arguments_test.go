package command

import (
	"fmt"
	"strings"
	"testing"
)

// TestArguments reads words by a spec, as getopt_long does.
func TestArguments(t *testing.T) {
	const s spec = "v,verbose n,lines= color=? i=? f,file=< o,output=> timing=?> E,env== x,exec=$ bad=^ ext-diff!"
	for _, c := range []struct {
		how         reading
		words, want string
	}{
		{0, "-v a -n 3 b", "verbose lines=3 | a b"},
		{0, "-vn3 a", "verbose lines=3 | a"},
		{0, "--lines=3 --lines 4", "lines=3 lines=4 |"},
		{0, "--color a -i.bak -i b", "color i=.bak i | a b"},
		{0, "a -- -v", "| a -v"},
		{0, "- -5 -", "5 | - -"},
		{stop, "-v a -v", "verbose | a -v"},
		{single, "-verbose -lines 3 a", "verbose lines=3 | a"},
		{0, "--lin=3 a", "lines=3 | a ? --lin=3"},
		{0, "--lin 3 a", "lines=3 | a ? --lin"},
		{0, "--e=3 a", "e=3 | a ? --e=3"},
		{0, "--foo a -qv", "foo q verbose | a ? --foo -qv"},
	} {
		var words []word
		for _, w := range strings.Fields(c.words) {
			words = append(words, word{text: w})
		}
		a := (&reader{options: s.options(), stop: c.how&stop != 0, single: c.how&single != 0, args: words}).read()
		if got := a.written(); got != c.want {
			t.Errorf("%s: %s, want %s", c.words, got, c.want)
		}
	}
}

func (a *arguments) written() string {
	var all []string
	for _, f := range a.flags {
		text := f.name
		if f.value.text != "" {
			text += "=" + f.value.text
		}
		all = append(all, text)
	}
	all = append(all, "|")
	for _, w := range a.operands {
		all = append(all, w.text)
	}
	for i, w := range a.strange {
		if i == 0 {
			all = append(all, "?")
		}
		all = append(all, w.text)
	}
	return strings.Join(all, " ")
}

// TestUses has what options do.
func TestUses(t *testing.T) {
	const s spec = "f=< d=<< o=> timing=?> E== x=$ bad=^ ext-diff!"
	for words, want := range map[string]string{
		"-f a": "[read(a)] read-only", "-d a": "[read(a) ] read-only", "-o a": "[write(a)] workspace", "--timing a": "[] read-only", "--timing=a": "[write(a)] workspace",
		"-E A=b": "[] read-only A=b", "-E A": "[] read-only A=", "-x a": "[] workspace $a", "--bad=a": "[] opaque", "--ext-diff": "[] opaque", "-q": "[] opaque",
	} {
		c := simple{words: []word{{text: "p"}}, dir: "/p"}
		for _, w := range strings.Fields(words) {
			c.words = append(c.words, word{text: w})
		}
		f := finding{risk: "read-only"}
		f.parse(&c, s, 0)
		var effects []string
		for _, e := range f.effects {
			text := fmt.Sprintf("%s(%s)", e.Kind, e.Target)
			if e.Recursive {
				text += " "
			}
			effects = append(effects, text)
		}
		got := fmt.Sprint(effects, " ", f.risk)
		for _, v := range f.sets {
			got += " " + v.name + "=" + v.value.text
		}
		for _, v := range f.texts {
			got += " $" + v.text.text
		}
		if got != want {
			t.Errorf("%s: %s, want %s", words, got, want)
		}
	}
}
