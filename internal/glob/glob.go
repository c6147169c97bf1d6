// Package glob matches slash-separated paths against patterns that come from outside,
// at a bounded cost. It is the door to doublestar.
package glob

import (
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

const (
	maxBytes = 1024
	// maxAlternatives bounds what the braces of a pattern multiply to: doublestar
	// tries every combination, so that thirty pairs of braces would take for ever.
	maxAlternatives = 64
)

// Pattern is a checked pattern: * and ? within a name, ** for any folders, [a-z] and
// {a,b}.
type Pattern struct {
	text     string
	nameOnly bool
}

// Compile checks a pattern.
func Compile(text string) (*Pattern, error) {
	switch {
	case len(text) > maxBytes:
		return nil, fmt.Errorf("glob of %d bytes, the limit is %d", len(text), maxBytes)
	case !doublestar.ValidatePattern(text):
		return nil, fmt.Errorf("glob %.80q is malformed", text)
	case alternatives(text) > maxAlternatives:
		return nil, fmt.Errorf("glob %.80q: its braces stand for more than %d patterns", text, maxAlternatives)
	}
	return &Pattern{text: text, nameOnly: !strings.Contains(text, "/")}, nil
}

// Match reports whether the whole path matches.
func (p *Pattern) Match(path string) bool { return doublestar.MatchUnvalidated(p.text, path) }

// MatchName is Match, but that a pattern without a slash is held against the last name
// of the path alone, so that "*.go" finds files at any depth.
func (p *Pattern) MatchName(path string) bool {
	if p.nameOnly {
		path = path[strings.LastIndexByte(path, '/')+1:]
	}
	return p.Match(path)
}

// alternatives is how many patterns without braces a pattern stands for, or more than
// maxAlternatives. Within a pair of braces the branches add up, one behind the other
// they multiply.
func alternatives(text string) int {
	levels := []level{{product: 1}}
	for i := 0; i < len(text); i++ {
		top := &levels[len(levels)-1]
		switch text[i] {
		case '\\':
			i++
		case '{':
			levels = append(levels, level{product: 1})
		case ',':
			top.next()
		case '}':
			if len(levels) == 1 {
				continue
			}
			top.next()
			inner := top.sum
			levels = levels[:len(levels)-1]
			levels[len(levels)-1].times(inner)
		}
	}
	return levels[0].product
}

type level struct{ sum, product int }

func (l *level) next() {
	l.sum, l.product = min(l.sum+l.product, maxAlternatives+1), 1
}

func (l *level) times(n int) { l.product = min(l.product*n, maxAlternatives+1) }
