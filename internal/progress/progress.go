// Package progress draws bars of long transfers on a terminal, and nothing elsewhere.
package progress

import (
	"io"
	"os"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

const (
	titleWidth = 28
	rowWidth   = 80
)

// Display is a group of bars below each other. A nil Display draws nothing.
type Display struct{ bars *mpb.Progress }

// New returns a display on f, or nil when f is no terminal.
func New(f *os.File) *Display {
	if !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return newDisplay(f)
}

func newDisplay(w io.Writer, options ...mpb.ContainerOption) *Display {
	return &Display{mpb.New(append(options, mpb.WithOutput(w), mpb.WithWidth(rowWidth))...)}
}

// Bar adds the bar of one transfer.
func (d *Display) Bar(total int64, title string) *Bar {
	if d == nil {
		return nil
	}
	bar := d.bars.New(total, mpb.BarStyle(),
		mpb.PrependDecorators(decor.Name(shorten(title), decor.WC{W: titleWidth + 1, C: decor.DindentRight})),
		mpb.AppendDecorators(decor.CountersKibiByte("% .1f / % .1f")))
	return &Bar{bar}
}

// Close waits until all bars are closed and their last state is drawn.
func (d *Display) Close() {
	if d != nil {
		d.bars.Wait()
	}
}

// Bar is one transfer. A nil Bar draws nothing.
type Bar struct{ bar *mpb.Bar }

// Set tells how many bytes are done.
func (b *Bar) Set(done int64) {
	if b != nil {
		b.bar.SetCurrent(done)
	}
}

// Close ends the bar; one that is not full disappears.
func (b *Bar) Close() {
	if b != nil && !b.bar.Completed() {
		b.bar.Abort(true)
	}
}

func shorten(title string) string {
	runes := []rune(title)
	if len(runes) <= titleWidth {
		return title
	}
	return "…" + string(runes[len(runes)-titleWidth+1:])
}
