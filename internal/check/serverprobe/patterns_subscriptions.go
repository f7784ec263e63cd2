package serverprobe

import (
	"slices"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

const acknowledged = "subscriptions/acknowledged"

var subscriptionProbes = []Probe{
	{
		Info: probe.Info{
			ID: "subscriptions/needs-filter", Rows: []string{"26.basic.patterns.subscriptions-002"},
			Does:    "Sends subscriptions/listen without notifications.",
			Accepts: "The error -32602.",
		},
		Needs: []string{needsStateless},
		Run: func(x *X) probe.Finding {
			if !x.listens() {
				return notListening
			}
			l := x.Main.listenTo(x.Request("subscriptions/listen", nil))
			defer l.cancel()
			if l.Ack != nil {
				return probe.Fail(probe.Of(l.Sent, l.Ack), "a subscription without a filter was acknowledged")
			}
			return wantError(l.Wait(x.Ctx), -32602)
		},
	},
	{
		Info: probe.Info{
			ID: acknowledged, Rows: []string{"26.basic.patterns.subscriptions-006"},
			Does:    "Subscribes to all that the server declares to announce.",
			Accepts: "notifications/subscriptions/acknowledged with the ID of the subscription.",
			After:   []string{answersRequests},
		},
		Needs: []string{needsStateless},
		Run: func(x *X) probe.Finding {
			if !x.listens() {
				return notListening
			}
			l := x.Main.listen(nil, x.everything())
			defer l.cancel()
			if l.Ack != nil {
				return probe.Pass(probe.Of(l.Sent, l.Ack)...)
			}
			if refused := x.Log.ResponseTo(l.Sent); refused != nil {
				return probe.Unverified("the server refuses subscriptions")
			}
			if l.Err != nil || l.Exchange != nil && l.Exchange.Status >= 300 {
				return unanswered(l.Reply)
			}
			return probe.Fail(probe.OfReply(l.Reply), "the subscription was not acknowledged")
		},
	},
	{
		Info: probe.Info{
			ID: "subscriptions/nothing-before", Rows: []string{"26.basic.patterns.subscriptions-007"},
			Does:    "Looks at the first notification of each subscription.",
			Accepts: "The acknowledgment.",
			After:   []string{acknowledged},
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			met := map[*peer.Message]bool{}
			x.eachListened(w, func(request, m *peer.Message) {
				if !m.IsNotification() {
					return // an answer refuses or ends it, which is no notification on it
				}
				if m.Method != mcp.NoteAcknowledged && !met[request] {
					w.FaultOf(probe.Of(request, m), "something came before the acknowledgment")
				}
				met[request] = true
			})
		},
	},
	{
		Info: probe.Info{
			ID: "subscriptions/subset", Rows: []string{"26.basic.patterns.subscriptions-009", "26.basic.patterns.subscriptions-010"},
			Does:    "Compares each acknowledgment with what was asked for.",
			Accepts: "What was asked for, or a part of it.",
			After:   []string{"tools/list-changes-declared", "prompts/list-changes-declared", "resources/list-changes-declared", "tools/declared", "resources/declared", "prompts/declared", "tools/embeds-with-resources"},
		},
		Needs: []string{needsStateless},
		Watch: watchAcks,
	},
	{
		Info: probe.Info{
			ID: "subscriptions/only-asked", Rows: []string{"26.basic.patterns.subscriptions-003", "26.basic.patterns.subscriptions-004", "26.schema-031"},
			Does:    "Subscribes to one kind of changes after the other, and compares what comes.",
			Accepts: "Notifications of the kinds that were asked for.",
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			x.eachListened(w, func(request, m *peer.Message) {
				for _, l := range listens {
					if v, _ := request.Get("params/notifications/" + l.member); m.Method == l.method && (v == nil || v == false) {
						w.FaultOf(probe.Of(request, m), "the subscription is not for %s", m.Method)
					}
				}
			})
		},
	},
	{
		Info: probe.Info{
			ID: "subscriptions/only-asked-uris", Rows: []string{"26.basic.patterns.subscriptions-005"},
			Does:    "Compares the URIs of updates with those that were subscribed to.",
			Accepts: "URIs of the subscription, or below them.",
		},
		Needs: []string{needsStateless, "resources/subscribe"},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("no update of a resource came"))
			x.eachListened(&probe.Watch{}, func(request, m *peer.Message) {
				asked := request.List("params/notifications/resourceSubscriptions")
				if m.Method != mcp.NoteResourceUpdated || len(asked) == 0 {
					return
				}
				w.Saw(m)
				if uri := m.Text("params/uri"); !slices.ContainsFunc(asked, func(v any) bool { return within(uri, v) }) {
					w.FaultOf([]probe.Blame{{Message: request}, {Message: m, Pointer: "/params/uri"}}, "nobody subscribed to %q", uri)
				}
			})
		},
	},
	{
		Info: probe.Info{
			ID: "subscriptions/tagged", Rows: []string{"26.basic.patterns.subscriptions-012", "26.basic.index-071"},
			Does:    "Looks at the _meta of what comes for subscriptions.",
			Accepts: "io.modelcontextprotocol/subscriptionId in each notification.",
			After:   []string{"http/subscriptions-carry-changes-only", "tools/list-changes-declared", "prompts/list-changes-declared", "resources/list-changes-declared"},
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(notListening)
			for _, m := range x.Received((*peer.Message).IsNotification) {
				ofStream := m.Exchange != nil && m.Exchange.Message != nil && m.Exchange.Message.Method == "subscriptions/listen"
				if !ofStream && !isChange(m) && m.Method != mcp.NoteAcknowledged {
					continue
				}
				w.Saw(m)
				if _, ok := subscriptionOf(m); !ok {
					w.Fault(m, "/params/_meta", "the notification does not say which subscription it belongs to")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "subscriptions/tag-is-id", Rows: []string{"26.basic.patterns.subscriptions-013"},
			Does:    "Subscribes with IDs that are strings and numbers, and compares them with the tags of notifications.",
			Accepts: "The ID of the request that subscribed, of the same type.",
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(notListening)
			for _, m := range x.Received((*peer.Message).IsNotification) {
				id, ok := subscriptionOf(m)
				if !ok || !isChange(m) && m.Method != mcp.NoteAcknowledged {
					continue
				}
				w.Saw(m)
				request := x.requestWith(m, id)
				if m.Exchange != nil {
					request = m.Exchange.Message
				}
				if request == nil || request.Method != "subscriptions/listen" || string(request.ID) != string(id) {
					w.Fault(m, "/params/_meta/"+pointer(mcp.MetaSubscriptionID), "%s is not the ID of the request that subscribed", id)
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "subscriptions/several", Rows: []string{"26.basic.patterns.subscriptions-015"},
			Does:    "Opens a subscription for each kind of changes, all at once, and calls what makes such changes.",
			Accepts: "An acknowledgment of each.",
			After:   []string{answersRequests, acknowledged, "resources/rfc3986"},
		},
		Needs: []string{needsStateless},
		Run:   runSeveral,
	},
}

var (
	notListening  = probe.Unverified("the server declares nothing that could be listened to")
	neverEnded    = probe.Unverified("the server has ended no subscription")
	endedByResult = probe.Unverified("the server ended its subscriptions with results, as the page on subscriptions has it")
)

// listens reports whether there is anything to listen to.
func (x *X) listens() bool { return len(x.everything()) > 0 }

// eachListened calls each for the messages of subscriptions.
func (x *X) eachListened(w *probe.Watch, each func(request, m *peer.Message)) {
	w.Nothing(notListening)
	for _, m := range x.Received(nil) {
		request := x.Log.RequestOf(m)
		if id, ok := subscriptionOf(m); ok && m.IsNotification() {
			request = x.requestWith(m, id)
		}
		if request != nil && request.Method == "subscriptions/listen" {
			w.Saw(m)
			each(request, m)
		}
	}
}

// watchAcks judges what is acknowledged.
func watchAcks(x *X, w *probe.Watch) {
	w.Nothing(notListening)
	x.eachListened(&probe.Watch{}, func(request, m *peer.Message) {
		if m.Method != mcp.NoteAcknowledged {
			return
		}
		w.Saw(m)
		asked, honoured := request.Object("params/notifications"), m.Object("params/notifications")
		for _, l := range listens {
			v, ok := honoured[l.member]
			switch {
			case !ok || v == false || l.member == "resourceSubscriptions" && len(m.List("params/notifications/"+l.member)) == 0:
			case asked[l.member] == nil || asked[l.member] == false:
				w.FaultOf([]probe.Blame{{Message: request}, {Message: m, Pointer: "/params/notifications/" + l.member}}, "%s is acknowledged, and was not asked for", l.member)
			}
		}
		uris := request.List("params/notifications/resourceSubscriptions")
		for _, uri := range m.List("params/notifications/resourceSubscriptions") {
			if len(uris) > 0 && !slices.Contains(uris, uri) {
				w.FaultOf([]probe.Blame{{Message: request}, {Message: m, Pointer: "/params/notifications/resourceSubscriptions"}}, "%s is acknowledged, and was not asked for", peer.Encode(uri))
			}
		}
	})
}

// runSeveral opens a subscription for each kind of changes, and makes changes.
func runSeveral(x *X) probe.Finding {
	if !x.listens() {
		return notListening
	}
	var open []*listening
	defer func() {
		for _, l := range open {
			l.cancel()
		}
	}()
	for member, v := range x.everything() {
		open = append(open, x.Main.listen("only-"+member, map[string]any{member: v}))
	}
	// One asks for what there is not, so that its acknowledgment shows that.
	open = append(open, x.Main.listen(nil, map[string]any{
		"toolsListChanged": true, "promptsListChanged": false, "resourcesListChanged": true, "resourceSubscriptions": []any{},
	}))
	for _, l := range open {
		if x.Log.ResponseTo(l.Sent) != nil {
			return probe.Unverified("the server refuses one of the subscriptions")
		}
		if l.Ack == nil {
			return probe.Fail(probe.OfReply(l.Reply), "one of several subscriptions was not acknowledged")
		}
	}
	x.makeChanges()
	return probe.Pass(probe.Of(open[0].Ack, open[len(open)-1].Ack)...)
}
