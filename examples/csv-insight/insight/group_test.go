package insight

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestGroupByHand(t *testing.T) {
	text := "team,points\n" +
		"red,1\nblue,2\nred,4\n,8\nred,\nblue,n/a\ngreen,x\n,\n"
	tests := []struct {
		name string
		o    GroupOptions
		want string
	}{
		{"sums", GroupOptions{By: "team", Value: "points"},
			`{"delimiter":",","rows":8,"truncated":false,"ragged_rows":0,"group_count":4,"not_numeric":2,"groups":[
{"key":"red","rows":3,"numbers":2,"sum":5,"mean":2.5,"min":1,"max":4},
{"key":null,"rows":2,"numbers":1,"sum":8,"mean":8,"min":8,"max":8},
{"key":"blue","rows":2,"numbers":1,"sum":2,"mean":2,"min":2,"max":2},
{"key":"green","rows":1,"numbers":0}]}`},
		{"counts, the two largest", GroupOptions{By: "team", Limit: 2},
			`{"delimiter":",","rows":8,"truncated":false,"ragged_rows":0,"group_count":4,"not_numeric":0,"groups":[
{"key":"red","rows":3,"numbers":0},{"key":null,"rows":2,"numbers":0}]}`},
		{"by the value itself", GroupOptions{By: "points", Value: "points", Limit: 1},
			`{"delimiter":",","rows":8,"truncated":false,"ragged_rows":0,"group_count":7,"not_numeric":2,"groups":[
{"key":null,"rows":2,"numbers":0}]}`},
		{"first rows only", GroupOptions{Layout: Layout{MaxRows: 2}, By: "team", Value: "points"},
			`{"delimiter":",","rows":2,"truncated":true,"ragged_rows":0,"group_count":2,"not_numeric":0,"groups":[
{"key":"blue","rows":1,"numbers":1,"sum":2,"mean":2,"min":2,"max":2},
{"key":"red","rows":1,"numbers":1,"sum":1,"mean":1,"min":1,"max":1}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := GroupRows(strings.NewReader(text), tt.o)
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			if same, diff := sameJSON(got, []byte(tt.want)); !same {
				t.Errorf("%s\ngot  %s\nwant %s", diff, got, tt.want)
			}
		})
	}
}

func TestGroupRefuses(t *testing.T) {
	var many strings.Builder
	many.WriteString("a\n")
	for i := range maxGroups + 1 {
		fmt.Fprintf(&many, "%d\n", i)
	}
	tests := []struct {
		name, text string
		o          GroupOptions
		code       string
	}{
		{"by", "a,b\n1,2\n", GroupOptions{By: "c"}, "unknown_column"},
		{"value", "a,b\n1,2\n", GroupOptions{By: "a", Value: "c"}, "unknown_column"},
		{"empty file", "", GroupOptions{By: "a"}, "unknown_column"},
		{"too many groups", many.String(), GroupOptions{By: "a"}, "too_many_groups"},
		{"names too long", "a\n" + longKeys(), GroupOptions{By: "a"}, "too_many_groups"},
		{"syntax", "a\n\"\n", GroupOptions{By: "a"}, "bad_csv"},
	}
	for _, tt := range tests {
		_, err := GroupRows(strings.NewReader(tt.text), tt.o)
		var own *Error
		if !errors.As(err, &own) || own.Code != tt.code {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.code)
		}
	}
}

// longKeys are distinct and have more bytes than may be held.
func longKeys() string {
	var b strings.Builder
	for i := range 8 {
		fmt.Fprintf(&b, "%d%s\n", i, strings.Repeat("x", trackedBytes/7))
	}
	return b.String()
}
