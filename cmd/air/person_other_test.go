//go:build !linux

package main

import (
	"fmt"
	"os"
)

// person is a command of scripts that needs Linux: they skip it elsewhere.
func person() {
	fmt.Fprintln(os.Stderr, "person: only on Linux")
	os.Exit(98)
}
