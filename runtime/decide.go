package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/ids"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/permission"
)

// decide answers for all effects of a call at once: either every one is allowed, or
// the call ends here with the first that is not.
func (r *Registry) decide(ctx context.Context, c *run, plan []permission.Effect) ([]permission.Decision, error) {
	decisions, err := r.answer(ctx, c, plan)
	if len(decisions) > 0 && (!c.tool.Unrecorded || err != nil) {
		if recordErr := r.appendDecisions(context.WithoutCancel(ctx), c, event.PermissionDecided, "decisions", decisions); recordErr != nil {
			return nil, recordErr
		}
	}
	if err != nil {
		return decisions, c.denial(err)
	}
	return decisions, r.noteCredentials(ctx, c, decisions)
}

func (r *Registry) answer(ctx context.Context, c *run, plan []permission.Effect) ([]permission.Decision, error) {
	effects, err := r.canonical(c, plan)
	var denied *permission.DeniedError
	if errors.As(err, &denied) {
		return []permission.Decision{denied.Decision}, err
	}
	if err != nil {
		return nil, err
	}
	request, err := r.request(ctx, c, effects)
	if err != nil {
		return nil, err
	}
	decisions := c.root().approvals.apply(request, r.config.Permission.Decide(request))
	return r.ask(ctx, c, request, decisions)
}

// request is all that the engine looks at to answer for the effects of a call.
func (r *Registry) request(ctx context.Context, c *run, effects []permission.Effect) (permission.Request, error) {
	request := c.request(r.config.Session.ID, effects)
	err := r.addCredentials(ctx, c, &request)
	return request, err
}

func (c *run) request(sessionID string, effects []permission.Effect) permission.Request {
	return permission.Request{
		Subject: permission.Subject{
			Tool:        c.tool.Name,
			BuiltIn:     c.tool.BuiltIn(),
			Capability:  c.tool.Capability,
			Permissions: c.tool.Permissions,
		},
		Chain:     c.chain,
		Effects:   effects,
		SessionID: sessionID,
	}
}

// ask puts the decisions that need a person to one, in a single question.
func (r *Registry) ask(ctx context.Context, c *run, request permission.Request, decisions []permission.Decision) ([]permission.Decision, error) {
	var asks []permission.Decision
	for _, d := range decisions {
		switch d.Verdict {
		case permission.Deny:
			return decisions, &permission.DeniedError{Decision: d}
		case permission.Ask:
			asks = append(asks, d)
		}
	}
	if len(asks) == 0 {
		return decisions, nil
	}
	if r.config.Approver == nil {
		return decisions, unanswered(asks)
	}
	if request.Late && c.root().late.Add(1) > maxLate {
		asks[0].Code = "too_many_questions"
		asks[0].Hint = fmt.Sprintf("a person is asked at most %d times while a call runs: name what it needs in the command line, so that one question is about all of it", maxLate)
		return decisions, unanswered(asks)
	}
	question := r.config.Permission.Question(request, asks)
	if err := r.appendDecisions(ctx, c, event.PermissionRequested, "asks", asks); err != nil {
		return decisions, err
	}
	resume := pauseClock(ctx)
	answer, err := r.config.Approver.Approve(ctx, question)
	resume()
	if err != nil {
		return decisions, fmt.Errorf("asking about %s: %w", c.tool.Name, err)
	}
	if err := ctx.Err(); err != nil { // an answer to a call that has ended since changes nothing
		return decisions, context.Cause(ctx)
	}
	decided, grants, err := r.config.Permission.Settle(ctx, request, decisions, answer)
	if err != nil {
		return decided, err
	}
	c.root().approvals.keep(request, decided, answer.Choice)
	for _, g := range grants {
		g.Rule = text.Head(g.Rule, storedHead)
		if err := r.append(ctx, c, event.PermissionGranted, map[string]any{"grant": g}); err != nil {
			return decided, err
		}
	}
	return decided, nil
}

// maxLate is how many questions a call may lead to while it runs.
const maxLate = 5

// unanswered is the error of effects that need a person, the first of which tells why.
func unanswered(asks []permission.Decision) error {
	denied := &permission.DeniedError{Decision: asks[0], Unanswered: true}
	for _, d := range asks[1:] {
		denied.More = append(denied.More, d.Effect)
	}
	return denied
}

// maxEffects bounds how many effects an error names.
const maxEffects = 20

// denial turns the engine's refusal into the error that the caller sees.
func (c *run) denial(err error) error {
	var d *permission.DeniedError
	if !errors.As(err, &d) {
		return err
	}
	if len(c.chain) > 0 {
		d = d.ToCapability()
	}
	kind, code := fault.PermissionDenied, d.Decision.Code
	if d.Unanswered {
		kind = fault.ApprovalRequired
	}
	if code == "" {
		code = string(kind)
	}
	hint := d.Decision.Hint
	if hint == "" {
		hint = "do not work around this; a person sees how to allow it with: air permission pending"
	}
	failure := fault.New(kind, code, "%w", d).WithHint("%s", hint).
		With("effect", d.Decision.Effect).
		With("rule", d.Decision.Rule).
		With("layer", d.Decision.Layer)
	if len(d.More) > 0 {
		failure = failure.With("effects", append([]permission.Effect{d.Decision.Effect}, d.More[:min(len(d.More), maxEffects-1)]...))
	}
	return failure
}

// Explain answers what would be decided for a call, layer by layer. It looks up,
// validates and plans as Call does, and then stops: nothing runs, nobody is asked.
func (r *Registry) Explain(ctx context.Context, call Call) ([]permission.Explanation, error) {
	return r.ExplainAs(ctx, call, nil)
}

// ExplainAs is Explain for a call that enabled capabilities make, the outermost first.
func (r *Registry) ExplainAs(ctx context.Context, call Call, route []string) ([]permission.Explanation, error) {
	c, err := r.supposed(ctx, call, route)
	if err != nil {
		return nil, err
	}
	if err := r.validateInput(c); err != nil {
		return nil, err
	}
	plan, err := r.plan(c)
	if err != nil {
		return nil, err
	}
	effects, err := r.canonical(c, plan)
	if err != nil {
		return []permission.Explanation{r.explainUnresolved(plan[len(effects)], err)}, nil
	}
	request, err := r.request(ctx, c, effects)
	if err != nil {
		return nil, err
	}
	return r.config.Permission.Explain(request), nil
}

// Redecide answers for effects that a call of the tool had, as it would be answered now:
// their paths stay, but their scripts may hold something else. route are the capabilities
// that led to the call, the outermost first. A tool or a capability that is not enabled
// is an error of kind not_found.
func (r *Registry) Redecide(ctx context.Context, tool string, route []string, effects []permission.Effect) (permission.Request, []permission.Decision, error) {
	c, err := r.supposed(ctx, Call{Tool: tool}, route)
	if err != nil {
		return permission.Request{}, nil, err
	}
	scripts := binder{files: &files{registry: r, run: c}}
	bound := make([]permission.Effect, len(effects))
	for i := range effects {
		bound[i] = scripts.bind(effects[i])
	}
	request, err := r.request(ctx, c, bound)
	if err != nil {
		return request, nil, err
	}
	return request, r.config.Permission.Decide(request), nil
}

// Permission is the engine that decides.
func (r *Registry) Permission() *permission.Engine { return r.config.Permission }

// supposed is a call that is not made.
func (r *Registry) supposed(ctx context.Context, call Call, route []string) (*run, error) {
	c := &run{id: ids.New(), call: call}
	var err error
	if c.tool, err = r.Lookup(ctx, call.Tool); err != nil {
		return nil, err
	}
	c.chain, err = r.callers(ctx, route)
	return c, err
}

// callers are the enabled capabilities with these ids.
func (r *Registry) callers(ctx context.Context, route []string) ([]permission.Caller, error) {
	if len(route) == 0 {
		return nil, nil
	}
	tools, err := r.Tools(ctx)
	if err != nil {
		return nil, err
	}
	var chain []permission.Caller
	for _, id := range route {
		at := slices.IndexFunc(tools, func(t *Tool) bool { return !t.BuiltIn() && t.Owner.Capability == id })
		if at < 0 {
			return nil, fault.New(fault.NotFound, "not_enabled", "capability %.64q is not enabled here", id).WithHint("air ls shows what is")
		}
		chain = append(chain, tools[at].Owner)
	}
	return chain, nil
}

// explainUnresolved is the answer about a path that cannot be made canonical: the call
// ends there, whatever else it would do.
func (r *Registry) explainUnresolved(e permission.Effect, err error) permission.Explanation {
	var denied *permission.DeniedError
	if errors.As(err, &denied) {
		return permission.Explanation{Effect: denied.Decision.Effect, Final: denied.Decision}
	}
	if named, err := r.config.Paths.ByName(e); err == nil {
		e = named
	}
	why := fault.From(err)
	return permission.Explanation{Effect: e, Final: permission.Decision{
		Effect: e, Layer: permission.LayerFloor, Rule: "floor: " + why.Code, Code: why.Code, Reason: why.Message, Hint: why.Hint,
	}}
}
