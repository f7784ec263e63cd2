package serverprobe

import (
	"slices"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/mcp"
)

// cancelled is a call that was cancelled.
type cancelled struct {
	tool    *Doing
	begun   time.Time
	call    *peer.Reply
	note    *peer.Message
	token   string        // that of its progress
	alone   bool          // it was made again when nothing else was under way
	settled int           // the length of the log when the cancellation must have been heard
	why     probe.Finding // set if nothing can be said of it
}

// slow reports whether a tool takes so long that it can be cancelled meanwhile.
func slow(d *Doing) bool { return d.Took > 700*time.Millisecond && len(d.Asks) == 0 && !d.Failed }

// cancellable chooses a call that takes long, or says why there is none.
func (x *X) cancellable() (*cancelled, probe.Finding) {
	slows := x.did(slow)
	switch {
	case x.Stateless && x.Transport == needsHTTP:
		return nil, probe.NotApplicable("over HTTP a call is cancelled by closing its stream, on which nothing can come then")
	case len(slows) == 0:
		return nil, probe.Unverified("no tool that may be called takes long")
	}
	slices.SortStableFunc(slows, func(a, b *Doing) int { return int(a.Took - b.Took) })
	if n := slices.IndexFunc(slows, func(d *Doing) bool { return d.Reports }); n > 0 {
		slows[0] = slows[n]
	}
	if slows[0].Took > x.opts.Patience.ReplyOrDefault() {
		return nil, probe.Unverified("the tools that may be called take too long, or not long enough")
	}
	return &cancelled{tool: slows[0], token: "cancelled"}, probe.Finding{}
}

// judgeCancelled judges a call that takes long and was cancelled. If it did not go
// well, which may be because of other calls that were under way, it is made once more.
func judgeCancelled(judge func(*X, *cancelled) probe.Finding) func(*X) probe.Finding {
	return func(x *X) probe.Finding {
		x.playSlow()
		s := x.slow
		if s.cancelled == nil {
			_, why := x.cancellable()
			return why
		}
		f := s.cancelled.judged(x, judge)
		if f.Outcome == verdict.Fail && !s.cancelled.alone {
			s.cancelled = &cancelled{tool: s.cancelled.tool, token: s.cancelled.token + "-again", alone: true}
			playAlone(x, s.cancelled)
			f = s.cancelled.judged(x, judge)
		}
		return f
	}
}

func (c *cancelled) judged(x *X, judge func(*X, *cancelled) probe.Finding) probe.Finding {
	if c.why.Outcome != "" {
		return c.why
	}
	return judge(x, c)
}

func (c *cancelled) took() time.Duration { return c.tool.Took }

// begin makes the call, and cancels it as soon as it is known to have begun.
func (c *cancelled) begin(x *X) bool {
	params := c.tool.params()
	params["_meta"] = map[string]any{"progressToken": c.token}
	from := x.Log.Len()
	c.begun = time.Now()
	c.call = x.Main.Begin("tools/call", params)
	if c.call.Err != nil {
		c.why = probe.Unverified("the call could not be sent: %v", c.call.Err)
		c.call.Stop()
		return false
	}
	x.Main.Await(x.Ctx, from, x.opts.Patience.QuietOrDefault(), func(m *peer.Message) bool {
		return isProgressOf(c.token)(m) || m.IsResponse() && string(m.ID) == string(c.call.Sent.ID)
	})
	c.note = x.Main.Notify(mcp.NoteCancelled, map[string]any{"requestId": c.call.Sent.ID, "reason": "cancelled-by-the-checker"}).Sent
	if answer := x.Log.ResponseTo(c.call.Sent); answer != nil && answer.Number < c.note.Number {
		c.why = probe.Unverified("the call ended before it could be cancelled")
		c.call.Stop()
		return false
	}
	return true
}

// end waits until the cancellation must have been heard, and then until the call
// would have ended without it.
func (c *cancelled) end(x *X) {
	defer c.call.Stop()
	quiet := x.opts.Patience.QuietOrDefault()
	x.Main.Quiet(x.Ctx)
	c.settled = x.Log.Len()
	if rest := c.tool.Took + quiet/2 - time.Since(c.begun); rest > 0 {
		x.Main.Await(x.Ctx, c.settled, rest, func(m *peer.Message) bool { return m.IsResponse() && string(m.ID) == string(c.call.Sent.ID) })
	}
}
