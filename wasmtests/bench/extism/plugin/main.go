//go:build wasip1

// Command plugin is the task of ../../text as a plugin of Extism.
package main

import (
	"strings"

	"github.com/extism/go-pdk"
)

type input struct {
	Op   string   `json:"op"`
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

func main() {} // a reactor: the host calls run

//go:wasmexport run
func run() int32 {
	var in input
	if err := pdk.InputJSON(&in); err != nil {
		pdk.SetError(err)
		return 1
	}
	out := output{strings.ToUpper(in.Text), len(strings.Fields(in.Text)), len(in.Tags), in.N}
	if err := pdk.OutputJSON(out); err != nil {
		pdk.SetError(err)
		return 1
	}
	return 0
}
