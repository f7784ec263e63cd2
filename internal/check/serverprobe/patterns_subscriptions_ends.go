package serverprobe

import (
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

// How subscriptions end, by the client and by the server.
var subscriptionEnds = []Probe{
	{
		Info: probe.Info{
			ID: "subscriptions/silent-after", Rows: []string{"26.basic.patterns.subscriptions-017"},
			Does:    "Cancels a subscription, and calls a tool that makes changes.",
			Accepts: "Nothing more for the subscription.",
		},
		Needs: []string{needsStateless, needsStdio}, // over HTTP nothing can come on a stream that is closed
		Run:   runSilentAfter,
	},
	{
		Info: probe.Info{
			ID: "subscriptions/result", Rows: []string{"26.basic.patterns.subscriptions-020", "26.schema-032"},
			Does:    "Looks at the results of subscriptions that the server has ended.",
			Accepts: "A resultType, and in _meta the ID of the subscription.",
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(neverEnded)
			for _, r := range x.Results("subscriptions/listen") {
				w.Saw(r.Response)
				if id, _ := subscriptionOf(r.Response); string(id) != string(r.Request.ID) {
					w.Fault(r.Response, "/result/_meta", "the result does not name the subscription that it ends")
				} else if r.Response.Text("result/resultType") == "" {
					w.Fault(r.Response, "/result", "the result has no resultType")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "subscriptions/ends-with-result", Rows: []string{"26.basic.patterns.subscriptions-018", "26.basic.patterns.subscriptions-019"},
			Does:    "Looks at subscriptions that the server has cancelled.",
			Accepts: "A result of subscriptions/listen.",
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(neverEnded)
			x.eachCancelled(func(request, note *peer.Message) {
				w.Saw(note)
				if x.Log.ResponseTo(request) == nil {
					w.FaultOf(probe.Of(request, note), "the subscription was ended without a result")
				}
			})
		},
	},
	{
		Info: probe.Info{
			ID: "cancellation/of-subscription", Rows: []string{"26.basic.patterns.cancellation-002"},
			Does:    "Looks at subscriptions that the server has ended.",
			Accepts: "notifications/cancelled with the ID of the subscription; of a result, with which the page on subscriptions is content, nothing is said.",
		},
		Needs: []string{needsStateless},
		Watch: watchTeardown,
	},
}

// eachCancelled calls each for the subscriptions that the server says to have
// ended.
func (x *X) eachCancelled(each func(request, note *peer.Message)) {
	for _, m := range x.Received(func(m *peer.Message) bool { return m.Method == mcp.NoteCancelled }) {
		id, _ := m.Get("params/requestId")
		if request := x.requestWith(m, id); request != nil && request.Method == "subscriptions/listen" {
			each(request, m)
		}
	}
}

// watchTeardown judges how subscriptions were ended that the server had
// acknowledged. What the client cancelled itself, the server has not torn down.
func watchTeardown(x *X, w *probe.Watch) {
	w.Nothing(neverEnded)
	told := map[*peer.Message]bool{}
	x.eachCancelled(func(request, note *peer.Message) {
		told[request] = true
		w.Saw(note)
	})
	open := map[*peer.Message]bool{}
	x.eachListened(&probe.Watch{}, func(request, m *peer.Message) {
		switch {
		case m.Method == mcp.NoteAcknowledged:
			open[request] = true
		case !m.IsResponse() || !open[request] || told[request] || x.gaveUp(request, m.Number):
		case m.IsError():
			w.FaultOf(probe.Of(request, m), "the subscription was ended by an error, and no notifications/cancelled came for it")
		default:
			w.Nothing(endedByResult)
		}
	})
}

// changing are the tools that were seen to make changes, the quickest first.
func (x *X) changing() []*Doing {
	all := x.before(func(d *Doing) bool { return len(d.Changes) > 0 })
	byTime(all)
	return all
}

// mostChanges is how many tools are called to make changes.
const mostChanges = 4

// makeChanges calls tools that make changes, and waits until these are announced,
// which may be somewhat later.
func (x *X) makeChanges() {
	tools := x.changing()
	for _, d := range tools[:min(mostChanges, len(tools))] {
		x.Call("tools/call", d.params())
	}
	if len(tools) > 0 {
		x.Main.Quiet(x.Ctx)
	}
}

// runSilentAfter cancels a subscription and makes changes.
func runSilentAfter(x *X) probe.Finding {
	switch {
	case !x.listens():
		return notListening
	case len(x.changing()) == 0:
		return probe.Unverified("no tool that may be called makes changes")
	}
	l := x.Main.listen(nil, x.everything())
	if l.Ack == nil {
		l.cancel()
		return probe.Unverified("the subscription was not acknowledged").Explained(acknowledged)
	}
	l.cancel()
	x.Do(x.simplest()) // once it is answered, the cancellation has been read
	from := x.Log.Len()
	x.makeChanges()
	for _, m := range x.Log.Since(from) {
		if !m.Sent && m.Conn == x.Main.Number && l.concerns(m) {
			return probe.Fail(probe.Of(l.Sent, m), "something came for a subscription that was cancelled")
		}
	}
	return probe.Pass(probe.Of(l.Sent)...)
}
