package gateway

import (
	"encoding/json"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/serverprobe"
	"github.com/parley-mcp/parley/internal/check/specimen"
)

// needsSpecimen says how to have something seen that only a server of ours tells.
const needsSpecimen = `it takes a server that tells what reached it: put "parley check specimen" behind the gateway`

// requests looks at what reached the server.
func requests(p *pair) probe.Finding {
	name := p.toolName(specimen.ShowRequest)
	if name == "" {
		return probe.Unverified(needsSpecimen)
	}
	sent := map[string]any{
		"text":      "line\u2028 and \u0000 and 𝄞",
		"big":       json.Number("9223372036854775808"),
		"precise":   json.Number("0.1234567890123456789"),
		"zero":      json.Number("1.0"),
		"nothing":   nil,
		"deep":      map[string]any{"list": []any{true, json.Number("-0"), ""}},
		"__proto__": "kept",
	}
	meta := map[string]any{"com.example/trace": map[string]any{"id": json.Number("9007199254740993")}}
	r := p.through.x.Call("tools/call", map[string]any{"name": name, "arguments": sent, "_meta": meta})
	if r.Response == nil || !r.Response.IsResult() {
		return probe.Unverified("the gateway does not answer the call")
	}
	got, err := peer.Decode([]byte(r.Response.Text("result/content/0/text")))
	if err != nil {
		return probe.Fail(probe.OfReply(r), "what the server received is not what it says: %v", err)
	}
	arguments, _ := peer.Get(got, "arguments")
	for _, d := range differences(any(sent), arguments, nil) {
		return probe.Fail(probe.OfReply(r), "arguments%s", d.String())
	}
	trace, _ := peer.Get(got, "_meta/com.example~1trace")
	for _, d := range differences(meta["com.example/trace"], trace, nil) {
		return probe.Fail(probe.OfReply(r), "_meta/com.example~1trace%s", d.String())
	}
	return probe.Pass(probe.OfReply(r)...)
}

// cancellation cancels a call, and asks the server whether it has heard of it.
//
// Spec: 2026-07-28 basic/patterns/cancellation#cancellation-flow.
func cancellation(p *pair) probe.Finding {
	wait, tell := p.toolName(specimen.WaitLong), p.toolName(specimen.ShowCancelled)
	if wait == "" || tell == "" {
		return probe.Unverified(needsSpecimen)
	}
	x := p.through.x
	c, err := x.Open(nil)
	if err != nil {
		return probe.Unverified("no further conversation could be opened: %v", err)
	}
	defer func() { _ = c.Close() }() // it has served its purpose
	before := cancelled(c.Call("tools/call", map[string]any{"name": tell, "arguments": map[string]any{}}))
	r := c.Begin("tools/call", map[string]any{"name": wait, "arguments": map[string]any{}, "_meta": map[string]any{"progressToken": "cancelled"}})
	defer r.Stop()
	if r.For(p.ctx, func(m *peer.Message) bool { return m.Method == "notifications/progress" || m.IsResponse() }) == nil || r.Sent == nil {
		return probe.Unverified("the call did not begin")
	}
	if x.Stateless && x.Transport == "http" {
		r.Stop()
	} else {
		c.Notify("notifications/cancelled", map[string]any{"requestId": r.Sent.ID, "reason": "no longer needed"})
	}
	for range 5 {
		if cancelled(c.Call("tools/call", map[string]any{"name": tell, "arguments": map[string]any{}})) != before {
			return probe.Pass(probe.Of(r.Sent)...)
		}
		c.Quiet(p.ctx)
	}
	return probe.Fail(probe.Of(r.Sent), "the call was cancelled, and the server behind has not heard of it")
}

// cancelled is what the specimen says of cancelled calls.
func cancelled(r *peer.Reply) string {
	if r.Response == nil {
		return ""
	}
	return r.Response.Text("result/content/0/text")
}

// updates subscribes, has the server change something, and waits to be told.
func updates(p *pair) probe.Finding {
	touch := p.toolName(specimen.TouchResource)
	if touch == "" {
		return probe.Unverified(needsSpecimen)
	}
	uri := ""
	for _, r := range p.around.x.Offer.Resources {
		if r["uri"] == specimen.Touched {
			uri = p.uri(r)
		}
	}
	if uri == "" {
		return probe.Unverified("the gateway does not show the resource %s", specimen.Touched)
	}
	if !p.through.x.Offer.Has("resources/subscribe") {
		return probe.Fail(nil, "the server lets clients subscribe to resources, and the gateway does not")
	}
	stop, refused := p.through.subscribe(uri)
	if refused != nil {
		return probe.Fail(probe.OfReply(refused), "the gateway does not take a subscription to %s", uri)
	}
	defer stop()
	from := p.log.Len()
	r := p.through.x.Call("tools/call", map[string]any{"name": touch, "arguments": map[string]any{}})
	told := p.through.x.Main.Await(p.ctx, from, p.through.x.Main.Patience.Reply, func(m *peer.Message) bool {
		return m.Method == "notifications/resources/updated" && m.Text("params/uri") == uri
	})
	if told == nil {
		return probe.Fail(probe.OfReply(r), "the server has said that %s changed, and the client was not told", uri)
	}
	return probe.Pass(probe.Of(told)...)
}

// subscribe watches a resource in the way of the era. If the gateway refuses, it
// returns the reply that says so.
func (s *side) subscribe(uri string) (stop func(), refused *peer.Reply) {
	if !s.x.Stateless {
		r := s.x.Call("resources/subscribe", map[string]any{"uri": uri})
		if r.Response == nil || !r.Response.IsResult() {
			return nil, r
		}
		return func() { s.x.Call("resources/unsubscribe", map[string]any{"uri": uri}) }, nil
	}
	r := s.x.Main.Begin("subscriptions/listen", map[string]any{"notifications": map[string]any{"resourceSubscriptions": []any{uri}}})
	if r.For(s.x.Ctx, func(m *peer.Message) bool { return m.Method == "notifications/subscriptions/acknowledged" }) == nil {
		r.Stop()
		return nil, r
	}
	return r.Stop, nil
}

// twoClients uses the same ID and the same token in two conversations at once.
func twoClients(p *pair) probe.Finding {
	mirror := p.toolName(specimen.EchoHeader)
	if mirror == "" {
		return probe.Unverified(needsSpecimen)
	}
	var conns []*serverprobe.Conn
	for range 2 {
		c, err := p.through.x.Open(nil)
		if err != nil {
			return probe.Unverified("no further conversation could be opened: %v", err)
		}
		defer func() { _ = c.Close() }() // it has served its purpose
		conns = append(conns, c)
	}
	for round := range 10 {
		if f, mixed := p.atOnce(conns, mirror, round); mixed {
			return f
		}
	}
	return probe.Pass()
}

// atOnce makes one call in each conversation, with one ID, and compares what
// comes with what belongs to it.
func (p *pair) atOnce(conns []*serverprobe.Conn, name string, round int) (probe.Finding, bool) {
	regions := []string{"north", "south"}
	var replies []*peer.Reply
	for n, c := range conns {
		m := c.Request("tools/call", map[string]any{
			"name": name, "arguments": map[string]any{"region": regions[n]},
			"_meta": map[string]any{"progressToken": "shared"},
		})
		m["id"] = "shared-" + string(peer.Encode(round))
		replies = append(replies, c.Start(p.ctx, peer.Frame(m)))
	}
	for _, r := range replies {
		defer r.Stop()
		r.Wait(p.ctx)
	}
	for n, r := range replies {
		if r.Response == nil || !r.Response.IsResult() {
			return probe.Unverified("a call in one of the two conversations was not answered"), true
		}
		text := r.Response.Text("result/content/0/text")
		if strings.Contains(text, regions[1-n]) || !strings.Contains(text, regions[n]) {
			return probe.Fail(probe.OfReply(r), "a client that sent %q got what the other one is to get", regions[n]), true
		}
	}
	return probe.Finding{}, false
}
