// Package otlp writes traces in OTLP's JSON form, which collectors of OpenTelemetry read
// from files: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding.
package otlp

import (
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/aircoding/air/internal/plainjson"
)

// Span is one operation with a beginning and an end.
type Span struct {
	TraceID    string // 32 hex digits
	ID         string // 16 hex digits
	ParentID   string // 16 hex digits, "" for the first of a trace
	Name       string
	Start, End time.Time
	Attributes Attributes
	Events     []Event
	Status     Status
	Message    string // of an error
}

// Event is a moment in a span.
type Event struct {
	Name       string
	Time       time.Time
	Attributes Attributes
}

// Status is how a span ended, by the numbers of the protocol.
type Status int

const (
	Unset Status = iota
	OK
	Error
)

// Attributes have strings, int64s, bools and lists of strings as values. Others are left
// out.
type Attributes map[string]any

// Encode writes the spans of one resource as one line: an ExportTraceServiceRequest.
func Encode(w io.Writer, resource Attributes, scope string, spans []Span) error {
	all := make([]spanJSON, len(spans))
	for i, s := range spans {
		all[i] = s.encode()
	}
	line, err := plainjson.Marshal(requestJSON{[]resourceJSON{{
		Resource:   attributesJSON{resource.encode()},
		ScopeSpans: []scopeJSON{{Scope: nameJSON{scope}, Spans: all}},
	}}})
	if err == nil {
		_, err = w.Write(append(line, '\n'))
	}
	return err
}

type requestJSON struct {
	ResourceSpans []resourceJSON `json:"resourceSpans"`
}

type resourceJSON struct {
	Resource   attributesJSON `json:"resource"`
	ScopeSpans []scopeJSON    `json:"scopeSpans"`
}

type attributesJSON struct {
	Attributes []attributeJSON `json:"attributes,omitempty"`
}

type scopeJSON struct {
	Scope nameJSON   `json:"scope"`
	Spans []spanJSON `json:"spans"`
}

type nameJSON struct {
	Name string `json:"name"`
}

type spanJSON struct {
	TraceID      string          `json:"traceId"`
	SpanID       string          `json:"spanId"`
	ParentSpanID string          `json:"parentSpanId,omitempty"`
	Name         string          `json:"name"`
	Kind         int             `json:"kind"`
	Start        string          `json:"startTimeUnixNano"`
	End          string          `json:"endTimeUnixNano"`
	Attributes   []attributeJSON `json:"attributes,omitempty"`
	Events       []eventJSON     `json:"events,omitempty"`
	Status       statusJSON      `json:"status"`
}

type eventJSON struct {
	Time       string          `json:"timeUnixNano"`
	Name       string          `json:"name"`
	Attributes []attributeJSON `json:"attributes,omitempty"`
}

type statusJSON struct {
	Message string `json:"message,omitempty"`
	Code    Status `json:"code,omitempty"`
}

type attributeJSON struct {
	Key   string    `json:"key"`
	Value valueJSON `json:"value"`
}

// valueJSON has one field set. 64-bit numbers are strings in protobuf's JSON.
type valueJSON struct {
	String *string    `json:"stringValue,omitempty"`
	Int    *string    `json:"intValue,omitempty"`
	Bool   *bool      `json:"boolValue,omitempty"`
	Array  *arrayJSON `json:"arrayValue,omitempty"`
}

type arrayJSON struct {
	Values []valueJSON `json:"values"`
}

const kindInternal = 1

func (s Span) encode() spanJSON {
	j := spanJSON{
		TraceID: s.TraceID, SpanID: s.ID, ParentSpanID: s.ParentID, Name: s.Name, Kind: kindInternal,
		Start: nanoseconds(s.Start), End: nanoseconds(s.End),
		Attributes: s.Attributes.encode(), Status: statusJSON{Message: s.Message, Code: s.Status},
	}
	for _, e := range s.Events {
		j.Events = append(j.Events, eventJSON{nanoseconds(e.Time), e.Name, e.Attributes.encode()})
	}
	return j
}

func nanoseconds(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

// encode orders the attributes by key.
func (a Attributes) encode() []attributeJSON {
	var all []attributeJSON
	for _, key := range slices.Sorted(maps.Keys(a)) {
		if v, ok := encodeValue(a[key]); ok {
			all = append(all, attributeJSON{key, v})
		}
	}
	return all
}

func encodeValue(value any) (v valueJSON, ok bool) {
	switch value := value.(type) {
	case string:
		v.String = &value
	case int64:
		text := strconv.FormatInt(value, 10)
		v.Int = &text
	case bool:
		v.Bool = &value
	case []string:
		v.Array = &arrayJSON{Values: []valueJSON{}}
		for i := range value {
			v.Array.Values = append(v.Array.Values, valueJSON{String: &value[i]})
		}
	default:
		return v, false
	}
	return v, true
}
