package client

import (
	"context"
	"time"
)

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
		ctx, cancel := context.WithTimeoutCause(c.ctx, c.opts.KeepAlive, ErrTimeout)
		err := c.Ping(ctx)
		cancel()
		if failures++; err == nil {
			failures = 0
		}
		if failures >= c.opts.KeepAliveFailures {
			c.giveUp(failures, err)
			return
		}
	}
}

func (c *Client) giveUp(failures int, err error) {
	c.opts.Logger.Warn("connection given up: the server does not answer", "checks", failures, "error", err)
	c.end(ErrKeepAlive)
	c.mu.Lock()
	l := c.live
	c.mu.Unlock()
	if l != nil {
		_ = l.conn.Close()
	}
}
