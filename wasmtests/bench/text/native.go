//go:build !wasip1

package main

import (
	"encoding/json"
	"io"
	"log"
	"os"
)

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	var in input
	if err := json.Unmarshal(text, &in); err != nil {
		log.Fatal(err)
	}
	out, err := answer(in)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := os.Stdout.Write(out); err != nil {
		log.Fatal(err)
	}
}
