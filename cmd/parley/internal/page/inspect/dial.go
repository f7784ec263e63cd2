package inspect

import (
	"context"
	"errors"
	"net/http"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/mcp"
)

// connect begins an attempt, after it has ended the one before.
func (c *Connection) connect() {
	c.turn.Lock()
	defer c.turn.Unlock()
	if c.ctx.Err() != nil {
		return
	}
	c.halt()
	ctx, cancel := context.WithCancel(c.ctx)
	stopped := make(chan struct{})
	c.stop, c.stopped = cancel, stopped
	c.set(connecting, nil, nil)
	go func() { // ends with the attempt, which halt waits for
		defer close(stopped)
		defer cancel()
		c.attempt(ctx)
	}()
}

// disconnect ends the attempt, and waits for its end.
func (c *Connection) disconnect() {
	c.turn.Lock()
	defer c.turn.Unlock()
	c.halt()
}

// halt is disconnect for who holds c.turn.
func (c *Connection) halt() {
	if c.stop != nil {
		c.stop()
		partOf[login](c).reset() // it may wait for somebody to log in
		<-c.stopped
	}
}

// attempt connects, and returns when the connection has ended.
func (c *Connection) attempt(ctx context.Context) {
	cl, err := c.dial(ctx)
	if ctx.Err() != nil {
		c.release(cl)
		c.set(closed, nil, nil)
		return
	}
	if err != nil {
		c.set(failed, nil, c.notConnected(err))
		return
	}
	if !c.arrived(cl) {
		return
	}
	select {
	case <-ctx.Done():
		c.release(cl)
		c.set(closed, nil, nil)
	case <-cl.Done():
		why := cl.Err()
		if inner := errors.Unwrap(why); inner != nil {
			why = inner // without that the client is not to connect again by itself
		}
		c.release(cl)
		c.set(lost, nil, c.explain(why))
	}
}

// arrived makes it known that the connection is up.
func (c *Connection) arrived(cl *client.Client) bool {
	said, err := described(cl, c.wire.said())
	if err != nil {
		c.release(cl)
		c.set(failed, nil, c.notConnected(err))
		return false
	}
	c.mu.Lock()
	c.last = said
	c.mu.Unlock()
	c.set(up, cl, nil)
	for _, p := range c.server.parts {
		p.connected(c)
	}
	return true
}

// release closes a client. From now on calls are refused, rather than failing.
func (c *Connection) release(cl *client.Client) {
	c.mu.Lock()
	c.client = nil
	c.mu.Unlock()
	if cl != nil {
		_ = cl.Close() // why it ended is known from elsewhere
	}
}

// dial makes one attempt to connect.
func (c *Connection) dial(ctx context.Context) (*client.Client, error) {
	c.mu.Lock()
	c.wire = new(observer)
	wished, seen := c.wish, c.wire
	c.mu.Unlock()
	o := &client.Options{
		Info:   c.server.opts.Client,
		Logger: c.server.opts.Logger.With("connection", c.ID),
	}
	if wished.Revision != (mcp.Revision{}) {
		o.Revisions = []mcp.Revision{wished.Revision}
	}
	if wished.URL == "" {
		o.MaxRestarts = -1 // a process that ends is what somebody who looks at it wants to know
	}
	for _, p := range c.server.parts {
		p.prepare(c, o)
	}
	c.observe(c.Frames.Tap)
	o.Tap = seen.tap
	plain := &http.Client{Transport: partOf[cable](c).round()}
	c.through(plain)
	t, err := wished.Transport(target.Connection{
		Stderr: &c.stderr, Logger: o.Logger, HTTP: plain,
		Login: func(url string) (*http.Client, error) {
			web, err := c.server.logins.web(ctx, c, url)
			c.through(web)
			return web, err
		},
	})
	if err != nil {
		return nil, err
	}
	return client.Connect(ctx, t, o)
}

// through notes what makes the requests of the connection; nil changes nothing.
func (c *Connection) through(web *http.Client) {
	if web == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.web = web
}

// maker returns what makes the requests of the connection.
func (c *Connection) maker() *http.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.web
}
