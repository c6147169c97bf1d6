package schema

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/text"
)

const (
	maxLines    = 5
	maxQuote    = 80 // bytes of the document in one line
	maxLine     = 300
	maxMistakes = 1_000
)

// explain turns the library's tree of mistakes into a few lines, always in the same order.
func explain(err error) error {
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return err
	}
	lines := collect(invalid, nil)
	slices.Sort(lines)
	lines = slices.Compact(lines)
	if len(lines) > maxLines {
		lines = append(lines[:maxLines], fmt.Sprintf("and %d more", len(lines)-maxLines))
	}
	return errors.New(strings.Join(lines, "\n"))
}

func collect(e *jsonschema.ValidationError, lines []string) []string {
	_, names := e.ErrorKind.(*kind.PropertyNames)
	if len(e.Causes) == 0 || names {
		return append(lines, line(e))
	}
	for _, cause := range e.Causes {
		if len(lines) >= maxMistakes {
			break
		}
		lines = collect(cause, lines)
	}
	return lines
}

func line(e *jsonschema.ValidationError) string {
	var at strings.Builder
	for _, token := range e.InstanceLocation {
		at.WriteString("/" + canon.EscapePointer(token))
	}
	return text.Cut(text.Cut(name(quoteless(at.String())), maxQuote)+": "+reason(e), maxLine)
}

// reason is in our own words where the library's would quote the document.
func reason(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *kind.Format:
		return fmt.Sprintf("no valid %s: %s", k.Want, quoteless(k.Err.Error()))
	case *kind.Pattern:
		return fmt.Sprintf("%s does not match the pattern %s", quote(k.Got), strconv.Quote(k.Want))
	case *kind.AdditionalProperties:
		return fmt.Sprintf("unknown property %s", quote(slices.Min(k.Properties)))
	case *kind.PropertyNames:
		why := e
		for len(why.Causes) > 0 {
			why = why.Causes[0]
		}
		return fmt.Sprintf("the name %s: %s", quote(k.Property), reason(why))
	case *kind.FalseSchema:
		return "nothing is allowed here"
	case *kind.Minimum:
		return "must be at least " + number(k.Want)
	case *kind.ExclusiveMinimum:
		return "must be more than " + number(k.Want)
	case *kind.Maximum:
		return "must be at most " + number(k.Want)
	case *kind.ExclusiveMaximum:
		return "must be less than " + number(k.Want)
	case *kind.MultipleOf:
		return "must be a multiple of " + number(k.Want)
	}
	return quoteless(e.ErrorKind.LocalizedString(message.NewPrinter(language.English)))
}

func number(n *big.Rat) string {
	if n.IsInt() {
		return n.Num().String()
	}
	f, _ := n.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func name(at string) string {
	if at == "" {
		return "document"
	}
	return at
}

// quote shows a piece of the document, cut and with nothing that steers a terminal.
func quote(piece string) string { return strconv.Quote(text.Cut(piece, maxQuote)) }

func quoteless(piece string) string {
	q := strconv.Quote(text.Head(piece, 4*maxLine))
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}
