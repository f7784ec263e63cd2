package era

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Stateless serves requests that stand alone. One value serves every client
// and every connection, and nothing of one request can be seen in another.
//
// Spec: 2026-07-28 basic#statelessness.
type Stateless struct {
	handler mcp.Handler
	opts    mcp.ServeOptions
	seal    *sealer

	// Encoded and decoded forms that are the same every time.
	name         naming
	infos        recent[mcp.Implementation]
	capabilities recent[mcp.ClientCapabilities]
}

// NewStateless returns the front for a handler. It fails when a state key has
// the wrong size.
func NewStateless(h mcp.Handler, opts mcp.ServeOptions) (*Stateless, error) {
	opts = opts.WithDefaults()
	seal, err := newSealer(opts.StateKeys)
	if err != nil {
		return nil, err
	}
	return &Stateless{handler: h, opts: opts, seal: seal}, nil
}

// Receive serves one request or notification. ctx ends with the cause
// ErrCancelled when the client no longer wants the answer.
func (s *Stateless) Receive(ctx context.Context, m *jsonrpc.Message, out Out, via Via) {
	if m.Kind == jsonrpc.Notification {
		s.notice(ctx, m, via)
		return
	}
	link := &link{ctx: ctx, out: out, facts: revision.Of(mcp.Revision20260728), log: s.opts.Logger}
	result, err := s.serve(ctx, m, link, via)
	link.answer(ctx, m, result, err)
}

func (s *Stateless) serve(ctx context.Context, m *jsonrpc.Message, link *link, via Via) (any, error) {
	desc := s.handler.Describe()
	x, level, err := s.exchange(m, &desc, via)
	if err != nil {
		link.malformed = true
		return nil, err
	}
	link.facts = revision.Of(x.Peer.Revision)
	switch m.Method {
	case mcp.MethodDiscover:
		return s.discover(&desc), nil
	case mcp.MethodListen:
		return s.listen(ctx, x, &desc, link)
	case mcp.MethodInitialize, mcp.MethodPing, mcp.MethodSetLevel, mcp.MethodSubscribe, mcp.MethodUnsubscribe:
		return nil, fmt.Errorf("in %s: %w", x.Peer.Revision, &mcp.MethodNotFoundError{Method: m.Method})
	}
	return s.run(ctx, m, x, level, &desc, link)
}

// run serves an exchange of the handler: one round of it.
func (s *Stateless) run(ctx context.Context, m *jsonrpc.Message, x *mcp.Exchange, level mcp.LoggingLevel, desc *mcp.Description, link *link) (any, error) {
	st, err := s.resume(m, x.Peer.Principal, time.Now())
	if err != nil {
		return nil, err
	}
	x.Answers, x.State = st.Answers, st.User
	round := &round{link: link, state: st, peer: &x.Peer, method: m.Method}
	if desc.Capabilities.Logging != nil {
		round.level = level
	}
	x.Back = round
	result, err := guard(ctx, s.handler, x, s.opts.Logger)
	if err == nil && round.asked != nil {
		s.opts.Logger.ErrorContext(ctx, "a handler dropped the *mcp.InputRequired error that it has to return",
			"method", m.Method, "questions", round.asked.Error())
		return nil, errors.New("a question to the client was lost")
	}
	var ask *mcp.InputRequired
	if errors.As(err, &ask) {
		return s.inputRequired(m, st, ask, x, desc)
	}
	if err != nil {
		return nil, err
	}
	return complete(result, s.name.brief(&desc.Info), link.facts)
}

// exchange reads who asks out of the request itself, and from which level on
// it wants log messages.
//
// Spec: 2026-07-28 basic#meta.
func (s *Stateless) exchange(m *jsonrpc.Message, desc *mcp.Description, via Via) (*mcp.Exchange, mcp.LoggingLevel, error) {
	meta := readMeta(m)
	named, err := meta.revision()
	if err != nil {
		return nil, "", err
	}
	r, ok := mcp.ParseRevision(named)
	if !ok || !StatelessRevision(r) || !revision.Permits(desc.Revisions, r) {
		return nil, "", unsupportedVersion(named, desc.Revisions)
	}
	peer := mcp.Peer{Revision: r, Principal: via.Principal, Authorization: via.Authorization}
	if err := s.client(&meta, &peer); err != nil {
		return nil, "", err
	}
	level, err := meta.level()
	if err != nil {
		return nil, "", err
	}
	x, err := meta.exchange(m)
	if err != nil {
		return nil, "", err
	}
	x.Mirrored, x.Peer = via.Mirrored, peer
	return x, level, nil
}

// client reads what the client says of itself.
func (s *Stateless) client(meta *requestMeta, peer *mcp.Peer) error {
	if meta.capabilities == nil {
		return missingMeta(mcp.MetaClientCapabilities)
	}
	if !isObject(meta.capabilities) {
		return mcp.InvalidParams("params._meta: %q must be an object", mcp.MetaClientCapabilities)
	}
	declared, err := s.capabilities.decode(meta.capabilities)
	if err != nil {
		return badMeta(mcp.MetaClientCapabilities, err)
	}
	peer.Capabilities = *declared
	if meta.info == nil {
		return nil
	}
	info, err := s.infos.decode(meta.info)
	if err != nil {
		return badMeta(mcp.MetaClientInfo, err)
	}
	peer.Info = *info
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
func (s *Stateless) discover(desc *mcp.Description) any {
	r := &mcp.DiscoverResult{
		CacheFields:       desc.Cache,
		SupportedVersions: names(revision.Newest(desc.Revisions)),
		Capabilities:      desc.Capabilities,
		Instructions:      desc.Instructions,
	}
	stamp(&r.ResultFields, encodeName(&desc.Info))
	cacheable(&r.CacheFields)
	return r
}

// notice serves a notification, which nobody waits for.
func (s *Stateless) notice(ctx context.Context, m *jsonrpc.Message, via Via) {
	x := &mcp.Exchange{Method: m.Method, Params: m.Params, Meta: m.Meta, CaseVariant: m.CaseVariant, Back: noBack{}}
	x.Peer = mcp.Peer{Principal: via.Principal, Authorization: via.Authorization, Revision: mcp.Revision20260728}
	if _, err := guard(ctx, s.handler, x, s.opts.Logger); err != nil {
		s.opts.Logger.DebugContext(ctx, "notification not handled", "method", m.Method, "error", err)
	}
}

// inputRequired seals what was learnt so far and asks for the rest.
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
	stamp(&result.ResultFields, s.name.brief(&desc.Info))
	result.ResultType = mcp.ResultInputRequired
	st.Asked = nil
	for _, q := range ask.Requests {
		if err := missing(q, &x.Peer.Capabilities); err != nil {
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
	if st.Request, err = digest(m); err != nil {
		return nil, err
	}
	st.Expires = time.Now().Add(s.opts.StateTTL).Unix()
	result.RequestState, err = s.seal.seal(st)
	return result, err
}

// Spec: 2026-07-28 basic/patterns/mrtr#supported-requests.
func mayAsk(method string) bool {
	return method == mcp.MethodCallTool || method == mcp.MethodGetPrompt || method == mcp.MethodReadResource
}

// guard is the last line before the connection: a panic that a handler did
// not deal with fails its own request and no other, unless the handler wants
// it to end the process.
func guard(ctx context.Context, h mcp.Handler, x *mcp.Exchange, log *slog.Logger) (result any, err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if h.Describe().CrashOnPanic {
			panic(p)
		}
		log.ErrorContext(ctx, "handler panicked", "method", x.Method, "panic", p, "stack", string(debug.Stack()))
		result, err = nil, jsonrpc.Errorf(jsonrpc.CodeInternalError, "internal error")
	}()
	return h.Serve(ctx, x)
}
