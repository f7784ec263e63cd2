package login

import (
	"context"
	"net/url"
	"time"

	"github.com/parley-mcp/parley/auth/oauth"
)

// flow is one way through an authorization server, in one browser. It is the receiver of
// the OAuth client that gets the token.
type flow struct {
	desk    *Desk
	browser string // its cookie
	next    *visit // what follows, if the user logs in at the gateway itself
	visit   *visit // what the user logs in for, otherwise

	asks    chan oauth.AuthorizationRequest
	answers chan url.Values
	cancel  context.CancelFunc
	done    chan struct{}
	err     error // after done
}

var (
	_ oauth.Receiver  = (*flow)(nil)
	_ oauth.Reception = (*flow)(nil)
)

// flowTime is how long a user may take at an authorization server.
const flowTime = 10 * time.Minute

// begin begins a flow, in which run gets the token.
func (d *Desk) begin(browser string, next, v *visit, run func(ctx context.Context, f *flow) error) *flow {
	f := &flow{desk: d, browser: browser, next: next, visit: v, asks: make(chan oauth.AuthorizationRequest, 1), answers: make(chan url.Values, 1), done: make(chan struct{})}
	ctx, cancel := context.WithTimeout(d.ctx, flowTime)
	f.cancel = cancel
	var old *flow
	if v != nil {
		d.mu.Lock()
		old, v.flow = v.flow, f
		d.mu.Unlock()
	}
	if old != nil {
		old.cancel()
	}
	d.work.Go(func() { // ends with the flow, by its time, or with the desk
		defer cancel()
		defer close(f.done)
		f.err = run(ctx, f)
	})
	return f
}

// backend is the server that the user logs in at; "" is the gateway itself.
func (f *flow) backend() string {
	if f.visit == nil {
		return ""
	}
	return f.visit.user.owner.Backend
}

// over reports whether the flow has ended.
func (f *flow) over() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// Listen implements oauth.Receiver.
func (f *flow) Listen(context.Context, []string) (oauth.Reception, error) { return f, nil }

// RedirectURI implements oauth.Reception.
func (f *flow) RedirectURI() string {
	f.desk.mu.Lock()
	defer f.desk.mu.Unlock()
	return f.desk.origin + callbackOf(f.backend())
}

// Receive implements oauth.Reception: the page that the browser is at leads to the
// authorization server, and the answer comes by the page of the redirect URI.
func (f *flow) Receive(ctx context.Context, r oauth.AuthorizationRequest) (url.Values, error) {
	f.desk.mu.Lock()
	f.desk.flows[r.State] = f
	f.desk.mu.Unlock()
	defer func() {
		f.desk.mu.Lock()
		defer f.desk.mu.Unlock()
		delete(f.desk.flows, r.State)
	}()
	f.asks <- r
	select {
	case answer := <-f.answers:
		return answer, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Close implements oauth.Reception.
func (f *flow) Close() error { return nil }

// answered returns the flow that an answer of an authorization server belongs to, or nil.
// Each can be answered once.
func (d *Desk) answered(state string) *flow {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.flows[state]
}

// take gives the flow its answer, unless it has one.
func (f *flow) take(answer url.Values) bool {
	select {
	case f.answers <- answer:
		return true
	default:
		return false
	}
}
