package serverprobe

import (
	"encoding/json"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/mcp"
)

// listening is a subscription of a stateless server.
type listening struct {
	*peer.Reply

	c *Conn
	// Ack is the acknowledgment, or nil if none came in time.
	Ack *peer.Message
}

// listens are what a client can listen to, each with the capability that the
// server needs for it, and the method of the notifications.
var listens = []struct{ member, capability, method string }{
	{"toolsListChanged", "tools/listChanged", mcp.NoteToolsChanged},
	{"promptsListChanged", "prompts/listChanged", mcp.NotePromptsChanged},
	{"resourcesListChanged", "resources/listChanged", mcp.NoteResourcesChanged},
	{"resourceSubscriptions", "resources/subscribe", mcp.NoteResourceUpdated},
}

// everything is a filter for all that the server has.
func (x *X) everything() map[string]any {
	filter := map[string]any{}
	for _, l := range listens {
		switch {
		case !x.Offer.Has(l.capability):
		case l.member == "resourceSubscriptions":
			filter[l.member] = x.watchable()
		default:
			filter[l.member] = true
		}
	}
	return filter
}

// watchable are the first resources, for subscriptions.
func (x *X) watchable() []any {
	uris := []any{}
	for _, r := range x.Offer.Resources[:min(mostResources, len(x.Offer.Resources))] {
		if uri, ok := r["uri"].(string); ok {
			uris = append(uris, uri)
		}
	}
	return uris
}

// listen opens a subscription with an ID, which may be nil, and waits for the
// acknowledgment. The caller stops it.
func (c *Conn) listen(id any, filter map[string]any) *listening {
	request := c.Request("subscriptions/listen", map[string]any{"notifications": filter})
	if id != nil {
		request["id"] = id
	}
	return c.listenTo(request)
}

// listenTo is listen with a request of one's own.
func (c *Conn) listenTo(request map[string]any) *listening {
	l := &listening{Reply: c.Start(c.x.Ctx, peer.Frame(request)), c: c}
	if l.Err == nil {
		first := l.For(c.x.Ctx, func(m *peer.Message) bool {
			return l.concerns(m) || string(m.ID) == string(l.Sent.ID) && m.IsResponse()
		})
		if first != nil && first.Method == mcp.NoteAcknowledged {
			l.Ack = first
		}
	}
	return l
}

// concerns reports whether a message of the same connection belongs to the
// subscription.
func (l *listening) concerns(m *peer.Message) bool {
	if l.Exchange != nil {
		return m.Exchange == l.Exchange
	}
	id, ok := subscriptionOf(m)
	return ok && string(id) == string(l.Sent.ID)
}

// subscriptionOf is the ID of the subscription that a message says to belong to.
func subscriptionOf(m *peer.Message) (json.RawMessage, bool) {
	within := "params"
	if m.IsResponse() {
		within = "result"
	}
	id, ok := m.Get(within + "/_meta/" + pointer(mcp.MetaSubscriptionID))
	return peer.Encode(id), ok
}

// cancel ends the subscription as a client does.
//
// Spec: 2026-07-28 basic/patterns/subscriptions#cancellation.
func (l *listening) cancel() {
	if l.Exchange == nil && l.Err == nil {
		l.c.Notify(mcp.NoteCancelled, map[string]any{"requestId": l.Sent.ID})
	}
	l.Stop()
}

// overhear listens to all changes until what it returns is called.
func (x *X) overhear() func() {
	if x.Stateless {
		filter := x.everything()
		if len(filter) == 0 {
			return func() {}
		}
		return x.Main.listen(nil, filter).cancel
	}
	if !x.Offer.Has("resources/subscribe") {
		return func() {}
	}
	uris := x.watchable()
	for _, uri := range uris {
		x.Call("resources/subscribe", map[string]any{"uri": uri})
	}
	return func() {
		for _, uri := range uris {
			x.Call("resources/unsubscribe", map[string]any{"uri": uri})
		}
	}
}

// within reports whether a URI is one that was subscribed to, or lies below it.
//
// Spec: 2026-07-28 schema#resourceupdatednotification.
func within(uri string, subscribed any) bool {
	s, _ := subscribed.(string)
	return s != "" && strings.HasPrefix(uri, s)
}
