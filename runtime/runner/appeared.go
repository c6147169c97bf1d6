package runner

import (
	"strings"

	"github.com/aircoding/air/internal/fault"
)

// withheldMark is what the name of something gets that was made by a command and that others
// would obey; the run's id follows.
const withheldMark = ".withheld-"

// maxNamed bounds how many names an error has.
const maxNamed = 10

// created is the error of what was withheld, nil for nothing.
func created(names []string) error {
	if len(names) == 0 {
		return nil
	}
	shown := names
	if len(shown) > maxNamed {
		shown = append(shown[:maxNamed:maxNamed], "and more")
	}
	return fault.New(fault.PermissionDenied, "protected_created",
		"the command made %s, which nobody decided about and other programs would obey: it was renamed to end in %s and the id of this run",
		strings.Join(shown, ", "), withheldMark).
		With("withheld", names).
		WithHint("do not work around this; name the path in a command of its own, such as mkdir or a redirection, and a person is asked")
}
