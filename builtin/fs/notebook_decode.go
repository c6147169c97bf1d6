package fs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

var errForm = errors.New("another form than that of a notebook")

// each has every element of a JSON array, or every key of an object, read by next.
func each(raw []byte, open json.Delim, next func(*json.Decoder) error) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	token, err := d.Token()
	if err != nil || token == nil {
		return err
	}
	if token != open {
		return errForm
	}
	for d.More() {
		if err := next(d); err != nil {
			return err
		}
	}
	return nil
}

func (all *cells) UnmarshalJSON(raw []byte) error {
	return each(raw, '[', func(d *json.Decoder) error {
		var c cell
		if err := d.Decode(&c); err != nil {
			return err
		}
		fmt.Fprintf(&all.shown, "[cell %d: %s%s]\n", all.count, c.Type, c.counted())
		line(&all.shown, string(c.Source))
		all.shown.WriteString(c.Outputs.String())
		all.count++
		return nil
	})
}

func (all *outputs) UnmarshalJSON(raw []byte) error {
	return each(raw, '[', func(d *json.Decoder) error {
		var o cellOutput
		if err := d.Decode(&o); err != nil {
			return err
		}
		o.render(&all.Builder)
		return nil
	})
}

func (b *bundle) UnmarshalJSON(raw []byte) error {
	*b = bundle{}
	return each(raw, '{', func(d *json.Decoder) error {
		media, err := d.Token()
		if err != nil {
			return err
		}
		var data json.RawMessage
		if err := d.Decode(&data); err != nil {
			return err
		}
		if len(*b) < maxMediaTypes {
			(*b)[media.(string)] = data
		}
		return nil
	})
}

func (p *pieces) UnmarshalJSON(raw []byte) (err error) {
	if raw[0] == '"' {
		return json.Unmarshal(raw, (*string)(p))
	}
	*p, err = joinedStrings[pieces](raw, "")
	return err
}

func (t *trace) UnmarshalJSON(raw []byte) (err error) {
	*t, err = joinedStrings[trace](raw, "\n")
	return err
}

func joinedStrings[T ~string](raw []byte, between string) (T, error) {
	var b strings.Builder
	err := each(raw, '[', func(d *json.Decoder) error {
		token, err := d.Token()
		if err != nil {
			return err
		}
		piece, ok := token.(string)
		if !ok {
			return errForm
		}
		if b.Len() > 0 {
			b.WriteString(between)
		}
		b.WriteString(piece)
		return nil
	})
	return T(b.String()), err
}
