package runtime

import (
	"context"
	"encoding/json"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/event"
)

// keptEvent is what the budgets are charged for storing an event that a capability leads to,
// besides the bytes of its payload: a row, its hashes and its entries in the indexes.
const keptEvent = 1 << 10

// owe has the budgets pay for an event of a call that a capability made. It is stored even
// where that is too much, for what happened is recorded: the next call is the one that is
// refused. The result gives the payment back.
func (r *Registry) owe(c *run, payload json.RawMessage) (giveBack func()) {
	if c.call.parent == nil {
		return func() {}
	}
	payer := c
	if c.tool.Unrecorded { // it has no last event with which it would pay
		payer = c.call.parent
	}
	cost := int64(keptEvent + len(payload))
	for _, a := range r.paying(payer) {
		a.giveBack(-cost)
	}
	payer.written.Add(cost)
	return func() { r.unspend(payer, cost) }
}

// keepEvent stores an event of the calling capability that a person accepted to be stored
// by this schema. It belongs to the capability's call, and all budgets of that call pay for
// it.
func (a *Access) keepEvent(ctx context.Context, eventType string, schema, payload json.RawMessage) error {
	if len(payload) > storedHead {
		return fault.New(fault.InvalidInput, "event_too_large", "what %s says has %d bytes; of an event that is stored it may have %d", eventType, len(payload), storedHead).
			WithHint("store it with artifact.create and send the id")
	}
	if err := a.mayBeSaid(ctx, payload); err != nil {
		return err
	}
	if err := a.registry.fits(eventType, schema, payload); err != nil {
		return err
	}
	cost := int64(keptEvent + len(payload))
	if err := a.registry.spend(a.run, cost); err != nil {
		return err
	}
	err := a.registry.appendOwn(ctx, a.run, eventType, payload)
	if err != nil {
		a.registry.unspend(a.run, cost)
	}
	return err
}

// fits holds what an event says against the schema that was accepted.
func (r *Registry) fits(eventType string, schema, payload json.RawMessage) error {
	s, err := r.schema(schema)
	if err != nil {
		return err
	}
	if err := s.Validate(payload); err != nil {
		return fault.New(fault.InvalidInput, "bad_event", "%s: %w", eventType, err).
			WithHint("the project's .air/shared/capabilities.yaml has the schema of what it may say")
	}
	return nil
}

// appendOwn records an event that the capability above the call emits. What the capability
// says stands below "data": the names beside it, which tell whose event it is, are the
// runtime's.
func (r *Registry) appendOwn(ctx context.Context, c *run, eventType string, payload json.RawMessage) error {
	guest := c.guest()
	body, err := guest.stored(map[string]any{"data": payload})
	if err != nil {
		return err
	}
	e := r.event(c, eventType, body)
	e.Source = event.Source{Kind: "capability", ID: guest.tool.Owner.Capability}
	charge, notCharged := r.charge(c, nothingElse)
	if _, err = r.config.Session.Events.AppendCustom(ctx, e, charge); err != nil {
		notCharged()
	}
	return err
}
