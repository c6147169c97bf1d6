package capabilities

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/aircoding/air/internal/yamldoc"
)

// lineIndex finds the lines of places in a document, after it was refused.
type lineIndex func(pointers map[string]int) // fills in the lines it knows

func noLines(map[string]int) {}

// yamlLines looks places up that yamldoc has noted in the front matter, which begins
// after the first line of its file.
func yamlLines(lines yamldoc.Lines) lineIndex {
	return func(pointers map[string]int) {
		for at := range pointers {
			if line := lines[at]; line > 0 {
				pointers[at] = line + 1
			}
		}
	}
}

// jsonLines reads a document once more, to where it is broken at the latest.
func jsonLines(doc []byte) lineIndex {
	return func(pointers map[string]int) {
		f := lineFinder{doc: doc, dec: json.NewDecoder(bytes.NewReader(doc)), line: 1, wanted: pointers}
		f.dec.UseNumber()
		f.value("")
	}
}

type lineFinder struct {
	doc    []byte
	dec    *json.Decoder
	offset int64 // up to where lines were counted
	line   int
	wanted map[string]int
	broken bool
}

func (f *lineFinder) value(at string) {
	t := f.token()
	f.note(at)
	switch t {
	case json.Delim('{'):
		for f.more() {
			key, _ := f.token().(string)
			f.note(child(at, key))
			f.value(child(at, key))
		}
		f.token()
	case json.Delim('['):
		for i := 0; f.more(); i++ {
			f.value(at + "/" + strconv.Itoa(i))
		}
		f.token()
	}
}

func (f *lineFinder) more() bool { return !f.broken && f.dec.More() }

// token reads one token and moves the line to where it ends.
func (f *lineFinder) token() json.Token {
	t, err := f.dec.Token()
	if err != nil {
		f.broken = true
		return nil
	}
	next := f.dec.InputOffset()
	f.line += bytes.Count(f.doc[f.offset:next], []byte("\n"))
	f.offset = next
	return t
}

// note keeps the first line of a wanted place: that of a value's key, or of its start.
func (f *lineFinder) note(at string) {
	if line, wanted := f.wanted[at]; wanted && line == 0 && !f.broken {
		f.wanted[at] = f.line
	}
}
