package clientprobe

import (
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
}
