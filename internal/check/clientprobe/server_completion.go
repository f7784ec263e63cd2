package clientprobe

import (
	"github.com/parley-mcp/parley/internal/check/probe"
)

var serverCompletion = []Probe{{
	Info: probe.Info{
		ID: "completion/members", Rows: []string{"26.schema-006"},
		Does:    "Looks at what the client wants to be completed.",
		Accepts: "A ref, and an argument with name and value.",
		Mend:    "Send ref, argument.name and argument.value with completion/complete.",
	},
	Watch: func(x *X, w *probe.Watch) {
		w.Nothing(probe.Unverified("the client wants nothing to be completed"))
		for _, m := range x.Requests("completion/complete") {
			w.Saw(m)
			for _, member := range []string{"ref", "argument/name", "argument/value"} {
				if _, ok := m.Get("params/" + member); !ok {
					w.Fault(m, "/params", "the request has no %s", member)
				}
			}
		}
	},
}}
