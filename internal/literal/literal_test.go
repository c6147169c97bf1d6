package literal_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/literal"
)

func TestEach(t *testing.T) {
	set := literal.New([]literal.Text{{Text: "abc"}, {Text: "abcd"}, {Text: "Key", Fold: true}, {Text: "xy"}, {Text: "é-"}})
	for text, want := range map[string][]string{
		"":                nil,
		"ab":              nil,
		"abc":             {"0 abc"},
		"xyabcd":          {"2 abcd", "2 abc"},
		"KEY key kEy_":    {"0 Key", "4 Key", "8 Key"},
		"ABC aBc":         nil,
		"é-abc":           {"0 é-", "3 abc"},
		"ke":              nil,
		"\xff\xfeabc\xff": {"2 abc"},
	} {
		names := []string{"abc", "abcd", "Key", "xy", "é-"}
		var got []string
		set.Each(text, func(at, id int) int {
			got = append(got, fmt.Sprint(at, " ", names[id]))
			return 0
		})
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestEachGoesOnWhereTold(t *testing.T) {
	set := literal.New([]literal.Text{{Text: "aaa"}})
	var at []int
	set.Each(strings.Repeat("a", 8), func(i, _ int) int {
		at = append(at, i)
		return i + 3
	})
	if !slices.Equal(at, []int{0, 3}) {
		t.Errorf("got %v", at)
	}
}

func BenchmarkEach(b *testing.B) {
	set := literal.New([]literal.Text{{Text: "ghp_"}, {Text: "password", Fold: true}})
	text := strings.Repeat("a plain line of a build's log: 12 tests passed\n", 44)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		set.Each(text, func(int, int) int { return 0 })
	}
}
