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

	"github.com/parley-mcp/parley/internal/question"
	"github.com/parley-mcp/parley/internal/related"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

var errAnswered = tap.Because(mcp.DropAnswered, errors.New("the exchange is over: its answer was sent"))

// returnPath carries what one exchange, of either era, sends to its client. It
// keeps the order: nothing is sent after the answer.
type returnPath struct {
	ctx   context.Context //nolint:containedctx // the request's own; ends with the request
	out   Out
	facts *revision.Facts
	peer  *mcp.Peer // of the exchange; nil until it is known
	log   *slog.Logger
	seen  *tap.Conn
	// malformed says that the request was refused before a handler saw it.
	malformed bool
	// token is the exchange's progress token, for progress that is passed on.
	token mcp.ProgressToken

	mu   sync.Mutex
	done bool
}

// message sends a notification or a request that precedes the answer.
func (p *returnPath) message(ctx context.Context, m *jsonrpc.Message) error {
	frame, err := jsonrpc.Append(nil, m)
	if err != nil {
		p.seen.Drop(mcp.Sent, mcp.DropNoForm, m.Method, err)
		return err
	}
	return p.send(ctx, frame)
}

// send sends a frame that precedes the answer.
func (p *returnPath) send(ctx context.Context, frame []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := error(nil)
	switch {
	case p.done:
		err = errAnswered
	case p.ctx.Err() != nil:
		err = over(context.Cause(p.ctx)) //nolint:contextcheck // the reason for which the request ended
	default:
		err = p.out.Message(ctx, frame)
	}
	if err != nil {
		p.seen.DropFrame(mcp.Sent, tap.ReasonOf(err), "", frame, err)
	}
	return err
}

// ended reports whether nothing more can be sent, because the request was answered
// or cancelled.
func (p *returnPath) ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done || p.ctx.Err() != nil
}

// over returns the error that stops a message of a request that has ended with
// a cause.
func over(cause error) error {
	if errors.Is(cause, ErrShutdown) || errors.Is(cause, ErrExpired) {
		return tap.Because(mcp.DropClosed, cause)
	}
	return tap.Because(mcp.DropCancelled, cause)
}

// answer sends the response, unless the client has cancelled.
//
// Spec: 2026-07-28 basic/patterns/cancellation#behavior-requirements.
func (p *returnPath) answer(ctx context.Context, m *jsonrpc.Message, result any, err error) {
	switch cause := context.Cause(p.ctx); { //nolint:contextcheck // the reason for which the request ended
	case cause == nil:
	case errors.Is(cause, ErrCancelRequest):
		result, err = nil, Cancelled()
	case errors.Is(cause, ErrShutdown) || errors.Is(cause, ErrExpired):
		if err != nil {
			err = jsonrpc.Errorf(jsonrpc.CodeInternalError, "%v", cause)
		}
	default: // ErrCancelled, or the client has gone away
		if err == nil {
			p.seen.Drop(mcp.Sent, mcp.DropCancelled, m.Method, cause)
		}
		p.drop()
		return
	}
	buffer := wire.NewBuffer()
	frame, failed := p.encode(ctx, buffer.Room(), m, result, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		return
	}
	p.done = true
	if err := p.out.Answer(ctx, frame, failed); err != nil {
		p.log.DebugContext(ctx, "answer not delivered", "method", m.Method, "error", err)
		p.seen.DropFrame(mcp.Sent, tap.ReasonOf(err), m.Method, frame, err)
		return // without reusing the frame: an abandoned write may still be reading it
	}
	buffer.Reuse(frame)
}

// encode appends the response to dst.
func (p *returnPath) encode(ctx context.Context, dst []byte, m *jsonrpc.Message, result any, err error) ([]byte, *Failure) {
	if err == nil {
		if result == nil {
			result = struct{}{}
		}
		frame, err := appendResult(dst, m.ID, result)
		if err == nil {
			return frame, nil
		}
		p.log.ErrorContext(ctx, "result has no JSON form", "method", m.Method, "error", err)
		return p.encodeError(dst, m.ID, jsonrpc.Errorf(jsonrpc.CodeInternalError, "internal error"))
	}
	frame, failed := p.encodeError(dst, m.ID, p.wireError(ctx, err, m.Method))
	if denied, ok := errors.AsType[*mcp.ForbiddenError](err); ok {
		failed.Forbidden, failed.Challenge = true, denied.Challenge
	}
	return frame, failed
}

// appendResult appends the response that carries result. It fails when the
// result panics while it is encoded, as its own MarshalJSON may.
func appendResult(dst []byte, id jsonrpc.ID, result any) (frame []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return jsonrpc.AppendResult(slices.Grow(dst, resultSize(result)), id, result)
}

func (p *returnPath) encodeError(dst []byte, id jsonrpc.ID, failed *jsonrpc.Error) ([]byte, *Failure) {
	frame, err := jsonrpc.Append(dst, jsonrpc.NewError(id, failed))
	if err != nil { // the data was not JSON
		failed = jsonrpc.Errorf(failed.Code, "%s", failed.Message)
		frame, _ = jsonrpc.Append(dst, jsonrpc.NewError(id, failed))
	}
	return frame, &Failure{Error: failed, Malformed: p.malformed}
}

func (p *returnPath) drop() {
	p.mu.Lock()
	p.done = true
	p.mu.Unlock()
	if d, ok := p.out.(Dropper); ok {
		d.Dropped()
	}
}

// unknown reports whether a notification of the protocol does not exist in the
// revision, and counts it as dropped.
func (p *returnPath) unknown(method string) bool {
	if p.facts.Has(method) || mcp.MethodNamed(method) == nil {
		return false
	}
	p.seen.Drop(mcp.Sent, mcp.DropNotWanted, method, nil)
	return true
}

// notify shapes a notification for the revision and sends it.
func (p *returnPath) notify(ctx context.Context, method string, params any) error {
	if p.unknown(method) {
		return nil
	}
	m, err := jsonrpc.NewNotification(method, shapeParams(params, p.facts))
	if err != nil {
		p.seen.Drop(mcp.Sent, mcp.DropNoForm, method, err)
		return err
	}
	return p.message(ctx, m)
}

// statelessBack is the Backchannel of a stateless exchange: it answers questions
// from what the request brought along, and remembers those still open.
type statelessBack struct {
	returnPath
	state  state
	method string
	level  mcp.LoggingLevel

	mu    sync.Mutex
	asked *mcp.InputRequired
}

func (b *statelessBack) Notify(ctx context.Context, method string, params any) error {
	// Spec: ext-tasks/draft tasks#task-status-notifications.
	if related.Task(ctx) != "" {
		b.seen.Drop(mcp.Sent, mcp.DropNotWanted, method, nil)
		return nil
	}
	if raw, ok := params.(json.RawMessage); ok {
		return b.relay(ctx, b, method, raw)
	}
	return b.notify(ctx, method, params)
}

// LogEnabled is false unless the request asked for log messages.
//
// Spec: 2026-07-28 server/utilities/logging#per-request-log-level.
func (b *statelessBack) LogEnabled(level mcp.LoggingLevel) bool {
	return b.level != "" && level.Severity() >= b.level.Severity()
}

func (b *statelessBack) Input(_ context.Context, questions ...mcp.InputRequest) ([]json.RawMessage, error) {
	if !mayAsk(b.method) {
		return nil, fmt.Errorf("%s cannot ask the client for input", b.method)
	}
	answers := make([]json.RawMessage, len(questions))
	open := new(mcp.InputRequired)
	for i, q := range questions {
		if err := question.Missing(q, &b.peer.Capabilities); err != nil {
			return nil, err
		}
		// An answer that is not an object counts as missing: the question is asked again.
		// Spec: 2026-07-28 basic/patterns/mrtr#error-handling.
		if answer := b.state.Answers[q.Key]; isObject(answer) {
			answers[i] = answer
			continue
		}
		open.Requests = append(open.Requests, q)
	}
	if len(open.Requests) == 0 {
		return answers, nil
	}
	b.mu.Lock()
	b.asked = open
	b.mu.Unlock()
	return nil, open
}

func (b *statelessBack) Once(ctx context.Context, key string, f func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
	b.mu.Lock()
	done, ok := b.state.Done[key]
	b.mu.Unlock()
	if ok {
		return done, nil
	}
	result, err := f(ctx)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state.Done == nil {
		b.state.Done = make(map[string]json.RawMessage)
	}
	b.state.Done[key] = result
	return result, nil
}

// noBack is the Backchannel of notifications, which lead nowhere back.
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
