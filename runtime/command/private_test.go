package command

import (
	"slices"
	"strings"
	"testing"

	"github.com/aircoding/air/runtime/permission"
)

// What a run does in a folder of its own is no effect; what may lead out of it is one.
func TestPrivate(t *testing.T) {
	at := Place{Dir: "/p", Root: "/p", Home: "/home/me", Private: []string{"/tmp"}}
	for text, want := range map[string]string{
		"echo x > /tmp/y; cat /tmp/y":          "",
		"cp -r src /tmp/new; rm -rf /tmp//old": "read(/p/src)",
		"sort main.go > /tmp/./a/b":            "read(/p/main.go)",
		"cat /tmp/../etc/passwd":               "read(/tmp/../etc/passwd)",
		"cat /tmpfile /var/tmp/x":              "read(/tmpfile) read(/var/tmp/x)",
		"rm -rf /tmp/*":                        "",
		"mv /tmp/a b":                          "write(/p/b)",
		"ln -s /etc/hosts /tmp/h; cat /tmp/h":  "read(/etc/hosts)",
	} {
		effects, err := Analyse(text, at)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range effects {
			if e.Kind.IsPath() {
				got = append(got, string(e.Kind)+"("+e.Target+")")
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
	effects, err := Analyse("bash /tmp/x.sh", at)
	if err != nil || len(effects) != 1 || effects[0].Risk != permission.RiskOpaque || effects[0].Script != "" {
		t.Errorf("a script of nobody's: %+v, %v", effects, err)
	}
}
