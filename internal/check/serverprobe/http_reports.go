package serverprobe

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

// The tokens of calls that report progress on streams that are compared.
const (
	firstToken  = "parley-check-first"  //nolint:gosec // names a call's progress
	secondToken = "parley-check-second" //nolint:gosec // likewise
)

// tokenPath is where a request has its progress token.
const tokenPath = "params/_meta/progressToken" //nolint:gosec // a place in a message

// reporting are the calls whose progress came on their own streams, the longest
// first.
func (x *X) reporting() []Callable {
	took := map[string]time.Duration{}
	for _, m := range x.Received(nil) {
		if m.Method != "notifications/progress" || m.Exchange == nil || m.Exchange.Message == nil {
			continue
		}
		asked := m.Exchange.Message
		if answer := x.Log.ResponseTo(asked); asked.Method == "tools/call" && answer != nil {
			took[asked.Text("params/name")] = answer.At - asked.At
		}
	}
	all := slices.DeleteFunc(slices.Clone(x.Offer.Callable), func(c Callable) bool { _, ok := took[c.Name]; return !ok })
	slices.SortStableFunc(all, func(a, b Callable) int { return cmp.Compare(took[b.Name], took[a.Name]) })
	return all
}

func noReports() probe.Finding {
	return probe.Unverified("no tool that may be called reports progress")
}

// report begins a call with a progress token. The caller stops it.
func (x *X) report(c *Conn, tool Callable, token string, more ...string) *peer.Reply {
	meta := map[string]any{"progressToken": token}
	if len(more) > 0 {
		meta[mcp.MetaLogLevel] = more[0]
	}
	return c.Begin("tools/call", map[string]any{"name": tool.Name, "arguments": maps.Clone(tool.Arguments), "_meta": meta})
}

func isProgressOf(token string) func(*peer.Message) bool {
	return func(m *peer.Message) bool {
		return m.Method == "notifications/progress" && m.Text("params/progressToken") == token
	}
}

func twoStreams(x *X) probe.Finding {
	calls := x.reporting()
	if len(calls) == 0 {
		return noReports()
	}
	first := x.report(x.Main, calls[0], firstToken)
	defer first.Stop()
	first.For(x.Ctx, isProgressOf(firstToken))
	second := x.report(x.Main, calls[len(calls)-1], secondToken)
	defer second.Stop()
	second.Wait(x.Ctx)
	w := &probe.Watch{}
	known := map[string]*peer.Message{}
	for _, m := range x.Log.Messages() {
		if token, ok := m.Get(tokenPath); ok && m.Sent && m.IsRequest() {
			known[string(peer.Encode(token))] = m
		}
	}
	for _, m := range x.Received(nil) {
		token, _ := m.Get("params/progressToken")
		asked := known[string(peer.Encode(token))]
		if m.Method != "notifications/progress" || m.Exchange == nil || m.Exchange.Message == nil || asked == nil || asked.Object("params/task") != nil {
			continue
		}
		w.Saw(m)
		if own, _ := m.Exchange.Message.Get(tokenPath); !reflect.DeepEqual(own, token) && len(m.Exchange.Message.Items) == 0 {
			w.FaultOf([]probe.Blame{{Message: m, Pointer: "/params/progressToken"}, {Message: m.Exchange.Message}, {Message: asked}}, "progress of one request came on the stream of another one")
		}
	}
	w.Nothing(noReports())
	return w.Finding()
}

func listenMeanwhile(x *X) probe.Finding {
	calls := x.reporting()
	if len(calls) == 0 {
		return noReports()
	}
	all := map[string]any{"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true}
	listen := x.Main.Begin("subscriptions/listen", map[string]any{"notifications": all, "_meta": map[string]any{mcp.MetaLogLevel: "debug"}})
	defer listen.Stop()
	ack := listen.For(x.Ctx, func(m *peer.Message) bool {
		return m.Method == "notifications/subscriptions/acknowledged" || m.IsResponse()
	})
	switch {
	case ack == nil:
		return probe.Unverified("no subscription was acknowledged")
	case ack.IsError():
		return probe.NotApplicable("the server has no subscriptions")
	}
	r := x.report(x.Main, calls[len(calls)-1], secondToken+"-meanwhile", "debug")
	defer r.Stop()
	r.Wait(x.Ctx)
	x.Main.Quiet(x.Ctx)
	for _, m := range x.Received(nil) {
		if m.Exchange == listen.Exchange && (m.Method == "notifications/progress" || m.Method == "notifications/message") {
			return probe.Fail([]probe.Blame{{Message: listen.Sent}, {Message: m}}, "%s came on the stream of a subscription", m.Method)
		}
	}
	return probe.Pass(probe.Of(listen.Sent, ack)...)
}

func breakOff(x *X) probe.Finding {
	calls := x.reporting()
	if len(calls) == 0 {
		return noReports()
	}
	const token = "parley-check-broken-off" //nolint:gosec // names a call's progress
	r := x.report(x.Main, calls[0], token)
	if r.For(x.Ctx, isProgressOf(token)) == nil {
		r.Stop()
		return probe.Unverified("the call reported nothing this time").Explained(answersRequests)
	}
	r.Stop()
	if r.Wait(x.Ctx); r.Response != nil {
		return probe.Unverified("the call was over before it could be broken off")
	}
	other := x.report(x.Main, calls[len(calls)-1], secondToken+"-after")
	defer other.Stop()
	other.Wait(x.Ctx)
	x.Main.Quiet(x.Ctx)
	for _, m := range x.Received(nil) {
		if m.Exchange != r.Exchange && (isProgressOf(token)(m) || m.IsResponse() && x.Log.RequestOf(m) == r.Sent) {
			return probe.Fail(probe.Of(r.Sent, m), "a message about the request came after its stream was closed")
		}
	}
	return probe.Pass(probe.Of(r.Sent)...)
}
