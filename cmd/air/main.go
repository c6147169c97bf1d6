// Command air runs third-party tools as WebAssembly under one registry and one
// permission engine. One file holds one verb; all parts are wired in wiring.go.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/aircoding/air/runtime/command/interpret"
	"github.com/aircoding/air/runtime/engine"
	"github.com/aircoding/air/runtime/runner"
	"github.com/aircoding/air/runtime/sandbox"
)

func main() {
	engine.ServeIfWorker()
	sandbox.ServeIfChild()
	interpret.ServeIfShell()
	runner.ServeIfKeeper()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends air at once
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv}
	os.Exit(a.main(ctx, os.Args[1:]))
}
