package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"unicode"

	"golang.org/x/term"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/oci"
)

// exitCodes are the documented codes by kind; every other kind is 1.
var exitCodes = map[fault.Kind]int{
	fault.InvalidInput:     2,
	fault.PermissionDenied: 3,
	fault.ApprovalRequired: 3,
	fault.Cancelled:        4,
	fault.Timeout:          5,
}

// shownError is an error that the command's answer already holds.
type shownError struct{ cause *fault.Error }

func (e *shownError) Error() string { return e.cause.Message }
func (e *shownError) Unwrap() error { return e.cause }

// fail reports err and returns the exit code.
func (a *app) fail(err error) int {
	e := explain(err)
	var shown *shownError
	switch {
	case errors.As(err, &shown):
	case a.flags.output == "json" && !a.printed:
		_ = a.printJSON(map[string]any{"ok": false, "error": e}) // where stdout is gone the code still tells
	default:
		printError(a.stderr, e)
	}
	if code, ok := exitCodes[e.Kind]; ok {
		return code
	}
	return 1
}

// explain gives errors of packages that know no kinds one.
func explain(err error) *fault.Error {
	var o *oci.Error
	if !errors.As(err, &o) {
		return fault.From(err)
	}
	kind, retryable := registryKind(o.Kind)
	e := fault.New(kind, "registry_"+string(o.Kind), "%w", err)
	e.Hint, e.Retryable = o.Hint, retryable
	return e
}

// registryKind is the kind of an error of the oci package, and whether trying again
// may help.
func registryKind(k oci.Kind) (kind fault.Kind, retryable bool) {
	switch k {
	case oci.KindNotFound:
		return fault.NotFound, false
	case oci.KindIntegrity:
		return fault.Integrity, false
	case oci.KindConflict:
		return fault.Conflict, false
	case oci.KindInvalid:
		return fault.InvalidInput, false
	case oci.KindTooLarge, oci.KindDiskFull:
		return fault.ResourceExhausted, false
	case oci.KindCancelled:
		return fault.Cancelled, false
	case oci.KindTimeout:
		return fault.Timeout, true
	case oci.KindRateLimited, oci.KindUnreachable:
		return fault.Unavailable, true
	}
	return fault.Unavailable, false // unauthorized, no registry, trouble with a local file
}

func printError(w io.Writer, e *fault.Error) {
	fmt.Fprintf(w, "error: %s\n", printable(e.Message))
	hint := e.Hint
	if cause, ok := e.Details["cause"].(*fault.Error); ok {
		if !strings.Contains(e.Message, cause.Message) {
			fmt.Fprintf(w, "cause: %s\n", printable(cause.Message))
		}
		hint = cmp.Or(hint, cause.Hint)
	}
	if hint != "" {
		fmt.Fprintf(w, "hint: %s\n", printable(hint))
	}
}

// printable keeps text from outside from steering the terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// print writes v as JSON with -o json, and otherwise what text writes.
func (a *app) print(v any, text func(w io.Writer)) error {
	if a.flags.output == "json" {
		return a.printJSON(v)
	}
	a.printed = true
	text(a.stdout)
	return nil
}

func (a *app) printJSON(v any) error {
	a.printed = true
	e := json.NewEncoder(a.stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// table writes rows in columns.
func table(w io.Writer, head []string, rows [][]string) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(head, "\t"))
	for _, row := range rows {
		for i := range row {
			row[i] = strings.NewReplacer("\n", " ", "\t", " ").Replace(printable(row[i]))
		}
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	_ = t.Flush() // a broken pipe is the reader's choice
}

// isTerminal reports whether f is a terminal.
func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
