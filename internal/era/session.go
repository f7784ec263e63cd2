package era

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/parley-mcp/parley/internal/calls"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Session is the session of one client, in a revision up to 2025-11-25. The
// transport that created it decides how long it lives.
//
// Spec: 2025-11-25 basic/lifecycle.
type Session struct {
	handler  mcp.Handler
	opts     mcp.ServeOptions
	standing Out // for messages that belong to no request
	seen     *tap.Conn
	calls    calls.Table
	ctx      context.Context //nolint:containedctx // the session's lifetime: ended by Close
	end      context.CancelCauseFunc
	uses     uses

	agreed atomic.Pointer[agreement] // nil until initialize

	mu            sync.Mutex
	ready         bool // notifications/initialized came
	level         mcp.LoggingLevel
	awaited       map[string]chan struct{} // tasks of the client that are waited for, by their IDs
	subscriptions map[string]*subscribedTo // by resource URI; "" stands for changes of lists
	queue         changes
	telling       sync.WaitGroup
}

// agreement is what was negotiated by initialize. It does not change.
type agreement struct {
	facts    *revision.Facts
	declared *mcp.ServerCapabilities
	peer     mcp.Peer
	session  *mcp.Session
	over     func() // ends session
}

// NewSession returns a session that waits for initialize. standing takes the
// messages that belong to no request, and seen observes the connection.
func NewSession(h mcp.Handler, opts mcp.ServeOptions, standing Out, seen *tap.Conn) *Session {
	s := &Session{handler: h, opts: WithDefaults(&opts), standing: standing, seen: seen, level: mcp.LevelInfo, subscriptions: map[string]*subscribedTo{}}
	s.uses.n.Store(1) // until Close
	s.ctx, s.end = context.WithCancelCause(context.Background())
	s.queue.wake, s.queue.conn = s.wake, seen
	return s
}

// Close ends the session: questions to the client fail with the cause, and no
// change is sent after it has returned. The mcp.Session ends with the last request.
func (s *Session) Close(cause error) {
	s.calls.Close(cause)
	s.mu.Lock()
	first := s.ctx.Err() == nil
	s.end(cause)
	subscriptions := s.subscriptions
	s.subscriptions = map[string]*subscribedTo{}
	s.mu.Unlock()
	for _, sub := range subscriptions {
		sub.end()
	}
	s.telling.Wait()
	if first {
		s.leave()
	}
}

// Facts returns the facts of the session's revision, or nil before
// initialize.
func (s *Session) Facts() *revision.Facts {
	if a := s.agreed.Load(); a != nil {
		return a.facts
	}
	return nil
}

// Inline reports whether a message changes the state of the session, and so has to
// be served before the next one is read.
func Inline(m *jsonrpc.Message) bool {
	return m.Kind == jsonrpc.Response || m.Method == mcp.MethodInitialize || m.Method == mcp.NoteInitialized
}

// Receive serves one message. ctx ends with the cause ErrCancelled when the
// client no longer wants the answer.
func (s *Session) Receive(ctx context.Context, m *jsonrpc.Message, out Out, sender Sender) {
	if s.uses.enter() {
		defer s.leave()
	}
	switch m.Kind {
	case jsonrpc.Response:
		if id, ok := s.calls.Settle(m); !ok {
			s.opts.Logger.DebugContext(ctx, "answer to a question that was not asked", "id", m.ID.String())
			s.seen.Drop(mcp.Received, mcp.DropUnasked, "", nil)
		} else if id != m.ID {
			s.opts.Logger.WarnContext(ctx, "the client answered under an ID of another type; taken for the one it was asked under",
				"asked", id.String(), "answered", m.ID.String())
		}
		return
	case jsonrpc.Notification:
		s.notice(ctx, m, sender)
		return
	case jsonrpc.Request:
	}
	back := &sessionBack{returnPath: returnPath{ctx: ctx, out: out, facts: s.Facts(), log: s.opts.Logger, seen: s.seen}, session: s}
	if back.facts == nil {
		back.facts = revision.Oldest()
	}
	d, err := s.descriptor(ctx, m, sender)
	var result any
	switch {
	case err != nil:
	case d != nil && d.Connection:
		result, err = s.configure(ctx, m, d, back, sender)
	default:
		result, err = s.run(ctx, m, back, sender)
	}
	back.answer(ctx, m, result, err)
	if back.made != nil {
		s.watchTask(back.by, back.made) //nolint:contextcheck // the task outlives the request
	}
}

// descriptor returns the descriptor of a request's method, or nil for a method that
// the protocol does not define. The error says why the request cannot be served.
// Until the session is open, only initialize and ping can be.
func (s *Session) descriptor(ctx context.Context, m *jsonrpc.Message, sender Sender) (*mcp.Method, error) {
	facts := s.Facts()
	if facts != nil {
		return descriptorOf(m, facts)
	}
	desc, err := s.describe(ctx, sender)
	if err != nil {
		return nil, err
	}
	if m.Method == mcp.MethodInitialize || m.Method == mcp.MethodPing && len(revision.Session(desc.Revisions)) > 0 {
		return descriptorOf(m, revision.Default(nil, false))
	}
	return nil, Unopened(m, desc.Revisions)
}

// configure serves a request that opens the session or changes its state.
func (s *Session) configure(ctx context.Context, m *jsonrpc.Message, d *mcp.Method, back *sessionBack, sender Sender) (any, error) {
	desc, err := s.describe(ctx, sender)
	if err != nil {
		return nil, err
	}
	if !desc.Capabilities.Offers(d) {
		return nil, &mcp.MethodNotFoundError{Method: m.Method}
	}
	switch m.Method {
	case mcp.MethodInitialize:
		return s.initialize(ctx, m, sender, desc)
	case mcp.MethodPing:
		return struct{}{}, nil
	case mcp.MethodSetLevel:
		return s.setLevel(m)
	case mcp.MethodSubscribe:
		return s.subscribe(ctx, m, back, sender)
	case mcp.MethodUnsubscribe:
		return s.unsubscribe(m)
	}
	return nil, &mcp.MethodNotFoundError{Method: m.Method}
}

// describe asks the handler what it offers to the sender of a message.
func (s *Session) describe(ctx context.Context, sender Sender) (*mcp.Description, error) {
	peer := sender.peer()
	return described(ctx, s.handler, &peer, s.opts.Logger)
}

func orEmpty(params []byte) []byte {
	if params == nil {
		return []byte("{}")
	}
	return params
}

// notice serves a notification.
func (s *Session) notice(ctx context.Context, m *jsonrpc.Message, sender Sender) {
	if s.Facts() == nil {
		s.opts.Logger.DebugContext(ctx, "notification before initialize", "method", m.Method)
		s.seen.Drop(mcp.Received, mcp.DropTooEarly, m.Method, nil)
		return
	}
	if m.Method == mcp.NoteTaskStatus && s.heard(m) {
		return
	}
	x := newExchange(m, s.seen)
	x.Header, x.Back, x.Peer, x.Session = sender.Header, noBack{s.seen}, s.client(sender), s.agreed.Load().session
	if m.Method == mcp.NoteInitialized {
		s.start(ctx, x)
		return
	}
	guard(ctx, s.handler, x, s.opts.Logger)
}

// client returns the sender of a message. Each message may come with its own credentials.
func (s *Session) client(sender Sender) mcp.Peer { return s.agreed.Load().with(sender) }

func (a *agreement) with(sender Sender) mcp.Peer {
	peer := a.peer
	peer.Authorization, peer.Source = sender.Authorization, sender.Source
	return peer
}

// run has the handler serve a request. If the handler returns an InputRequired
// that it made itself, its questions are asked here, and the handler runs again.
func (s *Session) run(ctx context.Context, m *jsonrpc.Message, back *sessionBack, sender Sender) (result any, err error) {
	defer rescue(ctx, s.handler, m.Method, s.opts.Logger, &result, &err) // shaping the result may panic as well
	x, err := s.exchange(m, back, sender)
	if err != nil {
		return nil, err
	}
	if x.Task, err = s.agreed.Load().taskOffer(m); err != nil {
		return nil, err
	}
	for range s.opts.MaxRounds {
		result, err = s.handler.Serve(ctx, x)
		if err == nil {
			return s.finish(m, x, back, result)
		}
		ask, asks := errors.AsType[*mcp.InputRequired](err)
		switch {
		case !asks:
			return nil, err
		case ask.VisitFirst:
			return nil, back.visitFirst(ask)
		}
		if err := s.bridge(ctx, x, back, ask); err != nil {
			return nil, err
		}
	}
	return nil, jsonrpc.Errorf(jsonrpc.CodeInternalError, "the request asked for input more than %d times", s.opts.MaxRounds)
}

// finish returns what a handler has returned in the form of the session.
func (s *Session) finish(m *jsonrpc.Message, x *mcp.Exchange, back *sessionBack, result any) (any, error) {
	shaped, err := form{facts: back.facts, client: &x.Peer.Capabilities}.result(m.Method, result)
	switch {
	case err != nil:
		return nil, err
	case x.Task != nil:
		back.made, back.by = handedOut(result), x
	case m.Method == mcp.MethodTaskResult:
		// Spec: 2025-11-25 basic/utilities/tasks#related-task-metadata.
		return withRelated(shaped, mcp.MethodNamed(m.Method).SubjectOf(m.Params))
	}
	return shaped, nil
}

// exchange makes the exchange of a request.
func (s *Session) exchange(m *jsonrpc.Message, back *sessionBack, sender Sender) (*mcp.Exchange, error) {
	meta, x := readMeta(m), newExchange(m, s.seen)
	if err := meta.fill(x); err != nil {
		return nil, err
	}
	x.Peer, x.Header, x.Detach, x.Session = s.client(sender), sender.Header, sender.Detach, s.agreed.Load().session
	x.Back, back.peer, back.token = back, &x.Peer, x.ProgressToken
	return x, nil
}

// bridge asks the questions of an InputRequired that the handler made itself, and
// records the answers for its next run.
func (s *Session) bridge(ctx context.Context, x *mcp.Exchange, back *sessionBack, ask *mcp.InputRequired) error {
	answers, err := back.Input(ctx, ask.Requests...)
	if err != nil {
		return err
	}
	next := make(map[string]json.RawMessage, len(x.Answers)+len(answers))
	maps.Copy(next, x.Answers)
	for i, q := range ask.Requests {
		next[q.Key] = answers[i]
	}
	x.Answers = next
	if ask.State != nil {
		x.State = ask.State
	}
	return nil
}

// Spec: 2025-11-25 server/utilities/logging#setting-log-level.
func (s *Session) setLevel(m *jsonrpc.Message) (any, error) {
	var p mcp.SetLevelParams
	if err := wire.Unmarshal(orEmpty(m.Params), &p); err != nil {
		return nil, mcp.InvalidParams("params: %v", err)
	}
	if p.Level.Severity() < 0 {
		return nil, mcp.InvalidParams("%q is not a log level", p.Level)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.level = p.Level
	return struct{}{}, nil
}

func (s *Session) logLevel() mcp.LoggingLevel {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.level
}

// Notify sends a notification that belongs to no request.
func (s *Session) Notify(ctx context.Context, method string, params any) error {
	facts := s.Facts()
	if facts == nil {
		return fmt.Errorf("%s: the session is not initialized", method)
	}
	m, err := jsonrpc.NewNotification(method, shapeParams(params, facts))
	if err != nil {
		return err
	}
	frame, err := jsonrpc.Append(nil, m)
	if err != nil {
		return err
	}
	return s.standing.Message(ctx, frame)
}
