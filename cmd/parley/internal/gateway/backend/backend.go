// Package backend is a server behind a gateway, and its life: it is connected to when
// somebody needs it, again when a connection is lost, after a while when that fails, and
// left alone when nobody needs it. A backend that is broken says so at once; nobody
// waits for it.
package backend

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/internal/terse"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Options configure a Backend.
type Options struct {
	// Name is what the configuration calls the server.
	Name string
	// Connect connects to the server; see bridge.Options. The client of a process must end
	// with it, and not start another by itself: client.Options.MaxRestarts is negative for
	// it. Required.
	Connect func(ctx context.Context, peer *mcp.Peer, o *client.Options) (*client.Client, error)
	// Share says which clients use a connection together, and Single that there is only
	// one client.
	Share  bridge.Share
	Single bool
	// Personal says that each principal has credentials of their own at the server. Those
	// that are refused say nothing of the server, and the context of a request says who
	// sends it (mcp.AuthorizationFrom).
	Personal bool
	// Login serves exchanges by next, for those who have logged in at the server, and
	// sends others there; nil is for servers where nobody has to.
	Login func(ctx context.Context, x *mcp.Exchange, next mcp.ServeFunc) (any, error)
	// MaxConnections bounds the connections that are open at a time. 0 means 100.
	MaxConnections int
	// Parking bounds the calls that wait for their clients to come back.
	Parking bridge.Parking
	// Idle is how long a connection is kept that nobody uses. 0 means forever.
	Idle time.Duration
	// ConnectTimeout is how long it may take to connect. 0 means 30 seconds.
	ConnectTimeout time.Duration
	// Timeout is how long a call may go without an answer or progress. 0 means forever.
	Timeout time.Duration
	// Changed is called when lists may have changed, for the clients that share a
	// connection with peer; nil means for all. It must not block.
	Changed func(peer *mcp.Peer, kind mcp.ChangeKind)
	// Stderr has what the server's processes write to their standard error; nil for none.
	Stderr *Stderr
	// Logger logs what goes wrong. nil means slog.Default().
	Logger *slog.Logger
}

// Backend is a server behind a gateway. Its methods may be called concurrently.
type Backend struct {
	opts     Options
	bridge   *bridge.Bridge
	breakers breakers
	life     life
	eras     client.Eras
	work     sync.WaitGroup

	inFlight running // exchanges that are being served
}

// New returns a backend, to which nobody has connected yet.
func New(o Options) *Backend {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	o.Logger = terse.Logger(o.Logger.With("backend", o.Name)) // what the server says must not fill it
	if o.ConnectTimeout == 0 {
		o.ConnectTimeout = 30 * time.Second
	}
	if o.Idle == 0 {
		o.Idle = math.MaxInt64
	}
	if o.Changed == nil {
		o.Changed = func(*mcp.Peer, mcp.ChangeKind) {}
	}
	b := &Backend{opts: o}
	b.bridge, _ = bridge.New(context.Background(), bridge.Options{ // connecting is all that could fail
		Connect: b.connect, Share: o.Share, Single: o.Single, OnDemand: true, Replace: true, Changed: o.Changed,
		MaxConnections: o.MaxConnections, MaxConnectionsBy: "backends." + o.Name + ".max_connections", Idle: o.Idle, Timeout: o.Timeout, Parking: o.Parking, Logger: o.Logger, May: b.life.may, Answered: b.answered, Words: words,
	})
	return b
}

// Name is what the configuration calls the server.
func (b *Backend) Name() string { return b.opts.Name }

// Key identifies the clients that share a connection with a peer, and so see the same.
func (b *Backend) Key(peer *mcp.Peer) string { return b.bridge.Key(peer) }

// Describe returns what the server has last said of itself, or nil if it has not been
// heard of yet.
func (b *Backend) Describe() *mcp.Description {
	return b.bridge.Describe(context.Background(), nil)
}

// Look learns what the server is, if that is not known yet.
func (b *Backend) Look(ctx context.Context) error {
	if err := b.bridge.Look(ctx); err != nil {
		return b.unavailable(b.sharer(&mcp.Peer{}), &bridge.UnansweredError{Err: err})
	}
	return nil
}

// sharer identifies those who share a process, if the server is a command, and credentials
// otherwise. What fails for them may work for others.
func (b *Backend) sharer(peer *mcp.Peer) string {
	switch {
	case b.opts.Single || b.opts.Share == bridge.ShareAll:
		return everybody
	case b.opts.Share == bridge.ShareSession && peer.SessionID != "":
		return "session " + peer.SessionID
	}
	return "principal " + peer.Principal
}

// connect connects to the server, unless it has failed too often for that.
func (b *Backend) connect(ctx context.Context, peer *mcp.Peer, o *client.Options) (*client.Client, error) {
	key := b.sharer(peer)
	if err := b.breakers.allows(key); err != nil {
		return nil, err
	}
	b.life.connecting(1)
	defer b.life.connecting(-1)
	o.Eras = &b.eras
	begun := time.Now()
	within, cancel := context.WithTimeoutCause(ctx, b.opts.ConnectTimeout, client.ErrTimeout)
	defer cancel()
	c, err := b.opts.Connect(within, peer, o)
	if err != nil {
		if ctx.Err() == nil && !b.isPersonal(peer, err) {
			b.notConnected(ctx, key, time.Since(begun), err)
		}
		return nil, asRefusal(err)
	}
	if b.life.connected(c, key) {
		b.changed()
	}
	b.work.Go(func() { b.attend(c) }) // ends with the client, which the bridge closes
	return c, nil
}

// notConnected counts a connection that could not be made. If nobody is at the server's
// address, that is so for everybody.
func (b *Backend) notConnected(ctx context.Context, key string, took time.Duration, err error) {
	if gone(err) {
		b.lost(err)
		return
	}
	b.breakers.failed(key, took, asRefusal(err))
	b.opts.Logger.WarnContext(ctx, "the server cannot be reached", "error", err, "retry", b.breakers.retry(key).Format(time.TimeOnly))
	if troubled(err) {
		b.doubtOthers(nil) //nolint:contextcheck // they are those of others
	}
}

// isPersonal reports whether a failure is about who wants to connect, and not about the
// server.
func (b *Backend) isPersonal(peer *mcp.Peer, err error) bool {
	return (b.opts.Personal || peer.Principal != "") && errors.Is(err, mcp.ErrUnauthorized)
}

// attend waits for the end of a connection. A server that ends before it has answered
// anything has failed, as one has that does not start, and so has one that ends again and
// again.
func (b *Backend) attend(c *client.Client) {
	<-c.Done()
	err := c.Err()
	if errors.Is(err, client.ErrClosed) {
		err = nil
	}
	had, early := b.life.ended(c, err)
	if err != nil && b.breakers.ended(had, err, early) {
		b.opts.Logger.Warn("the server has ended, and is left alone for a while", "error", err, "retry", b.breakers.retry(had.key).Format(time.TimeOnly))
	}
}

// changed says that all lists may be others by now.
func (b *Backend) changed() {
	for _, kind := range []mcp.ChangeKind{mcp.ToolsChanged, mcp.PromptsChanged, mcp.ResourcesChanged} {
		b.opts.Changed(nil, kind)
	}
}

// Serve serves an exchange whose params name things as the server does. harmless says
// that the request can be made twice. A lost connection is replaced, and the request is
// made again if the server has not seen it, or if that does no harm.
func (b *Backend) Serve(ctx context.Context, x *mcp.Exchange, harmless bool) (any, error) {
	b.inFlight.begin()
	defer b.inFlight.end()
	if b.opts.Personal {
		ctx = mcp.WithAuthorization(ctx, x.Peer.Authorization)
	}
	if b.opts.Login != nil {
		return b.opts.Login(ctx, x, func(ctx context.Context, x *mcp.Exchange) (any, error) { return b.serve(ctx, x, harmless) })
	}
	return b.serve(ctx, x, harmless)
}

func (b *Backend) serve(ctx context.Context, x *mcp.Exchange, harmless bool) (any, error) {
	for again := false; ; again = true {
		result, err := b.bridge.Serve(ctx, x)
		unanswered, ok := errors.AsType[*bridge.UnansweredError](err)
		if !ok {
			return result, err
		}
		b.judge(ctx, unanswered)
		if again || !b.repeats(ctx, x, unanswered, harmless) {
			return nil, b.unanswered(x, unanswered, harmless || x.Watch != nil)
		}
		b.opts.Logger.WarnContext(ctx, "the connection was lost; the request is made again", "method", x.Method, "error", unanswered.Err)
	}
}

// answered is called when the server has answered a request, also with an error.
func (b *Backend) answered(c *client.Client, sent time.Time) {
	if key, ok := b.life.answered(c); ok {
		b.breakers.worked(key, sent)
	}
}

// repeats reports whether a request that was not answered can be made again. One whose
// client has been asked something cannot: the new connection knows nothing of that.
func (b *Backend) repeats(ctx context.Context, x *mcp.Exchange, e *bridge.UnansweredError, harmless bool) bool {
	switch {
	case ctx.Err() != nil, errors.Is(e.Err, client.ErrTimeout), errors.Is(e.Err, mcp.ErrUnauthorized), x.Answers != nil, x.State != nil:
		return false
	case !b.breakers.retry(b.sharer(&x.Peer)).IsZero(): // it cannot be reached
		return false
	}
	return e.Unsent || harmless || x.Watch != nil
}

// unanswered is what clients are told when the server has not answered a request.
func (b *Backend) unanswered(x *mcp.Exchange, e *bridge.UnansweredError, harmless bool) error {
	u := b.unavailable(b.sharer(&x.Peer), e)
	u.Unknown = !e.Unsent && !harmless
	return u
}

// unavailable says that the server has not answered.
func (b *Backend) unavailable(key string, e *bridge.UnansweredError) *UnavailableError {
	b.life.missed()
	retry := b.breakers.retry(key)
	if retry.IsZero() {
		retry = b.life.retry(e.Via)
	}
	return &UnavailableError{Backend: b.opts.Name, Err: e.Err, Retry: retry}
}

// Over ends what a session has for itself.
func (b *Backend) Over(peer *mcp.Peer) { b.bridge.Over(peer) }

// Close ends all connections, and the calls on them.
func (b *Backend) Close() error {
	b.life.close()
	err := b.bridge.Close()
	b.work.Wait()
	return err
}

// UnavailableError says that a server behind the gateway has not answered.
type UnavailableError struct {
	Backend string
	Err     error // for whoever runs the gateway
	// Retry is when the server is tried again; zero means with the next request.
	Retry time.Time
	// Unknown says that the server may have done what it was asked to.
	Unknown bool
}

// Error is what clients are told: it names the server, and says what has failed and what
// comes next, but not what there is to know of that.
func (e *UnavailableError) Error() string {
	why := words(e.Err)
	s := fmt.Sprintf("the server %q is not available: %s", e.Backend, why)
	if e.Unknown {
		s = fmt.Sprintf("the server %q has not answered, and it is not known whether it has done what it was asked to: %s", e.Backend, why)
	}
	if wait := time.Until(e.Retry).Round(100 * time.Millisecond); wait > 0 {
		s += fmt.Sprintf("; it is tried again in %s", wait)
	}
	if why != e.Err.Error() {
		s += `; whoever runs the gateway sees more with "parley gateway status"`
	}
	return s
}

// Unwrap returns what clients are told first.
func (e *UnavailableError) Unwrap() []error {
	return []error{jsonrpc.Errorf(jsonrpc.CodeInternalError, "%s", e.Error()), e.Err}
}
