package main

import (
	"slices"
	"testing"

	"github.com/aircoding/air/runtime/permission"
)

func TestShortIDs(t *testing.T) {
	grants := func(ids ...string) (list []permission.GrantInfo) {
		for _, id := range ids {
			list = append(list, permission.GrantInfo{Grant: permission.Grant{ID: id}})
		}
		return list
	}
	for _, c := range []struct{ ids, want []string }{
		{nil, []string{}},
		{[]string{"01a22d61-9cc0-7ab4"}, []string{"01a22d61"}},
		{[]string{"01a22d61-9cc0-7ab4", "01a22d62-9cc0-7ab4"}, []string{"01a22d61", "01a22d62"}},
		{[]string{"01a22d61-9cc0-7ab4", "01a22d61-9cd0-7ab4", "01b"}, []string{"01a22d61-9cc", "01a22d61-9cd", "01b"}},
		{[]string{"01a22d61-9cc0", "01a22d61-9cc0-7"}, []string{"01a22d61-9cc0", "01a22d61-9cc0-"}},
	} {
		if got := shortIDs(grants(c.ids...)); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.ids, got, c.want)
		}
	}
}
