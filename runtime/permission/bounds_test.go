package permission

import "testing"

func TestBounds(t *testing.T) {
	p := newPlace(t)
	caller := func(read, write bool, scopes Scopes) Caller {
		return Caller{Capability: "x", Permissions: Permissions{Read: read, Write: write}, Scopes: scopes}
	}
	whole := caller(true, true, Scopes{})
	if p.paths.BoundsOf(nil) != nil || p.paths.BoundsOf([]Caller{whole, whole}) != nil {
		t.Error("nobody declared less than the whole project, and there are bounds")
	}
	data := caller(true, true, Scopes{Read: []string{"data", "data/**", "*.md", "[ab]/**"}, Write: []string{"data/out/**"}})
	out := caller(true, true, Scopes{Read: []string{"data/out/**", "main.go"}})
	for _, c := range []struct {
		name              string
		chain             []Caller
		kind              Kind
		path              string
		may, all, reaches bool
	}{
		{"a folder of a pattern", []Caller{data}, Read, "data/a", true, true, true},
		{"its top", []Caller{data}, Read, "data", true, true, true},
		{"the project", []Caller{data}, Read, ".", false, false, true},
		{"a file of a wildcard", []Caller{data}, Read, "README.md", true, false, true},
		{"a class is not seen through", []Caller{data}, Read, "a/x", true, false, true},
		{"what is not in it", []Caller{data}, Read, "src/x", false, false, true},
		{"writing where one reads", []Caller{data}, Overwrite, "data/a", false, false, false},
		{"above what is written", []Caller{data}, Overwrite, "data", false, false, true},
		{"what is written", []Caller{data}, Create, "data/out/x", true, true, true},
		{"a brother", []Caller{data}, Overwrite, "data/outer", false, false, false},
		{"both", []Caller{data, out}, Read, "data/out/x", true, true, true},
		{"the first only", []Caller{data, out}, Read, "data/a", false, false, false},
		{"the second only", []Caller{data, out}, Read, "main.go", false, false, true},
		{"with one that has all", []Caller{whole, out}, Read, "main.go", true, false, true},
		{"without a flag", []Caller{caller(false, true, Scopes{})}, Read, "main.go", false, false, false},
		{"a flag without scope", []Caller{caller(true, false, Scopes{})}, Read, "main.go", true, true, true},
		{"outside of the project", []Caller{caller(true, false, Scopes{})}, Read, p.outside + "/x", false, false, false},
		{"no scope at all", []Caller{caller(true, true, Scopes{Read: []string{}})}, Read, "main.go", false, false, false},
	} {
		b, path := p.paths.BoundsOf(c.chain), p.paths.Root()
		if c.path != "." {
			path = p.abs(c.path)
		}
		if may, all, reaches := b.May(c.kind, path), b.All(c.kind, path), b.Reaches(c.kind, path); may != c.may || all != c.all || reaches != c.reaches {
			t.Errorf("%s, %s(%s): may %v, all %v, reaches %v", c.name, c.kind, c.path, may, all, reaches)
		}
	}
}

func TestDenies(t *testing.T) {
	p := newPlace(t)
	for _, rules := range []string{"", "schema_version: 1\nrules:\n  - ask: read(private/**)\n  - deny: run(rm **)\n"} {
		if p.engine(rules).Denies(nil) != nil {
			t.Errorf("%q denies a path", rules)
		}
	}
	e := p.engine("schema_version: 1\nrules:\n  - deny: read(private/**)\n  - allow: read(private/x)\n  - deny: write(docs/**)\n" +
		"  - deny: delete(keep)\n  - deny: read(csv/**)\n    for: csv\n  - deny: read(old)\n    expires: 2020-01-01\n")
	for _, c := range []struct {
		chain []Caller
		kind  Kind
		path  string
		want  bool
	}{
		{nil, Read, "private", true}, {nil, Read, "private/x", true}, {nil, Overwrite, "private/x", false}, {nil, Read, "privately", false},
		{nil, Create, "docs/new", true}, {nil, Delete, "docs/a", true}, {nil, Read, "docs/a", false},
		{nil, Delete, "keep", true}, {nil, Overwrite, "keep", false},
		{nil, Read, "csv/x", false}, {[]Caller{reader()}, Read, "csv/x", true}, {[]Caller{reader()}, Read, "private/x", true},
		{nil, Read, ".env", false}, {nil, Read, "old", false},
	} {
		if got := e.Denies(c.chain)(c.kind, p.abs(c.path)); got != c.want {
			t.Errorf("%s(%s) to %d capabilities: %v", c.kind, c.path, len(c.chain), got)
		}
	}
}
