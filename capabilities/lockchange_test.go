package capabilities

import (
	"slices"
	"testing"
)

// TestLosses: what somebody on another machine pinned is not lost unnoticed.
func TestLosses(t *testing.T) {
	const acme, other = "sha256:aa", "sha256:bb"
	lock := func(entries map[string]Locked) Lock { return Lock{1, entries} }
	was := lock(map[string]Locked{"a": {Version: "1.2.0", Digest: "x", Signer: acme}, "b": {Version: "2.0.0"}})
	for name, c := range map[string]struct {
		next map[string]Locked
		want []string
	}{
		"the same":      {was.Capabilities, nil},
		"one more":      {map[string]Locked{"a": was.Capabilities["a"], "b": was.Capabilities["b"], "c": {}}, nil},
		"higher":        {map[string]Locked{"a": {Version: "1.10.0", Digest: "y", Signer: acme}, "b": {Version: "2.0.0"}}, nil},
		"gone":          {map[string]Locked{"a": was.Capabilities["a"]}, []string{"b 2.0.0 is no longer pinned, for it is not enabled here"}},
		"lower":         {map[string]Locked{"a": {Version: "1.1.9", Signer: acme}, "b": {Version: "2.0.0"}}, []string{"a goes back from 1.2.0 to 1.1.9"}},
		"unsigned":      {map[string]Locked{"a": {Version: "1.2.0"}, "b": {Version: "2.0.0"}}, []string{"a was pinned as signed by sha256:aa, and is now by nobody whom you trust"}},
		"another's key": {map[string]Locked{"a": {Version: "1.2.0", Signer: other}, "b": {Version: "2.0.0"}}, []string{"a was pinned as signed by sha256:aa, and is now by sha256:bb"}},
	} {
		if got := was.Losses(lock(c.next)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
