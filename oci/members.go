package oci

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
)

// members are those of a JSON object in their order, for files that belong to others:
// what is not changed goes back as it came.
type members []member

type member struct {
	key   string
	value json.RawMessage
}

func (m member) equal(other member) bool {
	return m.key == other.key && bytes.Equal(m.value, other.value)
}

func (m *members) UnmarshalJSON(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return errors.Join(errors.New("this is no object"), err)
	}
	*m = nil
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		next := member{key: key.(string)} // the decoder takes nothing else for a key
		if err := dec.Decode(&next.value); err != nil {
			return err
		}
		*m = append(*m, next)
	}
	return nil
}

// get returns the value of a key, nil when there is none. Of a repeated key the last
// counts, as for encoding/json.
func (m members) get(key string) json.RawMessage {
	for _, member := range slices.Backward(m) {
		if member.key == key {
			return member.value
		}
	}
	return nil
}

func (m *members) set(key string, value json.RawMessage) {
	for i := range slices.Backward(*m) {
		if (*m)[i].key == key {
			(*m)[i].value = value
			return
		}
	}
	*m = append(*m, member{key, value})
}

func (m *members) remove(key string) {
	*m = slices.DeleteFunc(*m, func(member member) bool { return member.key == key })
}

func (m members) raw() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, member := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		key, _ := json.Marshal(member.key) // a string always has a form
		b.Write(key)
		b.WriteByte(':')
		b.Write(member.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}
