// Package lazyregexp compiles regular expressions when they are first used. Every
// worker process is this program again and pays for what it initialises: a bounded
// repetition such as {0,255} compiles to hundreds of instructions.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is an expression that may not have been compiled yet.
type Regexp struct{ compiled func() *regexp.Regexp }

// New returns the expression, which has to be valid.
func New(expression string) *Regexp {
	return &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })}
}

// MatchString reports whether the text contains a match.
func (r *Regexp) MatchString(text string) bool { return r.compiled().MatchString(text) }

// FindStringIndex returns where the first match begins and ends, nil where there is none.
func (r *Regexp) FindStringIndex(text string) []int { return r.compiled().FindStringIndex(text) }

// FindStringSubmatch returns the first match and its groups, nil where there is none.
func (r *Regexp) FindStringSubmatch(text string) []string {
	return r.compiled().FindStringSubmatch(text)
}
