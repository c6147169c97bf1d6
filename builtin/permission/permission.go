// Package permission brings the tool with which an agent asks its person a question. No
// answer to it permits anything.
package permission

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/ids"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

// Tools returns the implementations by tool name.
func Tools() map[string]runtime.Implementation {
	return map[string]runtime.Implementation{
		"permission.request": runtime.Typed[requestInput]{Effects: check, Do: request},
	}
}

type requestInput struct {
	Subject       string          `json:"subject"`
	RiskLevel     string          `json:"risk_level"`
	Reason        string          `json:"reason"`
	Options       []string        `json:"options"`
	DefaultOption *string         `json:"default_option"`
	RequestRef    json.RawMessage `json:"request_ref"` // the caller's own, shown to nobody
}

type requestOutput struct {
	PromptID       string `json:"prompt_id"`
	SelectedOption string `json:"selected_option,omitempty"`
}

// check refuses questions that could be answered by mistake. There are no effects.
func check(in requestInput) ([]permission.Effect, error) {
	shown := map[string]bool{}
	for _, option := range in.Options {
		as := strings.ToLower(permission.Printable(strings.TrimSpace(option)))
		if as == "" || shown[as] {
			return nil, fault.New(fault.InvalidInput, "bad_options", "the option %.120q is empty or looks like another one", option)
		}
		shown[as] = true
	}
	if in.DefaultOption != nil && !slices.Contains(in.Options, *in.DefaultOption) {
		return nil, fault.New(fault.InvalidInput, "bad_default", "the default_option %.120q is not among the options", *in.DefaultOption)
	}
	return nil, nil
}

func request(ctx context.Context, access *runtime.Access, in requestInput) (any, error) {
	q := permission.AgentQuestion{ID: ids.New(), Subject: in.Subject, Risk: in.RiskLevel, Reason: in.Reason, Options: in.Options}
	if in.DefaultOption != nil {
		q.Default = *in.DefaultOption
	}
	option, err := access.Choose(ctx, q)
	return requestOutput{PromptID: q.ID, SelectedOption: option}, err
}
