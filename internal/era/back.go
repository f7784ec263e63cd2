package era

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

var errAnswered = tap.Because(mcp.DropAnswered, errors.New("the exchange is over: its answer was sent"))

// returnPath is the way from one exchange to its client, of either era. It keeps
// the order: what precedes the answer is sent before it, and nothing after.
type returnPath struct {
	ctx   context.Context //nolint:containedctx // the request's own; it ends with the link
	out   Out
	facts *revision.Facts
	log   *slog.Logger
	seen  *tap.Conn
	// malformed says that the request was refused before a handler saw it.
	malformed bool
	// token is the exchange's own, for progress that is passed on.
	token mcp.ProgressToken

	mu   sync.Mutex
	done bool
}

// message sends a notification or a request that precedes the answer.
func (l *returnPath) message(ctx context.Context, m *jsonrpc.Message) error {
	frame, err := jsonrpc.Append(nil, m)
	if err != nil {
		l.seen.Drop(mcp.Sent, mcp.DropNoForm, m.Method, err)
		return err
	}
	return l.send(ctx, frame)
}

// send sends a frame that precedes the answer.
func (l *returnPath) send(ctx context.Context, frame []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := error(nil)
	switch {
	case l.done:
		err = errAnswered
	case l.ctx.Err() != nil:
		err = over(context.Cause(l.ctx)) //nolint:contextcheck // the reason for which the request ended
	default:
		err = l.out.Message(ctx, frame)
	}
	if err != nil {
		l.seen.DropFrame(mcp.Sent, tap.ReasonOf(err), "", frame, err)
	}
	return err
}

// over is what stops a message of a request that has ended with a cause.
func over(cause error) error {
	if errors.Is(cause, ErrShutdown) || errors.Is(cause, ErrExpired) {
		return tap.Because(mcp.DropClosed, cause)
	}
	return tap.Because(mcp.DropCancelled, cause)
}

// answer sends the response, unless the client has cancelled.
//
// Spec: 2026-07-28 basic/patterns/cancellation#behavior-requirements.
func (l *returnPath) answer(ctx context.Context, m *jsonrpc.Message, result any, err error) {
	switch cause := context.Cause(l.ctx); { //nolint:contextcheck // the reason for which the request ended
	case cause == nil:
	case errors.Is(cause, ErrCancelRequest):
		result, err = nil, Cancelled()
	case errors.Is(cause, ErrShutdown) || errors.Is(cause, ErrExpired):
		if err != nil {
			err = jsonrpc.Errorf(jsonrpc.CodeInternalError, "%v", cause)
		}
	default: // ErrCancelled, or the client is gone
		if err == nil {
			l.seen.Drop(mcp.Sent, mcp.DropCancelled, m.Method, cause)
		}
		l.drop()
		return
	}
	buffer := wire.NewBuffer()
	frame, failed := l.encode(ctx, buffer.Room(), m, result, err)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done {
		return
	}
	l.done = true
	if err := l.out.Answer(ctx, frame, failed); err != nil {
		l.log.DebugContext(ctx, "answer not delivered", "method", m.Method, "error", err)
		l.seen.DropFrame(mcp.Sent, tap.ReasonOf(err), m.Method, frame, err)
		return // with the frame: a write that was given up may still be reading it
	}
	buffer.Reuse(frame)
}

// encode appends the response to dst.
func (l *returnPath) encode(ctx context.Context, dst []byte, m *jsonrpc.Message, result any, err error) ([]byte, *Failure) {
	if err == nil {
		if result == nil {
			result = struct{}{}
		}
		frame, err := appendResult(dst, m.ID, result)
		if err == nil {
			return frame, nil
		}
		l.log.ErrorContext(ctx, "result has no JSON form", "method", m.Method, "error", err)
		return l.encodeError(dst, m.ID, jsonrpc.Errorf(jsonrpc.CodeInternalError, "internal error"))
	}
	frame, failed := l.encodeError(dst, m.ID, wireError(ctx, err, l.facts, l.log, m.Method))
	if denied, ok := errors.AsType[*mcp.ForbiddenError](err); ok {
		failed.Forbidden, failed.Challenge = true, denied.Challenge
	}
	return frame, failed
}

// appendResult fails when the result panics while it is encoded, as a method of
// its own may.
func appendResult(dst []byte, id jsonrpc.ID, result any) (frame []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return jsonrpc.AppendResult(slices.Grow(dst, resultSize(result)), id, result)
}

func (l *returnPath) encodeError(dst []byte, id jsonrpc.ID, failed *jsonrpc.Error) ([]byte, *Failure) {
	frame, err := jsonrpc.Append(dst, jsonrpc.NewError(id, failed))
	if err != nil { // the data was not JSON
		failed = jsonrpc.Errorf(failed.Code, "%s", failed.Message)
		frame, _ = jsonrpc.Append(dst, jsonrpc.NewError(id, failed))
	}
	return frame, &Failure{Error: failed, Malformed: l.malformed}
}

func (l *returnPath) drop() {
	l.mu.Lock()
	l.done = true
	l.mu.Unlock()
	if d, ok := l.out.(Dropper); ok {
		d.Dropped()
	}
}

// notify shapes a notification for the revision and sends it.
func (l *returnPath) notify(ctx context.Context, method string, params any) error {
	m, err := jsonrpc.NewNotification(method, shapeParams(params, l.facts))
	if err != nil {
		l.seen.Drop(mcp.Sent, mcp.DropNoForm, method, err)
		return err
	}
	return l.message(ctx, m)
}

// statelessBack is the Backchannel of a stateless exchange: it answers questions out
// of what the request brought along, and remembers the ones that are open.
type statelessBack struct {
	returnPath
	state  state
	peer   *mcp.Peer
	method string
	level  mcp.LoggingLevel

	mu    sync.Mutex
	asked *mcp.InputRequired
}

func (r *statelessBack) Notify(ctx context.Context, method string, params any) error {
	if raw, ok := params.(json.RawMessage); ok {
		return r.relay(ctx, r, method, raw)
	}
	return r.notify(ctx, method, params)
}

// LogEnabled is false unless the request asked for log messages.
//
// Spec: 2026-07-28 server/utilities/logging#per-request-log-level.
func (r *statelessBack) LogEnabled(level mcp.LoggingLevel) bool {
	return r.level != "" && level.Severity() >= r.level.Severity()
}

func (r *statelessBack) Input(_ context.Context, questions ...mcp.InputRequest) ([]json.RawMessage, error) {
	if !mayAsk(r.method) {
		return nil, fmt.Errorf("%s cannot ask the client for input", r.method)
	}
	answers := make([]json.RawMessage, len(questions))
	open := new(mcp.InputRequired)
	for i, q := range questions {
		if err := missing(q, &r.peer.Capabilities); err != nil {
			return nil, err
		}
		// An answer that is no object is none, and is asked for again.
		// Spec: 2026-07-28 basic/patterns/mrtr#error-handling.
		if answer := r.state.Answers[q.Key]; isObject(answer) {
			answers[i] = answer
			continue
		}
		open.Requests = append(open.Requests, q)
	}
	if len(open.Requests) == 0 {
		return answers, nil
	}
	r.mu.Lock()
	r.asked = open
	r.mu.Unlock()
	return nil, open
}

func (r *statelessBack) Once(ctx context.Context, key string, f func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
	r.mu.Lock()
	done, ok := r.state.Done[key]
	r.mu.Unlock()
	if ok {
		return done, nil
	}
	result, err := f(ctx)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state.Done == nil {
		r.state.Done = make(map[string]json.RawMessage)
	}
	r.state.Done[key] = result
	return result, nil
}

// noBack is the Backchannel of notifications.
type noBack struct{ seen *tap.Conn }

var errNotification = errors.New("a notification has no answer and no way back")

func (b noBack) Notify(_ context.Context, method string, _ any) error {
	b.seen.Drop(mcp.Sent, mcp.DropNoWayBack, method, nil)
	return errNotification
}
func (noBack) LogEnabled(mcp.LoggingLevel) bool { return false }
func (noBack) Input(context.Context, ...mcp.InputRequest) ([]json.RawMessage, error) {
	return nil, errNotification
}

func (noBack) Once(ctx context.Context, _ string, f func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
	return f(ctx)
}
