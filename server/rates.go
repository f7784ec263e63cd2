package server

import (
	"context"
	"fmt"
	"time"

	"github.com/parley-mcp/parley/internal/rates"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// The defaults of the rates in Options.
var (
	// A cheap tool can be called tens of thousands of times a second over one
	// connection, and whoever passes on the calls of many users needs thousands.
	// Only a loop that has lost its way needs more.
	defaultToolRate = mcp.Rate{PerSecond: 10_000, Burst: 20_000}
	// A person makes about ten of these a second while typing.
	defaultCompletionRate = mcp.Rate{PerSecond: 500, Burst: 1000}
	// More than anybody can read, and still the whole story of a busy call.
	defaultLogRate = mcp.Rate{PerSecond: 200, Burst: 1000}
	// How often a client is told that log messages were left out.
	omissionRate = mcp.Rate{PerSecond: 1, Burst: 5}
)

// sender is whose exchanges a rate bounds: a principal, or where the exchanges
// of an unknown one come from.
type sender struct{ principal, source string }

func senderOf(x *mcp.Exchange) sender {
	if x.Peer.Principal != "" {
		return sender{principal: x.Peer.Principal}
	}
	return sender{source: x.Peer.Source}
}

// bounds are the rates of a server.
type bounds struct{ tools, completions, logs, omissions *rates.Keyed[sender] }

func newBounds(o *Options) bounds {
	return bounds{
		tools:       rates.New[sender](o.ToolRate, defaultToolRate),
		completions: rates.New[sender](o.CompletionRate, defaultCompletionRate),
		logs:        rates.New[sender](o.LogRate, defaultLogRate),
		omissions:   rates.New[sender](omissionRate, omissionRate),
	}
}

// underRate counts an exchange, and returns the error for one that is over a rate.
// A model can do nothing about it, so it is not an error of the tool.
//
// Spec: 2026-07-28 server/tools#security-considerations (1).
func underRate(bound *rates.Keyed[sender], x *mcp.Exchange, what string) error {
	wait := bound.Take(senderOf(x))
	if wait == 0 {
		return nil
	}
	return jsonrpc.Errorf(jsonrpc.CodeInternalError, "too many %s: a client may make %g a second; try again in %s",
		what, bound.PerSecond(), roundUp(wait))
}

// roundUp returns a time to wait as it is worth reading.
func roundUp(d time.Duration) time.Duration {
	unit := time.Millisecond
	if d > 10*time.Second {
		unit = time.Second
	}
	return (d + unit - 1).Truncate(unit)
}

// omitted counts the log messages of an exchange that were over the rate.
type omitted struct {
	count int
	worst mcp.LoggingLevel // the most severe of them
}

// mayTell counts a log message, and reports whether it is within the rate.
//
// Spec: 2026-07-28 server/utilities/logging#implementation-considerations (1).
func (c *Call) mayTell(level mcp.LoggingLevel) bool {
	if c.s.bounds.logs.Take(senderOf(c.x)) == 0 {
		return true
	}
	c.x.Drop(mcp.DropThrottled, mcp.NoteMessage, nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.omitted.count++
	if level.Severity() > c.omitted.worst.Severity() {
		c.omitted.worst = level
	}
	return false
}

// tellOmitted says how many log messages were left out, if any were. It does so
// at the level of the most severe, so that whoever wanted them gets to know.
func (c *Call) tellOmitted(ctx context.Context) {
	c.mu.Lock()
	o := c.omitted
	c.omitted = omitted{}
	c.mu.Unlock()
	if o.count == 0 || c.s.bounds.omissions.Take(senderOf(c.x)) > 0 {
		return
	}
	c.s.log.WarnContext(ctx, "log messages left out for the client; see Options.LogRate", "method", c.x.Method, "count", o.count)
	c.send(ctx, &mcp.LogParams{Level: o.worst, Data: fmt.Sprintf(
		"%d log messages were left out: a client gets %g a second", o.count, c.s.bounds.logs.PerSecond())})
}
