package client

import "time"

// keepAlive periodically checks that the server still answers, and gives up the
// connection when it does not.
//
// Spec: 2025-11-25 basic/utilities/ping#usage-patterns.
func (c *Client) keepAlive() {
	ticker := time.NewTicker(c.opts.KeepAlive)
	defer ticker.Stop()
	failures := 0
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-ticker.C:
		}
		err := c.check()
		switch {
		case c.ctx.Err() != nil:
			return
		case err == nil:
			failures = 0
			continue
		}
		failures++
		c.opts.Logger.Warn("the server does not answer a check", "server", c.transport.Name(), "failures", failures, "error", err)
		if failures >= c.opts.KeepAliveFailures {
			c.giveUp(failures)
			return
		}
	}
}

// check asks the server for a sign of life, within Options.KeepAlive. As in any
// call, the time in which the client's own user logs in does not count.
//
// Spec: 2025-11-25 basic/utilities/ping#error-handling.
func (c *Client) check() error {
	ctx, watchdog := c.bound(c.ctx, &callOptions{timeout: c.opts.KeepAlive})
	defer watchdog.stop()
	return c.Ping(ctx, WithTimeout(-1), WithMaxTimeout(-1))
}

func (c *Client) giveUp(failures int) {
	c.opts.Logger.Warn("connection given up: the server does not answer", "server", c.transport.Name(), "checks", failures)
	c.end(ErrKeepAlive)
	c.mu.Lock()
	l := c.live
	c.mu.Unlock()
	if l != nil {
		_ = l.conn.Close()
	}
}
