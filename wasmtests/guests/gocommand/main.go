// A command in Go, as one is written for any system: JSON comes in on stdin and goes out on
// stdout.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// count says how many calls this instance has seen: 1, for every call has its own.
var count int

func main() {
	var input struct {
		Text   string `json:"text"`
		Status int    `json:"status"`
		Panic  bool   `json:"panic"`
	}
	decoder := json.NewDecoder(os.Stdin)
	if err := decoder.Decode(&input); err != nil {
		fail(2, err)
	}
	if rest, err := io.ReadAll(io.MultiReader(decoder.Buffered(), os.Stdin)); err != nil || len(rest) > 0 {
		fail(2, fmt.Errorf("%q behind the input, %w", rest, err))
	}
	if input.Panic {
		panic("as I was told")
	}
	if input.Status != 0 {
		fail(input.Status, fmt.Errorf("failing as I was told"))
	}
	count++
	info, err := os.Stdin.Stat()
	if err != nil {
		fail(2, err)
	}
	err = json.NewEncoder(os.Stdout).Encode(map[string]any{
		"args": os.Args, "environ": len(os.Environ()), "upper": strings.ToUpper(input.Text), "count": count,
		"terminal": info.Mode()&os.ModeCharDevice != 0,
	})
	if err != nil {
		fail(2, err)
	}
}

func fail(status int, err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(status)
}
