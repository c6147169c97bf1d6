package main

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	in := "ok\nratio a/b 0.500\nratio c/d 1.200\nratio c/d 1.300\nratio odd\nratio e/f x\n"
	var out strings.Builder
	values, err := pass(strings.NewReader(in), &out)
	if err != nil || out.String() != in {
		t.Fatalf("passed %q, %v", out.String(), err)
	}
	out.Reset()
	err = write(&out, []target{atMost("a/b", 0.5), atLeast("c/d", 1.7), atMost("e/f", 1)}, values)
	want := `
NAME  VALUE  TARGET    MET
a/b   0.500  <= 0.500  yes
c/d   1.300  >= 1.700  no
e/f   -      <= 1.000  not measured
`
	if err != nil || out.String() != want {
		t.Errorf("got %s, %v", out.String(), err)
	}
}

func TestTargetsHaveOneName(t *testing.T) {
	seen := map[string]bool{}
	for _, x := range targets() {
		if seen[x.name] {
			t.Errorf("%s is there twice", x.name)
		}
		seen[x.name] = true
	}
}
