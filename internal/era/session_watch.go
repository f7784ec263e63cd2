package era

import (
	"context"
	"regexp"
	"time"

	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Spec: 2025-11-25 server/resources#subscriptions.
func (s *Session) subscribe(ctx context.Context, m *jsonrpc.Message, back *sessionBack, sender Sender) (any, error) {
	at, err := subscriptionURI(m)
	if err != nil {
		return nil, err
	}
	x, err := s.exchange(m, back, sender)
	if err != nil {
		return nil, err
	}
	if err := s.subscribeOnce(ctx, at, x, mcp.SubscriptionFilter{ResourceSubscriptions: []string{at}}); err != nil {
		return nil, err
	}
	return struct{}{}, nil
}

func (s *Session) unsubscribe(m *jsonrpc.Message) (any, error) {
	at, err := subscriptionURI(m)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	sub := s.subscriptions[at]
	delete(s.subscriptions, at)
	s.mu.Unlock()
	if sub != nil {
		sub.end()
	}
	return struct{}{}, nil
}

// uriForm is the form that RFC 3986 requires of a URI, with non-ASCII text allowed.
var uriForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20\x7f"<>\\^` + "`" + `{|}]*$`)

func subscriptionURI(m *jsonrpc.Message) (string, error) {
	var p mcp.SubscribeParams
	if err := wire.Unmarshal(orEmpty(m.Params), &p); err != nil {
		return "", mcp.InvalidParams("params: %v", err)
	}
	// Spec: 2025-11-25 server/resources#security-considerations (1).
	if !uriForm.MatchString(p.URI) {
		return "", mcp.InvalidParams("params must have a uri: a scheme, and no character that must be percent-encoded")
	}
	return p.URI, nil
}

// start subscribes to changes of the lists, of which a client must not be notified
// before it is initialized. Only what the server has declared by then is included.
//
// Spec: 2025-11-25 basic/lifecycle#initialization.
func (s *Session) start(ctx context.Context, x *mcp.Exchange) {
	s.mu.Lock()
	already := s.ready
	s.ready = true
	s.mu.Unlock()
	if already {
		return
	}
	all := mcp.SubscriptionFilter{ToolsListChanged: true, PromptsListChanged: true, ResourcesListChanged: true}
	if err := s.subscribeOnce(ctx, "", x, Honoured(all, s.agreed.Load().declared)); err != nil {
		s.opts.Logger.WarnContext(ctx, "the client will not be notified of changed lists", "error", err)
	}
}

// initialized reports whether the client has said that it is ready.
func (s *Session) initialized() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready
}

// subscribedTo is one subscription of a session; stop is nil until it has begun, and
// task is nil unless it is about one.
type subscribedTo struct {
	stop func()
	task *watchedTask
	// decided is closed when the handler has subscribed, or refused to, which is failed.
	decided chan struct{}
	failed  bool
}

func newSubscribedTo(task *watchedTask) *subscribedTo {
	return &subscribedTo{task: task, decided: make(chan struct{})}
}

func (s *subscribedTo) end() {
	if s.stop != nil {
		s.stop()
	}
}

// subscribeOnce subscribes to what filter asks for, unless the key is subscribed already.
func (s *Session) subscribeOnce(ctx context.Context, key string, x *mcp.Exchange, filter mcp.SubscriptionFilter) error {
	for {
		own := newSubscribedTo(nil)
		had, err := s.reserve(key, own)
		switch {
		case err != nil:
			return err
		case had == nil:
			return s.begin(ctx, key, own, x, filter)
		}
		select {
		case <-had.decided:
			if !had.failed {
				return nil
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// begin has the handler subscribe to what filter asks for, under a key that is
// reserved for own.
func (s *Session) begin(ctx context.Context, key string, own *subscribedTo, x *mcp.Exchange, filter mcp.SubscriptionFilter) error {
	defer close(own.decided)
	w, err := s.subscribed(ctx, key, x, filter)
	own.failed = err != nil
	s.mu.Lock()
	wanted := s.subscriptions[key] == own && s.ctx.Err() == nil
	switch {
	case wanted && err == nil:
		own.stop = w.Stop
	case wanted:
		delete(s.subscriptions, key)
	}
	s.mu.Unlock()
	if err == nil && !wanted { // unsubscribed meanwhile, or closed
		w.Stop()
	}
	return err
}

// reserve reserves a key for a subscription while the handler runs, or returns the one
// that has it already.
func (s *Session) reserve(key string, own *subscribedTo) (had *subscribedTo, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if had = s.subscriptions[key]; had != nil {
		return had, nil
	}
	if key != "" && len(s.subscriptions) >= maxSubscriptions {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInternalError, "too many subscriptions: the limit is %d in a session; unsubscribe from some", maxSubscriptions)
	}
	s.subscriptions[key] = own
	return nil, nil //nolint:nilnil // nobody has it
}

// subscribed has the handler subscribe. A resource that the client may not read
// does not exist for it.
func (s *Session) subscribed(ctx context.Context, key string, x *mcp.Exchange, filter mcp.SubscriptionFilter) (w *mcp.Watching, err error) {
	var result any // there is none yet
	defer rescue(ctx, s.handler, x.Method, s.opts.Logger, &result, &err)
	w, err = subscribeTo(ctx, s.handler, x, filter, s.queue.add)
	if err == nil && key != "" && len(w.Filter.ResourceSubscriptions)+len(w.Filter.TaskIDs) == 0 {
		w.Stop()
		return nil, &mcp.ResourceNotFoundError{URI: key}
	}
	return w, err
}

// isSubscribed reports whether the client is still subscribed to a change.
func (s *Session) isSubscribed(c mcp.Change) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.subscriptions[keyOf(c)]
	return ok
}

// wake schedules the sending of queued changes for the end of the window. It uses a
// timer, so that an idle session needs no goroutine.
func (s *Session) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		s.queue.drop(mcp.DropClosed, nil)
		return
	}
	s.telling.Add(1)
	time.AfterFunc(s.opts.ChangeWindow, func() {
		defer s.telling.Done()
		s.tell()
	})
}

func (s *Session) tell() {
	for _, c := range s.queue.take() {
		switch {
		case s.ctx.Err() != nil:
			s.queue.dropped(c, mcp.DropClosed, context.Cause(s.ctx))
		case !s.isSubscribed(c): // unsubscribed meanwhile
			s.queue.dropped(c, mcp.DropUnsubscribed, nil)
		case c.Kind == mcp.TaskChanged:
			s.tellTask(c)
		default:
			frame := changeFrame(c, nil)
			if err := s.standing.Message(s.ctx, frame); err != nil {
				s.opts.Logger.Debug("change not sent", "error", err)
				s.seen.DropFrame(mcp.Sent, tap.ReasonOf(err), changeMethods[c.Kind], frame, err)
			}
		}
	}
}
