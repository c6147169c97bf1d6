package main

import (
	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/fault"
)

func argOr(args []string, otherwise string) string {
	if len(args) > 0 {
		return args[0]
	}
	return otherwise
}

// idArgument reads ID or ID@DIGEST.
func idArgument(arg string) (id, digest string, err error) {
	id, digest, ok := capabilities.SplitID(arg)
	if !ok {
		err = fault.New(fault.InvalidInput, "bad_name", "%.80q is neither ID nor ID@sha256:…", arg).WithHint("air ls shows the ids; a digest may be shortened to 8 digits")
	}
	return id, digest, err
}
