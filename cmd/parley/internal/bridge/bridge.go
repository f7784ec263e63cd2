// Package bridge is a server whose features are those of another server: it passes
// what its clients send on to connections of its own, and what comes back to the
// client it belongs to, whatever the eras and transports of the two sides. What is
// passed on keeps its text.
//
// A client in a session has a connection of its own, which ends with the session.
// Clients without sessions share one for each principal and set of capabilities,
// because nothing else tells them apart. Options.Share changes that. Where a connection
// does not say which call a question belongs to, clients that can be asked something use
// it one after the other, and at the same time each has one. The other server
// learns the capabilities of the client, so that it asks only what the client can
// answer.
package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/mcp"
)

// Options configure a Bridge.
type Options struct {
	// Connect connects to the other server. It adds the transport and the bridge's
	// name to the options that it gets. peer says who the connection is for: the
	// fields that all clients have in common that will use it, and so nothing but
	// Capabilities if they have different principals. It may be called concurrently.
	// Required.
	Connect func(ctx context.Context, peer *mcp.Peer, o *client.Options) (*client.Client, error)
	// Share says which clients use a connection together.
	Share Share
	// OnDemand leaves connecting to the first request, so that New succeeds while the
	// other server is down. Describe returns nil until there was a connection, and
	// notifications go only to connections that are open.
	OnDemand bool
	// Replace gives a session a new connection when its own is lost. The default is
	// that its requests fail from then on, because with the connection went what the
	// client relied on.
	Replace bool
	// Changed is called when the other server says on any connection that a list has
	// changed, with the peer that the connection is for; it must not block. nil means
	// that only subscriptions hear of changes.
	Changed func(peer *mcp.Peer, kind mcp.ChangeKind)
	// May says whether a connection may be used for a request now. Its error is why the
	// request is not sent. nil means always.
	May func(c *client.Client) error
	// Answered is called when the other server has answered a request that was sent at a
	// time, also with an error. It must not block.
	Answered func(c *client.Client, sent time.Time)
	// Words returns what clients are told of an error of a connection, or of making one. nil
	// means all of it.
	Words func(err error) string
	// Single says that there is only one client, so that any of its calls will do for
	// asking it something.
	Single bool
	// MaxConnections bounds the connections that are open at a time. 0 means 100. No
	// principal gets more than it leaves to the others: one alone has half of them.
	MaxConnections int
	// MaxConnectionsBy is what the user calls MaxConnections, for errors; "" if it cannot
	// be set.
	MaxConnectionsBy string
	// Idle is how long a connection is kept that serves no session, call or
	// subscription. 0 means 30 minutes.
	Idle time.Duration
	// Timeout is how long a call may go without an answer or progress. 0 means forever:
	// clients know how long they want to wait.
	Timeout time.Duration
	// Parking bounds the calls that wait for clients without sessions to come back with
	// the answer to a question.
	Parking Parking
	// Logger logs what goes wrong on either side. nil means slog.Default().
	Logger *slog.Logger
}

// Bridge is an mcp.Handler that passes everything on. Close ends it.
type Bridge struct {
	opts      Options
	described atomic.Pointer[mcp.Description]
	pool      pool
	keys      keys
	parked    parked
	tasks     tasks
	vague     atomic.Bool     // whether the last connection does not say which call a question belongs to
	ctx       context.Context //nolint:containedctx // the bridge's lifetime: ended by Close
	end       context.CancelCauseFunc
	work      sync.WaitGroup // goroutines that end with the bridge
	ending    sync.Mutex     // held while the bridge ends, and while start looks whether it has
	lost      chan error
}

var _ mcp.Handler = (*Bridge)(nil)

var errClosed = errors.New("the bridge is closed")

// New connects to the other server, to learn what it is, unless Options.OnDemand is
// set. ctx bounds only this.
func New(ctx context.Context, o Options) (*Bridge, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.MaxConnections == 0 {
		o.MaxConnections = 100
	}
	if o.Idle == 0 {
		o.Idle = 30 * time.Minute
	}
	o.Parking.setDefaults()
	if o.Timeout == 0 {
		o.Timeout = -1
	}
	if o.May == nil {
		o.May = func(*client.Client) error { return nil }
	}
	if o.Words == nil {
		o.Words = error.Error
	}
	if o.Answered == nil {
		o.Answered = func(*client.Client, time.Time) {}
	}
	b := &Bridge{opts: o, lost: make(chan error, 1), parked: parked{bounds: o.Parking}}
	b.ctx, b.end = context.WithCancelCause(context.Background())
	b.pool = pool{b: b, links: map[string][]*link{}, retired: map[*link]bool{}}
	if !o.OnDemand {
		if err := b.Look(ctx); err != nil {
			b.end(err)
			return nil, err
		}
	}
	b.work.Go(b.pool.sweep) // ends with the bridge
	return b, nil
}

// Look connects to the other server, to learn what it is, if that is not known yet. The
// connection is for the first client that it suits.
func (b *Bridge) Look(ctx context.Context) error {
	if b.described.Load() != nil {
		return nil
	}
	spare := newLink(b, b.whose(&mcp.Peer{}))
	defer spare.giveUp(nil)
	if err := spare.connect(ctx); err != nil {
		return err
	}
	close(spare.ready)
	if !b.pool.spares(spare) {
		spare.close()
	}
	return nil
}

// describe remembers what the other server says of itself, and what the bridge adds to it.
func (b *Bridge) describe(c *client.Client) {
	caps := c.ServerCapabilities()
	b.offerTasks(&caps, era.StatelessRevision(c.Revision()))
	b.described.Store(&mcp.Description{Info: c.ServerInfo(), Capabilities: caps, Instructions: c.Instructions()})
}

// Describe implements mcp.Handler: it says what the other server says of itself.
func (b *Bridge) Describe(context.Context, *mcp.Peer) *mcp.Description { return b.described.Load() }

// Lost returns a channel that gets the reason when a connection that a client uses has
// ended by itself. What the client relied on there is gone.
func (b *Bridge) Lost() <-chan error { return b.lost }

// Serve implements mcp.Handler.
func (b *Bridge) Serve(ctx context.Context, x *mcp.Exchange) (any, error) {
	if x.Watch != nil {
		return b.watchTasks(ctx, x)
	}
	if t := b.tasks.find(x); t != nil {
		return b.aboutTask(ctx, x, t)
	}
	if x.ID.IsZero() && b.opts.OnDemand && !b.pool.has(&x.Peer) {
		return nil, nil //nolint:nilnil // a notification has no result
	}
	switch p, err := b.parked.resume(x); {
	case err != nil:
		return nil, b.failure(ctx, x, err)
	case p != nil: // it has its connection
		result, err := p.await(ctx)
		return p.link.answered(ctx, x, result, err)
	}
	by := b.askerOf(x)
	l, err := b.pool.get(ctx, want{&x.Peer, by, b.tasks.about(x)})
	if err != nil {
		return nil, b.failure(ctx, x, &unsentError{err})
	}
	defer b.pool.release(l, by)
	l.heard(x.Method, x.Peer.Principal)
	if x.ID.IsZero() {
		return nil, b.tell(ctx, l, x)
	}
	result, err := b.request(ctx, l, x, by)
	return l.answered(ctx, x, result, err)
}

// answered is what the client is told of what the other server has answered.
func (l *link) answered(ctx context.Context, x *mcp.Exchange, result json.RawMessage, err error) (any, error) {
	if err != nil {
		return nil, l.b.failureOn(ctx, l, x, l.visitFirst(x, err))
	}
	return result, nil
}

// request passes a request on.
func (b *Bridge) request(ctx context.Context, l *link, x *mcp.Exchange, by asker) (_ json.RawMessage, err error) {
	if err := b.opts.May(l.client); err != nil {
		return nil, &unsentError{err}
	}
	if x, err = l.again(ctx, x); err != nil {
		return nil, err
	}
	p := &passing{link: l, by: by}
	p.x.Store(x)
	if err := p.prepare(ctx, x); err != nil {
		return nil, err
	}
	switch {
	case x.Method == mcp.MethodListTasks:
		return b.listTasks(ctx, l, x)
	case p.isTask(x):
		return b.beginTask(ctx, p)
	case l.parks(x):
		p.detach(ctx)
		l.begin(p)
		return p.await(ctx)
	}
	p.run(context.WithValue(ctx, passingKey{}, p), l.add(p))
	if p.err == nil {
		b.tasks.remember(x, p)
	}
	return l.withTasks(x, p.result), p.err
}

// Over ends the connection of a session that has ended, if it has one of its own. A
// bridge that gets the message which opens a session knows by itself when it ends.
func (b *Bridge) Over(peer *mcp.Peer) {
	if key, owned, err := b.keyOf(peer); owned && err == nil {
		b.pool.over(key)
	}
}

// Connections returns how many connections there are, and how many of them serve a call or
// a subscription.
func (b *Bridge) Connections() (open, used int) { return b.pool.size() }

// Retire takes all connections out of use: who needs one gets a new one, and subscriptions
// move there. What is under way on the old ones goes on, and each is closed when nothing
// is left. It is for connections that outlive their server, as those over HTTP do. Retire
// returns them.
func (b *Bridge) Retire() []*client.Client { return b.pool.retire() }

// Parked returns how many calls wait for their clients to come back.
func (b *Bridge) Parked() int { return b.parked.size() }

// ParkedSince returns since when the oldest of these waits; zero if there is none.
func (b *Bridge) ParkedSince() time.Time { return b.parked.oldest() }

// Parking returns what bounds these.
func (b *Bridge) Parking() Parking { return b.opts.Parking }

// start runs f on a goroutine that Close waits for. It reports whether it did: not once the
// bridge is closed, when nobody may wait any more.
func (b *Bridge) start(f func()) bool {
	b.ending.Lock()
	defer b.ending.Unlock()
	if b.ctx.Err() != nil {
		return false
	}
	b.work.Go(f) // ends with the bridge, at the latest
	return true
}

// Close ends all connections, and the calls on them. The transports that serve the
// bridge must be closed before.
func (b *Bridge) Close() error {
	b.ending.Lock()
	b.end(errClosed)
	b.ending.Unlock()
	b.parked.close()
	b.tasks.close()
	b.pool.close()
	b.work.Wait()
	return nil
}
