package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf16"

	"golang.org/x/term"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/text"
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
		printError(a.stderr, e, a.logged)
	}
	if code, ok := exitCodes[e.Kind]; ok {
		return code
	}
	return 1
}

// explain gives errors of packages that know no kinds one.
func explain(err error) *fault.Error {
	var known *fault.Error
	var o *oci.Error
	if errors.As(err, &known) || !errors.As(err, &o) {
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

// printError writes an error for people. What a guest printed is left out where it is the
// end of logged, which they have seen.
func printError(w io.Writer, e *fault.Error, logged string) {
	fmt.Fprintf(w, "error: %s\n", indented(e.Message))
	hint := e.Hint
	if cause, ok := e.Details["cause"].(*fault.Error); ok {
		if !strings.Contains(e.Message, cause.Message) {
			fmt.Fprintf(w, "cause: %s\n", indented(cause.Message))
		}
		hint = cmp.Or(hint, cause.Hint)
	}
	if log, ok := e.Details["log"].(string); ok && !strings.HasSuffix(logged, strings.TrimSpace(log)) {
		fmt.Fprintf(w, "log: %s\n", indented(strings.TrimSpace(log)))
	}
	if hint != "" {
		fmt.Fprintf(w, "hint: %s\n", indented(hint))
	}
	printDetails(w, e)
}

// toldDetails are those that help whoever reads the error, by what is written before them.
var toldDetails = []struct{ key, title string }{
	{"reasons", "because"}, {"effects", "asked"}, {"diff", "diff"}, {"withheld", "withheld"}, {"still_changed", "still changed"}, {"paths", "paths"},
}

// maxDetail bounds the lines of a detail that are written, and maxDetailBytes their bytes.
const (
	maxDetail      = 20
	maxDetailBytes = 4 << 10
)

// printDetails writes what an error has in lists and in texts of several lines. What its
// message says already is left out.
func printDetails(w io.Writer, e *fault.Error) {
	for _, told := range toldDetails {
		var lines []string
		switch detail := reflect.ValueOf(e.Details[told.key]); detail.Kind() {
		case reflect.String:
			lines = strings.Split(strings.TrimRight(detail.String(), "\n"), "\n")
		case reflect.Slice:
			for i := range detail.Len() {
				lines = append(lines, oneLine(fmt.Sprint(detail.Index(i))))
			}
		}
		if !slices.ContainsFunc(lines, func(line string) bool { return !strings.Contains(e.Message, line) }) {
			continue
		}
		if more := len(lines) - maxDetail; more > 0 {
			lines = append(lines[:maxDetail], counted(more, "more line"))
		}
		fmt.Fprintf(w, "%s:\n  %s\n", told.title, indented(text.Cut(strings.Join(lines, "\n"), maxDetailBytes)))
	}
}

// indented keeps a text from outside from looking like lines of air's own.
func indented(foreign string) string {
	return strings.ReplaceAll(text.Printable(foreign), "\n", "\n  ")
}

// note writes a line for people to stderr.
func (a *app) note(format string, args ...any) {
	if !a.flags.quiet {
		a.warn(format, args...)
	}
}

// warn is note for what a person has to see also with --quiet.
func (a *app) warn(format string, args ...any) {
	fmt.Fprintln(a.stderr, indented(fmt.Sprintf(format, args...)))
}

// oneLine keeps a text from outside from adding lines or columns.
func oneLine(foreign string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(text.Printable(foreign))
}

// print writes v as JSON with -o json, and otherwise what plain writes.
func (a *app) print(v any, plain func(w io.Writer)) error {
	if a.flags.output == "json" {
		return a.printJSON(v)
	}
	var b bytes.Buffer
	plain(&b)
	return a.write(b.Bytes())
}

func (a *app) printJSON(v any) error { return a.encode(v, "  ") }

func (a *app) encode(v any, indent string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return err
	}
	if isTerminal(a.stdout) {
		return a.write(inert(b.Bytes()))
	}
	return a.write(b.Bytes())
}

// inert is a JSON text in which whatever could steer a terminal, or hide, is escaped.
func inert(json []byte) []byte {
	var b bytes.Buffer
	for _, r := range string(json) {
		switch {
		case r == '\n' || r >= ' ' && r <= '~' || text.Visible(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

// write is the command's answer on stdout.
func (a *app) write(answer []byte) error {
	a.printed = true
	if _, err := a.stdout.Write(answer); err != nil {
		return fault.New(fault.Unavailable, "stdout", "writing the answer: %w", err)
	}
	return nil
}

// table writes rows in columns.
func table(w io.Writer, head []string, rows [][]string) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(head, "\t"))
	for _, row := range rows {
		for i := range row {
			row[i] = oneLine(row[i])
		}
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	_ = t.Flush() // into memory
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// isTerminal reports whether f is a terminal.
func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
