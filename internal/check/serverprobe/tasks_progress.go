package serverprobe

import (
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

// taskToken is the probe that fails if a task reports progress with another token.
const taskToken = "tasks/progress-token"

var taskProgress = []Probe{
	{
		Info: probe.Info{
			ID: taskToken, Rows: []string{"2511.basic.utilities.progress-011", "2511.basic.utilities.progress-010"},
			Does:    "Runs tools that report progress as tasks, and looks at the progress that comes once a task was made.",
			Accepts: "The token of the call that made it, or no progress.",
			Mend:    "Keep the progressToken of the call with the task until it ends.",
			After:   []string{tokenRepeated, hasProgress},
		},
		Needs: needsTasks,
		Run: seen(func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("no tool that can run as a task reports progress then"))
			for _, run := range x.tasks().runs {
				if run.id == "" || run.plain == nil || !run.plain.Reports || run.late.Response == nil {
					continue
				}
				token, _ := run.create.Sent.Get(tokenPath)
				for _, p := range x.progress() {
					if p.Number < run.create.Response.Number || p.Number > run.late.Response.Number || p.Conn != run.create.Sent.Conn {
						continue
					}
					if got, _ := p.Get("params/progressToken"); got == token {
						w.Saw(p.Message)
					} else if p.of == nil {
						w.FaultOf([]probe.Blame{{Message: run.create.Sent}, {Message: p.Message, Pointer: "/params/progressToken"}}, "the progress of the task has the token %s, not that of the call", peer.Encode(got))
					}
				}
			}
		}),
	},
}
