package yamldoc

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// position is where a value, or the key before it, ends in the text.
type position struct {
	pointer string
	offset  int64
}

// positions lists the values of a document that canon.Check has passed, in order.
func positions(doc []byte) ([]position, error) {
	f := finder{dec: json.NewDecoder(bytes.NewReader(doc))}
	f.dec.UseNumber()
	err := f.value("", false)
	return f.found, err
}

// pointerAt returns the value that decoding had reached at an offset.
func pointerAt(doc []byte, offset int64) string {
	found, err := positions(doc)
	if err != nil {
		return ""
	}
	at := ""
	for _, p := range found {
		if p.offset > offset {
			break
		}
		at = p.pointer
	}
	return at
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
