package serverprobe

import (
	"slices"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

// updated is a resource that tools were seen to update.
type updated struct {
	uri   string
	tools []*Doing // all that may have updated it in the survey
	quick []*Doing // those of them that take little time
	// enough are those that were called when the update came again.
	enough []*Doing
	why    probe.Finding // set if there is none, or it does not come again
}

// updating finds the resource, once for all probes.
func (x *X) updating() *updated {
	if x.updated != nil {
		return x.updated
	}
	u := &updated{tools: x.before(func(d *Doing) bool { return slices.Contains(d.Changes, mcp.NoteResourceUpdated) })}
	x.updated = u
	u.tools = u.tools[:min(mostChanges, len(u.tools))]
	u.quick = slices.DeleteFunc(slices.Clone(u.tools), func(d *Doing) bool { return !isQuick(d) })
	for _, m := range x.Received(func(m *peer.Message) bool { return m.Method == mcp.NoteResourceUpdated }) {
		u.uri = m.Text("params/uri")
	}
	switch {
	case len(u.tools) == 0:
		u.why = probe.Unverified("no tool that may be called updates a resource")
	case u.uri == "" || !slices.Contains(x.watchable(), any(u.uri)):
		u.why = probe.Unverified("the update that was seen names no resource of the list")
	}
	return u
}

// again sees whether the update comes again to who has subscribed in a session, once
// for all probes.
func (u *updated) again(x *X) {
	if u.why.Outcome != "" || u.enough != nil {
		return
	}
	x.Main.subscribe(u.uri)
	_, seen, enough := x.Main.touchAny(u.uri, u.tries())
	x.Call("resources/unsubscribe", map[string]any{"uri": u.uri})
	if u.enough = enough; seen == nil {
		u.why = probe.Unverified("the update that was seen did not come again")
	}
}

// tries are the tools to be called until the update comes: first those that were
// enough, or that take little time, then all.
func (u *updated) tries() [][]*Doing {
	switch {
	case u.enough != nil:
		return [][]*Doing{u.enough, u.tools}
	case len(u.quick) == 0:
		return [][]*Doing{u.tools}
	default:
		return [][]*Doing{u.quick, u.tools}
	}
}

// audience opens a conversation in which an update would be heard.
func (x *X) audience() (*Conn, error) {
	c, err := x.Open(nil)
	if err != nil {
		return nil, err
	}
	c.headOf(c.Stream) // else the update may come before there is a stream for it
	return c, nil
}

func updatesTold(x *X) probe.Finding {
	u := x.updating()
	u.again(x)
	if u.why.Outcome != "" {
		return u.why
	}
	c, err := x.audience()
	if err != nil {
		return probe.Unverified("no conversation could be opened for it: %v", err)
	}
	defer c.Leave()
	c.subscribe(u.uri)
	call, told, _ := c.touchAny(u.uri, u.tries())
	if told == nil {
		return probe.Fail(probe.OfReply(call), "the update was not told to who had subscribed")
	}
	return probe.Pass(probe.Of(call.Sent, told)...)
}

func updatesUntold(x *X) probe.Finding {
	u := x.updating()
	u.again(x)
	if u.why.Outcome != "" {
		return u.why
	}
	c, err := x.audience()
	if err != nil {
		return probe.Unverified("no conversation could be opened for it: %v", err)
	}
	defer c.Leave()
	c.subscribe(u.uri)
	c.Call("resources/unsubscribe", map[string]any{"uri": u.uri})
	call, told := c.touch(u.uri, u.enough)
	if told != nil {
		return probe.Fail(probe.Of(call.Sent, told), "the update was told to who had not subscribed")
	}
	return probe.Pass(probe.OfReply(call)...)
}

func (c *Conn) subscribe(uri string) { c.Call("resources/subscribe", map[string]any{"uri": uri}) }

// touch calls tools that were seen to update a resource, and returns the last call
// and the update, or nil if none came.
func (c *Conn) touch(uri string, tools []*Doing) (call *peer.Reply, update *peer.Message) {
	from := c.Log.Len()
	for _, tool := range tools {
		call = c.Call("tools/call", tool.params())
	}
	return call, c.Await(c.x.Ctx, from, 2*c.x.opts.Patience.QuietOrDefault(), func(m *peer.Message) bool {
		return m.Method == mcp.NoteResourceUpdated && m.Text("params/uri") == uri
	})
}

// touchAny is touch with one group of tools after the other until the update comes. It
// also returns the last group.
func (c *Conn) touchAny(uri string, tries [][]*Doing) (call *peer.Reply, update *peer.Message, enough []*Doing) {
	for _, enough = range tries {
		if call, update = c.touch(uri, enough); update != nil {
			break
		}
	}
	return call, update, enough
}

// runDelivered makes the same update for two subscriptions.
func runDelivered(x *X) probe.Finding {
	u := x.updating()
	if u.why.Outcome != "" {
		return u.why
	}
	var seen []probe.Blame
	for n, id := range []string{"parley-watch-first", "parley-watch-again"} {
		l := x.Main.listen(id, map[string]any{"resourceSubscriptions": []any{u.uri}})
		if l.Ack == nil {
			l.cancel()
			return probe.Unverified("the subscription was not acknowledged").Explained(acknowledged)
		}
		call, update, enough := x.Main.touchAny(u.uri, u.tries())
		l.cancel()
		switch {
		case update == nil && n == 0:
			return probe.Unverified("the update that was seen did not come again")
		case update == nil:
			return probe.Fail(append(probe.Of(l.Sent), probe.OfReply(call)...), "the update was not told to who had subscribed")
		}
		u.enough = enough
		seen = probe.Of(l.Sent, update)
	}
	return probe.Pass(seen...)
}
