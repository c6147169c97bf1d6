// Command air runs third-party tools as WebAssembly under one registry and one
// permission engine. One file holds one verb; all parts are wired in wiring.go.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/aircoding/air/runtime/engine"
	"github.com/aircoding/air/runtime/runner"
)

func main() {
	engine.ServeIfWorker()
	runner.ServeIfKeeper()
	ctx, stop := untilSignal()
	context.AfterFunc(ctx, stop) // a second interrupt ends air at once
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv}
	os.Exit(a.main(ctx, os.Args[1:]))
}

// untilSignal ends when air is told to end, or its terminal is gone. What runs is settled
// then. A shell passes on that the terminal is gone, which the kernel tells too: what comes
// again does not cut that short.
func untilSignal() (context.Context, context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signals = append(signals, syscall.SIGHUP)
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	return signal.NotifyContext(context.Background(), signals...)
}
