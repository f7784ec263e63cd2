package era

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/question"
	"github.com/parley-mcp/parley/internal/related"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// sessionBack is the Backchannel of an exchange in a session: a question is a
// request to the client, on the stream of the exchange, whose answer is awaited.
//
// Spec: 2025-11-25 client/elicitation#creating-elicitation-requests.
type sessionBack struct {
	returnPath
	session *Session

	mu   sync.Mutex
	done map[string]json.RawMessage

	// made is the task that the answer hands out, and by is who asked; nil if there
	// is none. Only the goroutine that serves the request uses them.
	made *mcp.Task
	by   *mcp.Exchange
}

func (b *sessionBack) Notify(ctx context.Context, method string, params any) error {
	// A visit may take longer than the request that it was asked for in.
	if method == mcp.NoteElicitationComplete && b.ended() && b.facts.Has(method) {
		return b.session.Notify(ctx, method, params)
	}
	if id := related.Task(ctx); id != "" {
		return b.notifyTask(ctx, method, params, id)
	}
	if raw, ok := params.(json.RawMessage); ok {
		return b.relay(ctx, b, method, raw)
	}
	return b.notify(ctx, method, params)
}

func (b *sessionBack) LogEnabled(level mcp.LoggingLevel) bool {
	return b.session.handler.Describe(b.ctx, b.peer).Capabilities.Logging != nil &&
		level.Severity() >= b.session.logLevel().Severity()
}

var errNotReady = errors.New("the client cannot be asked before it has sent " + mcp.NoteInitialized)

func (b *sessionBack) Input(ctx context.Context, questions ...mcp.InputRequest) ([]json.RawMessage, error) {
	// Spec: 2025-11-25 basic/lifecycle#initialization.
	if !b.session.initialized() {
		return nil, errNotReady
	}
	for _, q := range questions {
		if err := question.Missing(q, &b.peer.Capabilities); err != nil {
			return nil, err
		}
		if err := askable(q, b.facts); err != nil {
			return nil, err
		}
	}
	answers, errs := make([]json.RawMessage, len(questions)), make([]error, len(questions))
	if len(questions) == 1 {
		answers[0], errs[0] = b.ask(ctx, questions[0])
		return answers, errs[0]
	}
	var wg sync.WaitGroup
	for i, q := range questions {
		wg.Go(func() { answers[i], errs[i] = b.ask(ctx, q) })
	}
	wg.Wait()
	return answers, errors.Join(errs...)
}

// unansweredError is the cause of a question's context once the client has had its
// time.
type unansweredError struct {
	method string
	within time.Duration
}

func (e *unansweredError) Error() string {
	return fmt.Sprintf("the client did not answer %s within %s, the AnswerTimeout of mcp.ServeOptions", e.method, e.within)
}

func (e *unansweredError) Unwrap() error { return context.DeadlineExceeded }

// ask puts one question to the client, and withdraws it if there is no answer in
// time.
//
// Spec: 2025-11-25 basic/lifecycle#timeouts.
func (b *sessionBack) ask(ctx context.Context, q mcp.InputRequest) (json.RawMessage, error) {
	limit := b.session.opts.AnswerTimeout
	ctx, expire := context.WithTimeoutCause(ctx, limit, &unansweredError{q.Method, limit})
	defer expire()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(b.ctx, func() { cancel(context.Cause(b.ctx)) }) //nolint:contextcheck // the request may end before ctx
	defer stop()

	q = lowerQuestion(q, b.facts, &b.peer.Capabilities)
	b.identify(&q)
	if q.Task != "" {
		named, err := withRelated(q.Params, q.Task)
		if err != nil {
			return nil, err
		}
		q.Params = named
	}
	if !b.asksAsTask(q.Method) {
		return b.request(ctx, q.Method, q.Params)
	}
	params, err := b.demandingTask(q.Params)
	if err != nil {
		return nil, err
	}
	answer, err := b.request(ctx, q.Method, params)
	if err != nil {
		return nil, err
	}
	return b.await(ctx, answer)
}

// request sends a request to the client and returns its result.
func (b *sessionBack) request(ctx context.Context, method string, params any) (json.RawMessage, error) {
	call, err := b.session.calls.New()
	if err != nil {
		return nil, err
	}
	m, err := jsonrpc.NewRequest(call.ID, method, params)
	if err == nil {
		err = b.message(ctx, m)
	}
	if err != nil {
		call.Forget()
		return nil, err
	}
	if w, ok := b.out.(Waiter); ok {
		w.Waits()
	}
	answer, err := call.Wait(ctx)
	if err != nil {
		b.log.DebugContext(ctx, "question withdrawn", "method", method, "id", call.ID.String(), "reason", err)
		b.withdraw(ctx, call.ID, err)
		return nil, err
	}
	if answer.Error != nil {
		return nil, fmt.Errorf("the client answered %s with an error: %w", method, &clientError{answer.Error})
	}
	return answer.Result, nil
}

// clientError hides an error of the client from errors.As, so that it is not taken
// for the error that this server wants to answer with.
type clientError struct{ rpc *jsonrpc.Error }

func (e *clientError) Error() string { return e.rpc.Error() }

// Refused implements question.Refusal.
func (e *clientError) Refused() {}

// withdraw tells the client that an answer is no longer wanted.
//
// Spec: 2025-11-25 basic/utilities/cancellation#cancellation-flow.
func (b *sessionBack) withdraw(ctx context.Context, id jsonrpc.ID, why error) {
	m, err := jsonrpc.NewNotification(mcp.NoteCancelled, &mcp.CancelledParams{RequestID: id, Reason: why.Error()})
	if err != nil {
		return
	}
	frame, err := jsonrpc.Append(nil, m)
	if err != nil {
		return
	}
	if err := b.out.Message(context.WithoutCancel(ctx), frame); err != nil { // the client may be gone, as well
		b.seen.DropFrame(mcp.Sent, tap.ReasonOf(err), mcp.NoteCancelled, frame, err)
	}
}

// identify gives a URL elicitation the identifier that 2025-11-25 requires, and
// reports whether it is one.
//
// Spec: 2025-11-25 client/elicitation#url-mode-elicitation-requests.
func (b *sessionBack) identify(q *mcp.InputRequest) bool {
	typed, err := question.Decode(*q)
	p, ok := typed.Params.(*mcp.ElicitParams)
	if err != nil || !ok || p.Mode != mcp.ElicitURL || !b.facts.ElicitationID {
		return false
	}
	if p.ElicitationID != "" {
		return true
	}
	p.ElicitationID = rand.Text()
	if raw, ok := q.Params.(json.RawMessage); ok {
		if q.Params, err = replace(raw, "elicitationId", p); err != nil {
			q.Params = p
		}
	}
	return true
}

// visitFirst returns the error that answers a request which cannot be served before
// the user has visited URLs.
//
// Spec: 2025-11-25 client/elicitation#url-elicitation-required-error.
func (b *sessionBack) visitFirst(ask *mcp.InputRequired) error {
	var visits []any
	for _, q := range ask.Requests {
		if err := question.Missing(q, &b.peer.Capabilities); err != nil {
			return err
		}
		q = lowerQuestion(q, b.facts, &b.peer.Capabilities)
		if !b.identify(&q) {
			return fmt.Errorf("question %q is no visit to a URL, and so cannot come first", q.Key)
		}
		visits = append(visits, q.Params)
	}
	return withData(jsonrpc.Errorf(mcp.CodeURLElicitation, "the user has to visit a URL first"), map[string]any{"elicitations": visits})
}

// Once keeps results for the whole exchange: in a session, too, the handler runs
// again after it has returned an InputRequired that it made itself.
func (b *sessionBack) Once(ctx context.Context, key string, f func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
	b.mu.Lock()
	done, ok := b.done[key]
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
	if b.done == nil {
		b.done = make(map[string]json.RawMessage)
	}
	b.done[key] = result
	return result, nil
}
