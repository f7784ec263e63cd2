package era

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"github.com/parley-mcp/parley/internal/question"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Stateless serves stateless requests. One value serves every client and every
// connection, and nothing of one request is visible in another.
//
// Spec: 2026-07-28 basic#statelessness.
type Stateless struct {
	handler mcp.Handler
	opts    mcp.ServeOptions
	seal    *sealer
	// unknown are the facts to apply while a message's revision is not known.
	unknown *revision.Facts

	// Encoded and decoded forms that are the same every time.
	name         naming
	infos        recent[mcp.Implementation]
	capabilities recent[mcp.ClientCapabilities]
}

// NewStateless returns the stateless front for a handler. It fails when h is nil,
// or a state key has the wrong size.
func NewStateless(h mcp.Handler, opts mcp.ServeOptions) (*Stateless, error) {
	if h == nil {
		return nil, errors.New("the mcp.Handler is nil; pass a server, such as that of server.New")
	}
	opts = WithDefaults(&opts)
	seal, err := newSealer(opts.StateKeys)
	if err != nil {
		return nil, err
	}
	return &Stateless{handler: h, opts: opts, seal: seal, unknown: revision.Default(nil, true)}, nil
}

// Receive serves one request or notification. ctx ends with the cause
// ErrCancelled when the client no longer wants the answer.
func (s *Stateless) Receive(ctx context.Context, m *jsonrpc.Message, out Out, sender Sender) {
	if m.Kind == jsonrpc.Notification {
		s.notice(ctx, m, sender)
		return
	}
	back := &statelessBack{returnPath: returnPath{ctx: ctx, out: out, facts: s.unknown, log: s.opts.Logger, seen: sender.Seen}, method: m.Method}
	x, desc, err := s.read(ctx, m, back, sender)
	var result any
	switch {
	case err != nil:
	case m.Method == mcp.MethodDiscover:
		result = s.discover(desc, back.facts)
	case m.Method == mcp.MethodListen:
		result, err = s.listen(ctx, x, &back.returnPath, desc)
	default:
		result, err = s.run(ctx, m, x, back, desc)
	}
	back.answer(ctx, m, result, err)
}

// read reads from a request who asks for what, and in which revision.
//
// Spec: 2026-07-28 basic#meta.
func (s *Stateless) read(ctx context.Context, m *jsonrpc.Message, back *statelessBack, sender Sender) (*mcp.Exchange, *mcp.Description, error) {
	meta, x := readMeta(m), newExchange(m, sender.Seen)
	x.Mirrored, x.Header, x.Back, back.peer = sender.Mirrored, sender.Header, back, &x.Peer
	x.Peer = sender.peer()
	desc, err := described(ctx, s.handler, &x.Peer, s.opts.Logger)
	if err != nil {
		return nil, nil, err
	}
	facts, err := meta.facts(desc.Revisions)
	if err == nil {
		back.facts, x.Peer.Revision = facts, facts.Revision
	}
	if m.Method == mcp.MethodInitialize {
		return nil, nil, noInitialize(m, err, back.facts, desc.Revisions)
	}
	if err == nil {
		err = s.fill(&meta, x, back)
	}
	if err != nil {
		back.malformed = true
		return nil, nil, err
	}
	if desc.Capabilities.Logging == nil {
		back.level = ""
	}
	d, err := descriptorOf(m, facts)
	if err == nil {
		err = permitted(d, &x.Peer.Capabilities, desc)
	}
	return x, desc, err
}

// fill reads the rest of a request's _meta, once the revision is known.
func (s *Stateless) fill(meta *requestMeta, x *mcp.Exchange, back *statelessBack) (err error) {
	if err := s.client(meta, &x.Peer, back.facts); err != nil {
		return err
	}
	if back.level, err = meta.level(); err != nil {
		return err
	}
	err = meta.fill(x)
	back.token = x.ProgressToken
	return err
}

// run has the handler serve one round of a request.
func (s *Stateless) run(ctx context.Context, m *jsonrpc.Message, x *mcp.Exchange, back *statelessBack, desc *mcp.Description) (result any, err error) {
	defer rescue(ctx, s.handler, m.Method, s.opts.Logger, &result, &err) // shaping the result may panic as well
	if err := s.resume(&back.state, m, owner(x.Peer.Principal, x.Peer.Authorization)); err != nil {
		return nil, err
	}
	x.Answers, x.State, x.Task = back.state.Answers, back.state.User, offerOf(x)
	result, err = endedIsFine(s.handler.Serve(ctx, x))
	switch ask, asks := errors.AsType[*mcp.InputRequired](err); {
	case asks:
		return s.inputRequired(m, &back.state, ask, x, desc)
	case err != nil:
		return nil, err
	case back.asked != nil:
		s.opts.Logger.ErrorContext(ctx, "a handler dropped the *mcp.InputRequired error that it has to return",
			"method", m.Method, "questions", back.asked.Error())
		return nil, errors.New("a question to the client was lost")
	}
	return form{back.facts, s.name.brief(&desc.Info), &x.Peer.Capabilities}.result(m.Method, result)
}

// client reads what the client declares about itself.
func (s *Stateless) client(meta *requestMeta, peer *mcp.Peer, f *revision.Facts) error {
	if meta.capabilities == nil {
		return missingMeta(mcp.MetaClientCapabilities)
	}
	if !isObject(meta.capabilities) {
		return mcp.InvalidParams("params._meta: %q must be an object", mcp.MetaClientCapabilities)
	}
	declared, err := s.capabilities.decode(meta.capabilities, cloneCapabilities)
	if err != nil {
		return badMeta(mcp.MetaClientCapabilities, err)
	}
	peer.Capabilities = shapeClientCapabilities(declared, f)
	if meta.info == nil {
		return nil
	}
	if peer.Info, err = s.infos.decode(meta.info, cloneImplementation); err != nil {
		return badMeta(mcp.MetaClientInfo, err)
	}
	if peer.Info.Name == "" || peer.Info.Version == "" {
		if lacking := unnamedPart(meta.info); lacking != "" {
			return mcp.InvalidParams("params._meta: %q must have a %s", mcp.MetaClientInfo, lacking)
		}
	}
	return nil
}

func missingMeta(key string) error {
	return mcp.InvalidParams("params._meta must have %q", key)
}

func contains(list []mcp.Revision, r mcp.Revision) bool {
	return slices.Contains(list, r)
}

// discover advertises the server. Session revisions are listed too: the
// server speaks them when a client opens with initialize.
//
// Spec: 2026-07-28 server/discover#response.
func (s *Stateless) discover(desc *mcp.Description, f *revision.Facts) any {
	r := &mcp.DiscoverResult{
		CacheFields:       desc.Cache,
		SupportedVersions: names(revision.Newest(desc.Revisions)),
		Capabilities:      shapeServerCapabilities(desc.Capabilities, f),
		Instructions:      desc.Instructions,
	}
	info := shapeImplementation(desc.Info, f)
	stamp(&r.ResultFields, nameMeta(&info)) // in full
	cacheable(&r.CacheFields)
	return r
}

// notice serves a notification.
func (s *Stateless) notice(ctx context.Context, m *jsonrpc.Message, sender Sender) {
	x := newExchange(m, sender.Seen)
	x.Header, x.Back = sender.Header, noBack{sender.Seen}
	x.Peer = sender.peer()
	x.Peer.Revision = s.unknown.Revision
	guard(ctx, s.handler, x, s.opts.Logger)
}

// inputRequired returns the result that asks the open questions, with the state so
// far sealed in it.
//
// Spec: 2026-07-28 basic/patterns/mrtr#server-requirements-basic-workflow.
func (s *Stateless) inputRequired(m *jsonrpc.Message, st *state, ask *mcp.InputRequired, x *mcp.Exchange, desc *mcp.Description) (any, error) {
	if !mayAsk(m.Method) {
		return nil, fmt.Errorf("%s cannot ask the client for input", m.Method)
	}
	if st.Round++; st.Round > s.opts.MaxRounds {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInternalError, "the request asked for input more than %d times", s.opts.MaxRounds)
	}
	result := &mcp.InputRequiredResult{}
	stamp(&result.ResultFields, s.name.brief(&desc.Info).meta)
	result.ResultType = mcp.ResultInputRequired
	st.Asked = nil
	for _, q := range ask.Requests {
		if err := question.Missing(q, &x.Peer.Capabilities); err != nil {
			return nil, err
		}
		if result.InputRequests[q.Key] != nil {
			return nil, fmt.Errorf("%s asks two questions with the key %q", m.Method, q.Key)
		}
		if result.InputRequests == nil {
			result.InputRequests = make(map[string]*mcp.InputRequest)
		}
		lowered := lowerQuestion(q, revision.Of(x.Peer.Revision), &x.Peer.Capabilities)
		result.InputRequests[q.Key] = &lowered
		st.Asked = append(st.Asked, q.Key)
	}
	if ask.State != nil {
		st.User = ask.State
	}
	var err error
	if st.Request == nil { // a first round
		if st.Request, err = digest(m); err != nil {
			return nil, err
		}
	}
	st.Expires = time.Now().Add(s.opts.StateTTL).Unix()
	result.RequestState, err = s.seal.seal(st)
	return result, err
}

// guard has the handler serve a notification, protected by rescue.
func guard(ctx context.Context, h mcp.Handler, x *mcp.Exchange, log *slog.Logger) {
	var result any // nobody waits for it
	var failed error
	defer rescue(ctx, h, x.Method, log, &result, &failed)
	_, err := h.Serve(ctx, x)
	if err == nil {
		return
	}
	log.DebugContext(ctx, "notification not handled", "method", x.Method, "error", err)
	if _, unknown := errors.AsType[*mcp.MethodNotFoundError](err); unknown {
		x.Drop(mcp.DropNoTaker, x.Method, nil)
	}
}

// rescue must be deferred: it turns a panic, of a handler or of its result, into
// the failure of that one request, unless the handler wants panics to end the
// process.
func rescue(ctx context.Context, h mcp.Handler, method string, log *slog.Logger, result *any, err *error) {
	p := recover()
	if p == nil {
		return
	}
	if crashes(ctx, h) {
		crash(p)
	}
	log.ErrorContext(ctx, "handler panicked", "method", method, "panic", p, "stack", string(debug.Stack()))
	*result, *err = nil, jsonrpc.Errorf(jsonrpc.CodeInternalError, "internal error")
}

// crash ends the process with a handler's panic. It panics on a new goroutine,
// because net/http recovers from panics on its own.
func crash(p any) {
	stack := debug.Stack()
	go panic(fmt.Sprintf("%v\n\n%s", p, stack)) // ends the process
	select {}
}
