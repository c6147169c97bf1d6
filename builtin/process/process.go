// Package process brings the tool that signals a process.
package process

import (
	"context"
	"strconv"

	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

// Tools returns the implementations by tool name.
func Tools() map[string]runtime.Implementation {
	return map[string]runtime.Implementation{
		"process.kill": runtime.Typed[killInput]{Effects: effects, Do: kill},
	}
}

type killInput struct {
	PID    int    `json:"pid"`
	Signal string `json:"signal"`
	Reason string `json:"reason"`
}

type killOutput struct {
	PID       int    `json:"pid"`
	Signal    string `json:"signal"`
	Delivered bool   `json:"delivered"`
}

func effects(in killInput) ([]permission.Effect, error) {
	return []permission.Effect{{Kind: permission.Signal, Target: strconv.Itoa(in.PID)}}, nil
}

func kill(ctx context.Context, access *runtime.Access, in killInput) (any, error) {
	if in.Signal == "" {
		in.Signal = "SIGTERM"
	}
	delivered, err := access.Signal(ctx, in.PID, in.Signal)
	if err != nil {
		return nil, err
	}
	return killOutput{PID: in.PID, Signal: in.Signal, Delivered: delivered}, nil
}
