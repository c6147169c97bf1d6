package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aircoding/air/hostabi"
)

// compileTimeout bounds the loading of one module.
const compileTimeout = slowdown * 20 * time.Second

// worker is the host's end of one worker: loaded with one module, used for one call at a
// time.
type worker struct {
	*process
	conn   *hostabi.Conn
	abi    hostabi.ABI
	limits hostabi.Limits
	need   int64 // what it counts for in its pool's bytes
	fresh  int64 // resident bytes after loading
	loaded bool  // the module is ready for calls
	cached bool  // it loaded an entry of the compile cache
	frozen bool  // calls start after _initialize
	calls  int
}

// refusedError is a module that the engine does not accept, or a cache folder.
type refusedError struct{ hostabi.Refusal }

func (e *refusedError) Error() string { return printable(e.Text, 500) }

// load has a fresh worker load or compile a module and waits until it has. A nil module
// is in the cache folder.
func (w *worker) load(ctx context.Context, deadline time.Duration, config hostabi.LoadConfig, module []byte) error {
	stop := context.AfterFunc(ctx, func() { w.kill(context.Cause(ctx)) })
	defer stop()
	limit := time.AfterFunc(deadline, func() { w.kill(errCompile) })
	w.abi, w.limits = config.ABI, config.Limits
	err := w.handOver(config, module)
	// A deadline that passed while the answer came in kills the worker all the same.
	if !limit.Stop() {
		w.kill(errCompile)
		return w.ended(errCompile)
	}
	var refused *refusedError
	if err != nil && !errors.As(err, &refused) {
		return w.ended(err)
	}
	w.loaded = err == nil
	return err
}

func (w *worker) handOver(config hostabi.LoadConfig, module []byte) error {
	text, err := json.Marshal(config)
	if err != nil {
		return err
	}
	if err := w.conn.Send(hostabi.FrameLoad, text); err != nil {
		return err
	}
	if module != nil {
		if err := w.conn.Send(hostabi.FrameModule, module); err != nil {
			return err
		}
	}
	t, p, err := w.conn.Receive(hostabi.Allowed{hostabi.FrameReady: hostabi.MaxReady, hostabi.FrameRefused: hostabi.MaxRefused})
	if err != nil {
		return err
	}
	if t == hostabi.FrameReady {
		w.frozen, err = hostabi.DecodeReady(p)
		return err
	}
	refusal, err := hostabi.DecodeRefusal(p)
	if err != nil {
		return err
	}
	return &refusedError{refusal}
}

// call runs one call of a tool. reusable is false when the worker has ended or must.
func (w *worker) call(ctx context.Context, tool string, input []byte, h handler) (done hostabi.Done, reusable bool, err error) {
	stop := context.AfterFunc(ctx, func() { w.kill(context.Cause(ctx)) })
	done, err = w.exchange(ctx, tool, input, h)
	if err != nil {
		err = w.ended(err)
	}
	// A context that ended while the answer came in has killed the worker all the same.
	untouched := stop()
	w.calls++
	return done, untouched && err == nil && !done.Trapped, err
}

func (w *worker) exchange(ctx context.Context, tool string, input []byte, h handler) (hostabi.Done, error) {
	if err := w.conn.Send(hostabi.FrameCall, hostabi.EncodeTool(tool, input)...); err != nil {
		return hostabi.Done{}, err
	}
	for asked := int64(0); ; asked++ {
		t, p, err := w.conn.Receive(w.allowed())
		if err != nil {
			return hostabi.Done{}, err
		}
		if t == hostabi.FrameDone {
			return hostabi.DecodeDone(p, w.limits)
		}
		if asked == w.limits.HostCalls { // an honest worker counts, too
			return hostabi.Done{}, &hostabi.FrameError{Reason: fmt.Sprintf("more than %d host calls", asked)}
		}
		code, envelope, err := answer(ctx, t, p, h)
		if err != nil {
			return hostabi.Done{}, err
		}
		if err := w.conn.Send(hostabi.FrameAnswer, hostabi.EncodeAnswer(code, envelope)...); err != nil {
			return hostabi.Done{}, err
		}
	}
}

// allowed is what may come while a call runs.
func (w *worker) allowed() hostabi.Allowed {
	frames := hostabi.Allowed{hostabi.FrameDone: w.limits.MaxDone()}
	if w.abi.KnowsAir() {
		frames[hostabi.FrameTool], frames[hostabi.FrameEmit] = hostabi.MaxTool, hostabi.MaxEmitted
	}
	return frames
}

// answer carries out what the guest asked for.
func answer(ctx context.Context, t hostabi.FrameType, p []byte, h handler) (code hostabi.Code, envelope []byte, err error) {
	if ctx.Err() != nil {
		return hostabi.ECANCELED, nil, nil
	}
	if t == hostabi.FrameEmit {
		kind, payload, err := hostabi.DecodeEmit(p)
		if err != nil {
			return 0, nil, err
		}
		return h.Emit(nested(ctx), kind, payload), nil, nil
	}
	name, request, err := hostabi.DecodeTool(p)
	if err != nil {
		return 0, nil, err
	}
	envelope = h.ToolCall(nested(ctx), name, request)
	if len(envelope) > hostabi.MaxEnvelope {
		return hostabi.E2BIG, nil, nil
	}
	return 0, envelope, nil
}

// endedError is a worker that ended, or had to be ended, instead of answering.
type endedError struct {
	cause  endCause
	reason error
}

func (e *endedError) Error() string { return e.reason.Error() }
func (e *endedError) Unwrap() error { return e.reason }

// ended finds out why a worker does not answer. What the host knows itself comes first,
// then what the system says, and only then what the worker wrote.
func (w *worker) ended(err error) error {
	if reason := w.killed(); reason != nil {
		return &endedError{killedFor(reason), reason}
	}
	var breach *hostabi.FrameError
	if errors.As(err, &breach) && !errors.Is(err, io.ErrUnexpectedEOF) {
		w.kill(errBreach)
		return &endedError{causeViolation, breach}
	}
	byItself := w.gone(time.Second)
	if reason := w.killed(); reason != nil {
		return &endedError{killedFor(reason), reason}
	}
	if !byItself {
		w.kill(errBreach)
		return &endedError{causeViolation, err}
	}
	return w.inspect(err)
}
