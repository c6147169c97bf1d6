package otlp

import (
	"strings"
	"testing"
	"time"
)

// The expected text follows the example of a trace in the protocol's repository: ids in
// hex, enumerations as numbers, 64-bit numbers as strings, names in lowerCamelCase.
func TestEncode(t *testing.T) {
	at := time.Unix(1, 500)
	var b strings.Builder
	err := Encode(&b, Attributes{"service.name": "air"}, "calls", []Span{{
		TraceID: "5b8efff798038103d269b633813fc60c", ID: "eee19b7ec3c1b174", ParentID: "eee19b7ec3c1b173",
		Name: "fs.read", Start: at, End: at.Add(time.Second),
		Attributes: Attributes{"n": int64(3), "a": []string{"x", ""}, "b": true, "z": 1.5},
		Events:     []Event{{Name: "decided", Time: at, Attributes: Attributes{"verdict": "deny"}}},
		Status:     Error, Message: "no",
	}, {TraceID: "5b8efff798038103d269b633813fc60c", ID: "eee19b7ec3c1b173", Name: "csv.open", Start: at, End: at}})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"air"}}]},` +
		`"scopeSpans":[{"scope":{"name":"calls"},"spans":[` +
		`{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","parentSpanId":"eee19b7ec3c1b173","name":"fs.read","kind":1,` +
		`"startTimeUnixNano":"1000000500","endTimeUnixNano":"2000000500",` +
		`"attributes":[{"key":"a","value":{"arrayValue":{"values":[{"stringValue":"x"},{"stringValue":""}]}}},{"key":"b","value":{"boolValue":true}},{"key":"n","value":{"intValue":"3"}}],` +
		`"events":[{"timeUnixNano":"1000000500","name":"decided","attributes":[{"key":"verdict","value":{"stringValue":"deny"}}]}],` +
		`"status":{"message":"no","code":2}},` +
		`{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b173","name":"csv.open","kind":1,"startTimeUnixNano":"1000000500","endTimeUnixNano":"1000000500","status":{}}` +
		`]}]}]}` + "\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}
