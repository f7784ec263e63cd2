package serverprobe

import (
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

var changeProbes = []Probe{
	announced(toolList, mcp.NoteToolsChanged, "tools/listChanged", "26.server.tools-017", "2511.server.tools-007"),
	announced(promptList, mcp.NotePromptsChanged, "prompts/listChanged", "26.server.prompts-009", "2511.server.prompts-003"),
	announced(resourceList, mcp.NoteResourcesChanged, "resources/listChanged", "26.server.resources-014", "2511.server.resources-007"),
	{
		Info: probe.Info{
			ID: "subscriptions/declared-is-honoured", Rows: []string{"26.server.resources-003", "2511.server.resources-002"},
			Does:    "Subscribes to the resources that are listed.",
			Accepts: "That it is done: the server declares resources.subscribe.",
			After:   []string{acknowledged},
		},
		Needs: []string{"resources/subscribe"},
		Run: func(x *X) probe.Finding {
			uris := x.watchable()
			switch {
			case len(uris) == 0:
				return probe.Unverified("the server lists no resources")
			case !x.Stateless:
				r := x.Call("resources/subscribe", map[string]any{"uri": uris[0]})
				x.Call("resources/unsubscribe", map[string]any{"uri": uris[0]})
				return wantResult(r)
			}
			l := x.Main.listen(nil, map[string]any{"resourceSubscriptions": uris})
			defer l.cancel()
			if l.Ack == nil {
				return probe.Unverified("the subscription was not acknowledged").Explained(acknowledged)
			}
			if len(l.Ack.List("params/notifications/resourceSubscriptions")) == 0 {
				return probe.Fail(probe.Of(l.Sent, l.Ack), "the server declares resources.subscribe, and honours no subscription to its resources")
			}
			return probe.Pass(probe.Of(l.Sent, l.Ack)...)
		},
	},
	{
		Info: probe.Info{
			ID: "subscriptions/updates-told", Rows: []string{"2511.server.resources-008"},
			Does:    "Subscribes to resources, and calls a tool that was seen to update one.",
			Accepts: "notifications/resources/updated with the uri.",
		},
		Needs: []string{needsSession, "resources/subscribe"},
		Run:   updatesTold,
	},
	{
		Info: probe.Info{
			ID: "subscriptions/updates-delivered", Rows: []string{"26.server.resources-015"},
			Does:    "Subscribes to a resource twice, one time after the other, and calls a tool that was seen to update it.",
			Accepts: "notifications/resources/updated with the uri for the second subscription, if there was one for the first.",
			After:   []string{acknowledged, "subscriptions/tagged", "subscriptions/tag-is-id"},
		},
		Needs: []string{needsStateless, "resources/subscribe"},
		Run:   runDelivered,
	},
	{
		Info: probe.Info{
			ID: "subscriptions/updates-untold", Rows: []string{"2511.server.resources-009", "2511.architecture-003"},
			Does:    "Subscribes to a resource and unsubscribes, and calls a tool that was seen to update it.",
			Accepts: "Silence.",
		},
		Needs: []string{needsSession, "resources/subscribe"},
		Run:   updatesUntold,
	},
}

// announced is the probe of whether changes of a list are announced.
func announced(l listing, method, capability string, rows ...string) Probe {
	return Probe{
		Info: probe.Info{
			ID: "changes/" + l.member, Rows: rows,
			Does:    "Listens during the calls of all tools that may be called, and compares the list before and after.",
			Accepts: method + ", if the list has changed.",
			Mend:    "Send " + method + " to whoever listens when the list has changed, or do not declare listChanged.",
			After:   []string{"pagination/" + l.method},
		},
		Needs: []string{capability},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("no tool that may be called changes the list"))
			for _, m := range x.Received(func(m *peer.Message) bool { return m.Method == method }) {
				w.Saw(m)
				return
			}
			if changed := x.Offer.Changed[l.member]; changed != nil {
				w.FaultOf(probe.Of(changed), "the list has changed, and nothing was said")
			}
		},
	}
}

// review lists again what the server says to announce changes of, and remembers
// which lists have changed.
func (x *X) review() {
	x.Offer.Changed = map[string]*peer.Message{}
	for _, l := range []listing{toolList, promptList, resourceList} {
		if !x.Offer.Has(l.member + "/listChanged") {
			continue
		}
		again, first, whole := x.Main.list(l.method, l.member)
		if whole && !sameSet(keys(l, x.offered(l)), keys(l, again)) {
			x.Offer.Changed[l.member] = first
		}
	}
	if len(x.Offer.Changed) > 0 {
		x.Main.Quiet(x.Ctx) // the announcement may come somewhat later
	}
}
