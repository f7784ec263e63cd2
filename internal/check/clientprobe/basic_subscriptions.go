package clientprobe

import (
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

var basicSubscriptions = []Probe{
	{
		Info: probe.Info{
			ID: "subscriptions/filter", Rows: []string{"26.basic.patterns.subscriptions-001"},
			Does:    "Looks at the requests for subscriptions.",
			Accepts: "An object notifications in the params.",
			Mend:    "Say in params.notifications what you want to hear of.",
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the client listens to nothing"))
			for _, m := range x.Requests(mcp.MethodListen) {
				w.Saw(m)
				if m.Object("params/notifications") == nil {
					w.Fault(m, "/params", "the request has no filter")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "subscriptions/ends-in-the-form-of-the-transport", Rows: []string{"26.basic.patterns.subscriptions-016"},
			Does:    "Looks at how the client ends a subscription before it ends the connection.",
			Accepts: "notifications/cancelled over stdio, the end of the response over HTTP; and subscriptions that end with the connection.",
			Mend:    "Cancel subscriptions/listen as any other request; there is no method to end it by.",
			After:   []string{cancelForm, cancelsByLeaving},
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the client ended no subscription before the connection"))
			for _, asked := range x.Requests(mcp.MethodListen) {
				if x.cancellationOf(asked) != nil || asked.Exchange != nil && asked.Exchange.Left && !x.Ending.Late {
					w.Saw(asked)
				}
				for _, m := range x.After(asked, endsSubscription) {
					w.FaultOf(probe.Of(m, asked), "%s is no way to end a subscription", m.Method)
				}
			}
		},
	},
}

// endsSubscription knows messages that can only be meant to end a subscription, by a
// method that no revision has.
func endsSubscription(m *peer.Message) bool {
	return strings.HasPrefix(m.Method, "subscriptions/") && m.Method != mcp.MethodListen
}
