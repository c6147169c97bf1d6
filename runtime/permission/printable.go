package permission

import (
	"fmt"

	"github.com/aircoding/air/internal/text"
)

// Printable is a text as questions, errors and rules show it, see text.Escape.
func Printable(s string) string { return text.Escape(s) }

// shorten cuts the middle out of a long text, so that both ends stay on the screen.
func shorten(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	half := limit / 2
	return fmt.Sprintf("%s … (%d characters left out) … %s", string(runes[:half]), len(runes)-2*half, string(runes[len(runes)-half:]))
}
