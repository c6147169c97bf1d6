package engine

import (
	"encoding/json"
	"regexp"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/fault"
)

// output checks that a result is JSON, which is all that is promised here: the registry
// checks its bounds and its schema.
func (m Module) output(d hostabi.Done) (result, error) {
	if !json.Valid(d.Output) {
		return result{}, withLog(m.badOutput("its result is not JSON"), d.Log)
	}
	return result{output: d.Output, log: d.Log}, nil
}

func (m Module) badOutput(why string) *fault.Error {
	return fault.New(fault.GuestError, "bad_output", "%s: %s", m.Tool, why).
		WithHint("the capability breaks its contract: tell its publisher")
}

const maxGuestError = 64 << 10

var guestCode = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,63}$`)

// guestError is what a guest says of its own failure.
func (m Module) guestError(text []byte) error {
	var said struct {
		Code    string         `json:"code"`
		Message string         `json:"message"`
		Details map[string]any `json:"details"`
	}
	if err := canon.Check(text, canon.Limits{Bytes: maxGuestError}); err != nil {
		return m.badOutput("its error is not {code, message, details}: " + printable(err.Error(), 200))
	}
	if err := json.Unmarshal(text, &said); err != nil || !guestCode.MatchString(said.Code) {
		return m.badOutput("its error is not {code, message, details}")
	}
	e := fault.New(fault.GuestError, said.Code, "%s: %s", m.Tool, printable(said.Message, 2048))
	delete(said.Details, causeDetail) // only the host says that a nested call was refused
	e.Details = said.Details
	return e
}

// causeDetail is the detail that carries the error of a refused nested call.
const causeDetail = "cause"
