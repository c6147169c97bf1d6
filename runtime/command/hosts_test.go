package command

import (
	"testing"

	"github.com/aircoding/air/runtime/permission"
)

// A worse risk does not hide that a command needs hosts: after the use of a credential
// that is what counts.
func TestHostsBehindAWorseRisk(t *testing.T) {
	for text, needs := range map[string]bool{
		"git push": true, "git push --force": true, "git push origin :gone": true, "git fetch": true,
		"npm publish": true, "docker push x/y": true, "gh pr create": true, "kubectl apply -f x.yaml": true, "ssh host ls": true, "sudo curl x": true,
		"git reset --hard": false, "rm -rf build": false, "go build ./...": false, "ls": false,
	} {
		effects, err := Analyse(text, Place{Dir: "/p", Root: "/p", Home: "/h"})
		if err != nil {
			t.Fatal(err)
		}
		uses := false
		for _, e := range effects {
			uses = uses || e.Kind == permission.Run && e.UsesNetwork()
		}
		if uses != needs {
			t.Errorf("%s: for the network %v", text, uses)
		}
	}
}
