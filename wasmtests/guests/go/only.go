package main

import (
	"fmt"
	"os"
	"time"

	"github.com/aircoding/air/sdk/go"
)

// only does what is of interest in a guest with a large runtime: what that asks the host
// for, and how it dies.
func only(in input) (any, error) {
	switch in.Op {
	case "shift": // the loop that wazero's compiler gets wrong by itself
		n := 0
		for x := in.X; x&in.Y > 0 && n < 100; x >>= 1 {
			n++
		}
		return object{"count": n}, nil
	case "sleep":
		began := time.Now()
		time.Sleep(20 * time.Millisecond)
		return object{"slept": time.Since(began) >= 20*time.Millisecond}, nil
	case "files":
		_, err := os.ReadFile("/etc/passwd")
		return object{"error": fmt.Sprint(err), "arguments": len(os.Args), "environment": len(os.Environ())}, nil
	case "stdout":
		fmt.Println(in.Text)
		return object{"printed": true}, nil
	case "panic":
		panic(in.Text)
	case "hoard":
		type held struct {
			next  *held
			bytes [1 << 20]byte
		}
		for all := (*held)(nil); ; {
			all = &held{next: all}
			all.bytes[in.Count&0xff] = 1
		}
	}
	return nil, air.Fail("bad_input", "unknown op")
}
