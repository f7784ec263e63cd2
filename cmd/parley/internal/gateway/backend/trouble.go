package backend

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/plain"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/streamable"
)

// checking is how long a server may take to answer a check, if its calls may take as long.
const checking = 10 * time.Second

// errHangs is why a server is left alone that says nothing.
var errHangs = plain.Errorf(client.ErrTimeout, "it answers nothing, not even a check")

// judge looks at a request that was not answered on a connection that is still there. Over
// HTTP, a connection does not end with its server. That nobody is at the address says
// enough; all else may be about the one request, so the server is asked.
func (b *Backend) judge(ctx context.Context, e *bridge.UnansweredError) {
	switch {
	case e.Via == nil: // what has failed is connecting
	case gone(e.Err):
		b.lost(e.Err)
	case errors.Is(e.Err, client.ErrTimeout), troubled(e.Err):
		b.doubt(context.WithoutCancel(ctx), e.Via)
	}
}

// gone reports whether nobody was at the server's address. It was the address of another
// one, such as that of an authorization server, if an HTTP request was made for the sake
// of the request.
func gone(err error) bool {
	outer, ok := errors.AsType[*url.Error](err)
	if !ok || !bridge.Refused(err) {
		return false
	}
	_, elsewhere := errors.AsType[*url.Error](outer.Err)
	return !elsewhere
}

// troubled reports whether somebody before the server says that it is not there. That a
// client is too fast, and what a tool can cause, says nothing of the server.
func troubled(err error) bool {
	status, ok := errors.AsType[*streamable.HTTPError](err)
	return ok && slices.Contains([]int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, status.Status)
}

// unreached reports whether a check was not answered: somebody says that the server is not
// there, or it has broken off the request. A request of a client that is broken off is no
// reason to check: the next one finds out whether somebody is there, and is told at once if not.
func unreached(err error) bool {
	if _, ok := errors.AsType[*streamable.HTTPError](err); ok || errors.Is(err, mcp.ErrUnauthorized) {
		return troubled(err)
	}
	return errors.Is(err, mcp.ErrUnavailable)
}

// lost leaves the server alone for a while that has nobody at its address, or does not
// serve. Its connections are of no use any more; whoever needs one gets a new one when it
// is there again, which is what clients are told of.
func (b *Backend) lost(err error) {
	if !b.breakers.failed(everybody, 0, err) {
		return
	}
	b.life.missed()
	b.opts.Logger.Warn("the server is not available any more", "error", err, "retry", b.breakers.retry(everybody).Format(time.TimeOnly))
	b.life.retire(b.bridge.Retire())
}

// doubt checks in the background whether a server still answers on a connection. ctx says
// on whose behalf.
func (b *Backend) doubt(ctx context.Context, c *client.Client) {
	b.life.check(c, func() { b.work.Go(func() { b.check(ctx, c) }) }) // ends with the check, or with the connection
}

// doubtOthers checks all other connections: what keeps a server from answering on one may
// keep it from answering at all. With credentials of nobody, a check would say nothing.
func (b *Backend) doubtOthers(c *client.Client) {
	if b.opts.Personal {
		return
	}
	for _, other := range b.life.clients() {
		if other != c {
			b.doubt(context.Background(), other)
		}
	}
}

// check asks a server for a sign of life. One that hangs is asked again, with pauses that
// grow, and meanwhile gets no calls.
func (b *Backend) check(ctx context.Context, c *client.Client) {
	defer b.life.checked(c)
	for first := true; ; first = false {
		err := b.ask(ctx, c)
		switch {
		case over(c):
			return
		case gone(err), unreached(err):
			b.lost(err)
			return
		case !errors.Is(err, client.ErrTimeout): // an error is an answer, too
			if !first {
				b.opts.Logger.Info("the server answers again")
				b.changed()
			}
			return
		}
		pause := b.life.hangs(c)
		if first {
			b.opts.Logger.Warn("the server hangs; it gets no calls until it answers a check")
			b.doubtOthers(c) //nolint:contextcheck // they are those of others
		}
		if !sleep(c, pause) {
			return
		}
	}
}

// ask asks for a sign of life, once.
func (b *Backend) ask(ctx context.Context, c *client.Client) error {
	limit := checking
	if b.opts.Timeout > 0 {
		limit = min(limit, b.opts.Timeout)
	}
	return c.Ping(ctx, client.WithTimeout(limit), client.WithMaxTimeout(limit))
}

// over reports whether a connection has ended.
func over(c *client.Client) bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}

// sleep waits, and reports false when the connection ended first.
func sleep(c *client.Client, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.Done():
		return false
	}
}
