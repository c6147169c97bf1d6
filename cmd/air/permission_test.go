package main

import (
	"slices"
	"testing"
)

func TestShortIDs(t *testing.T) {
	for _, c := range []struct{ ids, want []string }{
		{nil, nil},
		{[]string{"01a22d61-9cc0-7ab4"}, []string{"01a22d61"}},
		{[]string{"01a22d62-9cc0-7ab4", "01a22d61-9cc0-7ab4"}, []string{"01a22d62", "01a22d61"}},
		{[]string{"01a22d61-9cc0-7ab4", "01b", "01a22d61-9cd0-7ab4"}, []string{"01a22d61-9cc", "01b", "01a22d61-9cd"}},
		{[]string{"01a22d61-9cc0", "01a22d61-9cc0-7"}, []string{"01a22d61-9cc0", "01a22d61-9cc0-"}},
	} {
		short := shortIDs(len(c.ids), func(i int) string { return c.ids[i] })
		var got []string
		for _, id := range c.ids {
			got = append(got, short[id])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.ids, got, c.want)
		}
	}
}
