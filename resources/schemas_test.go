package resources

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestSharedDefinitions: each schema stands alone for editors, and says the same as the
// others of what they have in common.
func TestSharedDefinitions(t *testing.T) {
	defs := map[string]any{}
	found := map[string]int{}
	for _, kind := range []string{"capability", "capabilities", "capability-lock"} {
		text, err := Schema(kind)
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Defs map[string]any `json:"$defs"`
		}
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		for name, def := range doc.Defs {
			if found[name]++; found[name] > 1 && !reflect.DeepEqual(def, defs[name]) {
				t.Errorf("%s: $defs.%s is another than elsewhere", kind, name)
			}
			defs[name] = def
		}
	}
	if found["permissions"] != 3 {
		t.Errorf("the definitions are %v", found)
	}
}
