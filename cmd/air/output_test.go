package main

import "testing"

func TestInertJSON(t *testing.T) {
	for given, want := range map[string]string{
		"{\n  \"a\": \"é \U0001f600\"\n}": "{\n  \"a\": \"é \U0001f600\"\n}",
		"\"\x7f\u009b2J\u202e\u200b\"":    `"\u007f\u009b2J\u202e\u200b"`,
		"\"\U000e0041\"":                  `"\udb40\udc41"`, // a tag character, beyond the first plane
	} {
		if got := string(inert([]byte(given))); got != want {
			t.Errorf("%q: got %q, want %q", given, got, want)
		}
	}
}
