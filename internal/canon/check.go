package canon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aircoding/air/internal/text"
)

// Limits bound one JSON document. A zero field means the documented default.
type Limits struct {
	Bytes  int64 // default 16 MiB
	Depth  int   // default 64 levels
	Values int   // default 1,000,000 values
	// Strict also refuses what documents of AIR's own never carry: the keys __proto__,
	// prototype and constructor, and integers from 2^53 on, where two that differ can
	// have one canonical form.
	Strict bool
}

const (
	maxExponent    = 400
	maxNumberBytes = 512
	maxSafeInteger = 1 << 53
)

// Check refuses a document that is not one JSON value within the limits, or in which
// an object has a key twice. The error names a JSON pointer.
func Check(doc []byte, l Limits) error {
	_, err := Count(doc, l)
	return err
}

// Count is Check that also returns how many values the document has.
func Count(doc []byte, l Limits) (values int, err error) {
	l = l.withDefaults()
	if int64(len(doc)) > l.Bytes {
		return 0, fmt.Errorf("document has %d bytes, the limit is %d", len(doc), l.Bytes)
	}
	if !utf8.Valid(doc) {
		return 0, fmt.Errorf("document is not UTF-8")
	}
	if err := checkShape(doc, l.Depth); err != nil {
		return 0, err
	}
	c := checker{dec: json.NewDecoder(bytes.NewReader(doc)), limits: l}
	c.dec.UseNumber()
	if err := c.value(); err != nil {
		return 0, fmt.Errorf("%s: %w", c.pointer(), err)
	}
	if _, err := c.dec.Token(); !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("more than one JSON value")
	}
	return c.values, nil
}

func (l Limits) withDefaults() Limits {
	if l.Bytes == 0 {
		l.Bytes = 16 << 20
	}
	if l.Depth == 0 {
		l.Depth = 64
	}
	if l.Values == 0 {
		l.Values = 1_000_000
	}
	return l
}

type checker struct {
	dec    *json.Decoder
	limits Limits
	values int
	path   []string // kept in pieces: joined for each value it could cost the square of the document
}

func (c *checker) value() error {
	t, err := c.token()
	if err != nil {
		return err
	}
	if c.values++; c.values > c.limits.Values {
		return fmt.Errorf("more than %d values", c.limits.Values)
	}
	switch t := t.(type) {
	case json.Number:
		return c.number(string(t))
	case json.Delim:
		if t == '{' {
			err = c.object()
		} else {
			err = c.array()
		}
		if err != nil {
			return err
		}
		_, err = c.token()
	}
	return err
}

func (c *checker) token() (json.Token, error) {
	t, err := c.dec.Token()
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("unexpected end of JSON")
	}
	return t, err
}

func (c *checker) object() error {
	var seen map[string]bool
	for c.dec.More() {
		t, err := c.token()
		if err != nil {
			return err
		}
		key := t.(string)
		c.path = append(c.path, key)
		if c.limits.Strict && (key == "__proto__" || key == "prototype" || key == "constructor") {
			return fmt.Errorf("the key %q is refused", key)
		}
		if seen[key] { // one reader would take the first, another the last
			return fmt.Errorf("duplicate key")
		}
		if seen == nil {
			seen = map[string]bool{}
		}
		seen[key] = true
		if err := c.value(); err != nil {
			return err
		}
		c.path = c.path[:len(c.path)-1]
	}
	return nil
}

func (c *checker) array() error {
	for i := 0; c.dec.More(); i++ {
		c.path = append(c.path, strconv.Itoa(i))
		if err := c.value(); err != nil {
			return err
		}
		c.path = c.path[:len(c.path)-1]
	}
	return nil
}

func (c *checker) number(n string) error {
	if len(n) > maxNumberBytes {
		return fmt.Errorf("number of %d digits, the limit is %d", len(n), maxNumberBytes)
	}
	if i := strings.IndexAny(n, "eE"); i >= 0 {
		exp, err := strconv.Atoi(n[i+1:])
		if err != nil || exp > maxExponent || exp < -maxExponent {
			return fmt.Errorf("number exponent beyond ±%d", maxExponent)
		}
	}
	if !c.limits.Strict {
		return nil
	}
	f, err := strconv.ParseFloat(n, 64)
	if err != nil || (f == math.Trunc(f) && math.Abs(f) >= maxSafeInteger) {
		return fmt.Errorf("the number %.40s cannot be kept exactly (beyond 2^53)", n)
	}
	return nil
}

// pointer is the JSON pointer of the value at hand, cut to a length fit for a message.
func (c *checker) pointer() string {
	if len(c.path) == 0 {
		return "document"
	}
	var b strings.Builder
	for _, token := range c.path {
		b.WriteByte('/')
		b.WriteString(EscapePointer(text.Escape(fmt.Sprintf("%.40s", token))))
		if b.Len() > 200 {
			b.WriteString("/…")
			break
		}
	}
	return b.String()
}

// EscapePointer escapes one reference token of a JSON pointer (RFC 6901).
func EscapePointer(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}
