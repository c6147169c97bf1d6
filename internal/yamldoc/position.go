package yamldoc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// position is where a value, or the key before it, ends in the text.
type position struct {
	pointer string
	offset  int64
}

// LinesOf maps the places of a JSON document to their lines: a value counts where its
// key stands, and a key that is there twice where it stands again. With an error it
// returns what it found before.
func LinesOf(doc []byte) (Lines, error) {
	if len(doc) > maxJSON {
		return nil, &Error{Reason: fmt.Sprintf("document has %d bytes, the limit is %d", len(doc), maxJSON)}
	}
	found, err := positions(doc)
	lines, line, last := Lines{}, 1, int64(0)
	for _, p := range found {
		line += bytes.Count(doc[last:p.offset], []byte("\n"))
		lines[p.pointer], last = line, p.offset
	}
	return lines, err
}

// positions lists the values of a document, in order.
func positions(doc []byte) ([]position, error) {
	f := finder{dec: json.NewDecoder(bytes.NewReader(doc))}
	f.dec.UseNumber()
	err := f.value("", false)
	return f.found, err
}

type finder struct {
	dec      *json.Decoder
	found    []position
	pointers int
}

func (f *finder) value(at string, noted bool) error {
	t, err := f.dec.Token()
	if err != nil {
		return &Error{Reason: err.Error()}
	}
	if !noted {
		if err := f.note(at); err != nil {
			return err
		}
	}
	switch t {
	case json.Delim('{'):
		err = f.object(at)
	case json.Delim('['):
		err = f.array(at)
	default:
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.dec.Token()
	return err
}

func (f *finder) object(at string) error {
	for f.dec.More() {
		key, err := f.dec.Token()
		if err != nil {
			return &Error{Reason: err.Error()}
		}
		here := child(at, key.(string))
		if err := f.note(here); err != nil {
			return err
		}
		if err := f.value(here, true); err != nil {
			return err
		}
	}
	return nil
}

func (f *finder) array(at string) error {
	for i := 0; f.dec.More(); i++ {
		if err := f.value(at+"/"+strconv.Itoa(i), false); err != nil {
			return err
		}
	}
	return nil
}

func (f *finder) note(at string) error {
	if f.pointers += len(at); f.pointers > maxPointers {
		return errLongKeys()
	}
	f.found = append(f.found, position{at, f.dec.InputOffset()})
	return nil
}
