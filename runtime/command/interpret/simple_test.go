package interpret

import (
	"slices"
	"testing"
)

func TestSimple(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string // nil: it needs a shell
	}{
		{"go test ./...", []string{"go", "test", "./..."}},
		{" ls  -l # all", []string{"ls", "-l"}},
		{`grep -r 'a b*' "c d" --color=never`, []string{"grep", "-r", "a b*", "c d", "--color=never"}},
		{`git commit -m ''`, []string{"git", "commit", "-m", ""}},
		{"true", []string{"true"}},
		{"a'b'\"c\"", []string{"abc"}},
		{"npm i a@1", []string{"npm", "i", "a@1"}},
		{"echo a", nil}, {"cd x", nil}, {"[ a ]", nil}, {"", nil}, {"''", nil},
		{"ls *", nil}, {"ls ~", nil}, {"ls a?", nil}, {"ls [ab]", nil}, {"ls {a,b}", nil}, {`ls a\ b`, nil}, {"ls $x", nil}, {"ls $(x)", nil},
		{"ls `x`", nil}, {`ls "$x"`, nil}, {`ls "a\"b"`, nil}, {"ls $'a'", nil}, {`ls $"a"`, nil}, {"ls <(x)", nil}, {"ls a!b", nil}, {"ls +(a)", nil},
		{"ls;", []string{"ls"}}, {"ls; ls", nil}, {"ls &", nil}, {"! ls", nil}, {"ls > x", nil}, {"A=b ls", nil}, {"A=b", nil}, {"ls | cat", nil},
		{"ls && ls", nil}, {"time ls", nil}, {"(ls)", nil}, {"f() { ls; }", nil}, {"ls\nls", nil}, {"if", nil}, {"ls 'a", nil},
	} {
		got, ok := Simple(c.text)
		if ok != (c.want != nil) || ok && !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, %v; want %q", c.text, got, ok, c.want)
		}
	}
}
