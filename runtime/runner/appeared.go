package runner

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/aircoding/air/internal/fault"
)

// withheldMark is what the name of something gets that was made by a command and that others
// would obey; the run's id follows. In a folder with such a name commands see nothing, unless
// it was decided about by that name.
const withheldMark = ".withheld-"

func isWithheld(name string) bool { return strings.Contains(name, withheldMark) }

// maxNamed bounds how many names an error has.
const maxNamed = 10

// outcome is what came of looking for what a run made.
type outcome struct {
	renamed  []string
	stuck    []string // what should have been renamed, and could not be; absolute after add
	accepted []string // what is guarded, and git made while it ran alone; absolute
	err      error    // of places that could not be looked at, or of renaming
}

// add adds what came of it in the folder root.
func (o *outcome) add(root string, more outcome) {
	for _, rel := range more.stuck {
		o.stuck = append(o.stuck, filepath.Join(root, rel))
	}
	o.renamed, o.accepted = append(o.renamed, more.renamed...), append(o.accepted, more.accepted...)
	o.err = errors.Join(o.err, more.err)
}

// fault is the error that says what was made by whom, nil for nothing.
func (o outcome) fault(who, id string) error {
	var said []string
	if len(o.renamed) > 0 {
		said = append(said, fmt.Sprintf("%s was renamed to end in %s%s", shown(o.renamed), withheldMark, id))
	}
	if len(o.stuck) > 0 {
		said = append(said, fmt.Sprintf("%s could not be renamed, and no command runs while it is there", shown(o.stuck)))
	}
	if len(said) == 0 {
		return o.err
	}
	err := fault.New(fault.PermissionDenied, "protected_created",
		"%s made what nobody decided about and other programs would obey: %s", who, strings.Join(said, "; ")).
		With("withheld", o.renamed).
		WithHint("do not work around this; name the path in a command of its own, such as mkdir or a redirection, and a person is asked; what a person made meanwhile is brought back by mv NAME%s%s NAME", withheldMark, id)
	if len(o.stuck) > 0 {
		err = err.With("stuck", o.stuck)
	}
	return errors.Join(err, o.err)
}

func shown(names []string) string {
	if len(names) > maxNamed {
		names = append(names[:maxNamed:maxNamed], "and more")
	}
	return strings.Join(names, ", ")
}
