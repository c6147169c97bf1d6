package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// testHost is the argv[0] of a process that runs the module argv[1] of the
// checksum argv[2] for ever and prints its worker's id.
const testHost = "air-test-host"

func serveIfHost() {
	if os.Args[0] != testHost {
		return
	}
	p := NewPool(PoolOptions{})
	h := &fakeHandler{answer: func(context.Context, string, []byte) []byte {
		fmt.Println(children())
		select {}
	}}
	p.invoke(context.Background(), Module{Capability: "t", Tool: "t.t", Path: os.Args[1], SHA256: os.Args[2]}, nil, h)
	os.Exit(1)
}

// children lists the processes whose parent is this one.
func children() string {
	var ids []string
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range files {
		text, _ := os.ReadFile(f)
		_, after, _ := strings.Cut(string(text), ") ")
		if fields := strings.Fields(after); len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) {
			ids = append(ids, filepath.Base(filepath.Dir(f)))
		}
	}
	return strings.Join(ids, " ")
}
