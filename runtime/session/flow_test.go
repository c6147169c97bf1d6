package session

import (
	"reflect"
	"slices"
	"testing"
)

func TestCredentials(t *testing.T) {
	dir := t.TempDir()
	s := current(t, dir, Options{})
	note := func(target string, chain ...string) {
		t.Helper()
		for range 2 { // again changes nothing
			if err := s.NoteCredentials(ctx, chain, target); err != nil {
				t.Fatal(err)
			}
		}
	}
	noted := func(s *Session, chain ...string) []string {
		t.Helper()
		all, err := s.Credentials(ctx, chain)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if got := noted(s); len(got) > 0 {
		t.Errorf("a new session used %v", got)
	}
	note("/home/p/.ssh/id", "a")
	note("secret(TOKEN)", "a", "b")
	other := current(t, dir, Options{}) // as another process
	for _, c := range []struct{ chain, want []string }{
		{nil, nil},
		{[]string{"a"}, []string{"/home/p/.ssh/id"}},
		{[]string{"a", "b"}, []string{"/home/p/.ssh/id", "secret(TOKEN)"}},
		{[]string{"a", "b", "c"}, []string{"/home/p/.ssh/id", "secret(TOKEN)"}},
		{[]string{"a", "c"}, []string{"/home/p/.ssh/id"}},
		{[]string{"b"}, nil},
		{[]string{"b", "a"}, nil},
		{[]string{"ab"}, nil},
	} {
		if got := noted(other, c.chain...); !slices.Equal(got, c.want) {
			t.Errorf("%v: got %v, want %v", c.chain, got, c.want)
		}
	}
	note("/home/p/.netrc")
	if got, want := noted(other, "b"), []string{"/home/p/.netrc"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	all, err := s.AllCredentials(ctx)
	want := []Noted{{[]string{}, "/home/p/.netrc"}, {[]string{"a"}, "/home/p/.ssh/id"}, {[]string{"a", "b"}, "secret(TOKEN)"}}
	if err != nil || !reflect.DeepEqual(all, want) {
		t.Errorf("got %v, want %v: %v", all, want, err)
	}
	p, h := layout(dir)
	next, err := New(ctx, p, h, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if got := noted(next, "a", "b"); len(got) > 0 {
		t.Errorf("the next session used %v", got)
	}
}
