// Command text is the task that bench_test.go measures: as a guest of AIR, and as a
// native program that reads its input from stdin. It takes {"op", "n", "tags", "text"},
// puts the text in upper case and counts its words. c/task.h and extism/plugin are the
// same task in C and for Extism.
package main

import (
	"encoding/json"
	"strings"
)

type input struct {
	Op   string   `json:"op"` // echo, or for guests also calls and loop
	N    int      `json:"n"`
	Tags []string `json:"tags"`
	Text string   `json:"text"`
}

type output struct {
	Upper string `json:"upper"`
	Words int    `json:"words"`
	Tags  int    `json:"tags"`
	N     int    `json:"n"`
}

func answer(in input) ([]byte, error) {
	return json.Marshal(output{strings.ToUpper(in.Text), len(strings.Fields(in.Text)), len(in.Tags), in.N})
}
