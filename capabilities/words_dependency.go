package capabilities

import (
	"fmt"
	"strings"

	"github.com/aircoding/air/internal/text"
)

// dependencyWords says what each dependency is and, where that was checked, what this
// machine has of it.
func dependencyWords(list []Dependency, verdicts []Verdict) []string {
	var out []string
	for _, d := range list {
		out = append(out, verdictWords(d.DependencyID, verdicts)+": "+dependencyWord(d))
	}
	return out
}

func dependencyWord(d Dependency) string {
	need := "optional"
	if d.Required {
		need = "required"
	}
	words := fmt.Sprintf("%s (%s, %s)", text.Line(d.Detector, 160), strings.ReplaceAll(text.Line(d.Kind, 32), "_", " "), need)
	if d.Installer != nil && len(d.Installer.Commands) > 0 {
		words += fmt.Sprintf(", its manifest would have it installed by %q", scoped(d.Installer.Commands))
	}
	if notes := text.Line(d.PermissionNotes, 200); notes != "" {
		words += fmt.Sprintf(", says: %q", notes)
	}
	return words
}

// verdictWords is what was found of one dependency.
func verdictWords(id string, verdicts []Verdict) string {
	for _, v := range verdicts {
		if v.DependencyID != id {
			continue
		}
		words := string(v.State)
		if detail := text.Line(v.Detail, 200); detail != "" {
			words += " (" + detail + ")"
		}
		if v.State != Present && len(v.Install) > 0 {
			words += " (air doctor --fix would run: " + text.Line(strings.Join(v.Install, "; "), 200) + ")"
		}
		if v.State != Present && v.Disallowed != "" {
			words += " (never installed by air: " + text.Line(v.Disallowed, 200) + ")"
		}
		return words
	}
	return "not checked"
}
