package schema

import (
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	maxPattern = 1_000
	// maxProgram bounds what a pattern grows to: (.{0,99}){0,99} is short.
	maxProgram = 10_000
	// patternSteps bounds pattern instructions times bytes matched in one validation.
	// Go's expressions take no longer than their product: about a second for all of it.
	patternSteps = 300_000_000
)

// budget is what the patterns of one schema may still do in this validation. When it
// is used up they match nothing more and Validate fails, whatever the schema says.
type budget struct{ left int64 }

func (b *budget) compile(text string) (jsonschema.Regexp, error) {
	if len(text) > maxPattern {
		return nil, fmt.Errorf("pattern has %d bytes, the limit is %d", len(text), maxPattern)
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	if len(program.Inst) > maxProgram {
		return nil, fmt.Errorf("pattern grows to %d instructions, the limit is %d", len(program.Inst), maxProgram)
	}
	compiled, err := regexp.Compile(text)
	return &pattern{compiled, int64(len(program.Inst)), b}, err
}

type pattern struct {
	*regexp.Regexp
	instructions int64
	budget       *budget
}

func (p *pattern) MatchString(text string) bool {
	p.budget.left -= p.instructions * int64(len(text)+1)
	return p.budget.left >= 0 && p.Regexp.MatchString(text)
}
