package serverprobe

import (
	"slices"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/sample"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/mcp"
)

// noSuch is the name of what no server has.
const noSuch = "parley-check-no-such-thing"

var serverToolsCalls = []Probe{
	{
		Info: probe.Info{
			ID: "tools/unknown", Rows: []string{"26.server.tools-048", "2511.server.tools-026", "26.schema-016"},
			Does:    "Calls a tool that does not exist.",
			Accepts: "A JSON-RPC error: -32602 in 2026-07-28, any before.",
			Mend:    "Answer calls of unknown tools with the error -32602, not with a result.",
		},
		Needs: []string{"tools"},
		Run: func(x *X) probe.Finding {
			r := x.Call(mcp.MethodCallTool, call(noSuch, map[string]any{}))
			if x.Stateless {
				return wantError(r, -32602)
			}
			return wantAnyError(r)
		},
	},
	{
		Info: probe.Info{
			ID: "tools/malformed-call", Rows: []string{"26.server.tools-049", "2511.server.tools-027"},
			Does:    "Calls a tool without a name, and with arguments that are an array.",
			Accepts: "JSON-RPC errors.",
		},
		Needs: []string{"tools"},
		Run: func(x *X) probe.Finding {
			replies := []*peer.Reply{x.Call(mcp.MethodCallTool, map[string]any{"arguments": map[string]any{}})}
			if len(x.Offer.Callable) > 0 {
				replies = append(replies, x.Call(mcp.MethodCallTool, call(x.Offer.Callable[0].Name, []any{1, 2})))
			}
			var passed []probe.Blame
			for _, r := range replies {
				if f := wantAnyError(r); f.Outcome != verdict.Pass {
					return f
				}
				passed = append(passed, probe.OfReply(r)...)
			}
			return probe.Pass(passed...)
		},
	},
	{
		Info: probe.Info{
			ID: "tools/validates-inputs", Rows: []string{"26.server.tools-054", "2511.server.tools-032", "2506.server.tools-001", "26.basic.index-043", "2511.basic-030"},
			Does:    "Calls tools that may be called with arguments that their schemas refuse: a required member is missing, or has another type.",
			Accepts: "Anything but success.",
			Mend:    "Check arguments against the inputSchema before the tool runs.",
		},
		Needs: []string{needsTool},
		Run: func(x *X) probe.Finding {
			replies, way := x.callBroken()
			for n, r := range replies {
				if ran(r) {
					return probe.Fail(probe.OfReply(r), "the call succeeds although its arguments break the schema: %s", way[n])
				}
			}
			for _, r := range replies {
				if r.Response == nil && (r.Exchange == nil || r.Exchange.Status < 400) {
					return unanswered(r)
				}
			}
			if len(replies) == 0 {
				return probe.Unverified("no tool that may be called has a schema that arguments could break")
			}
			return probe.Pass(probe.OfReply(replies[0])...)
		},
	},
	{
		Info: probe.Info{
			ID: "tools/input-errors-are-results", Rows: []string{"26.server.tools-050", "2511.server.tools-028"},
			Does:    "Calls tools that may be called with arguments that their schemas refuse.",
			Accepts: "Results with isError.",
			Mend:    "Report invalid arguments by a result with isError, which the model can learn from.",
			After:   []string{"tools/validates-inputs"},
		},
		Needs: []string{needsTool},
		Run: func(x *X) probe.Finding {
			replies, _ := x.callBroken()
			for _, r := range replies {
				switch {
				case r.Response == nil:
					return unanswered(r)
				case r.Response.IsError():
					return probe.Fail(probe.OfReply(r), "invalid arguments are answered by a JSON-RPC error")
				}
			}
			if len(replies) == 0 {
				return probe.Unverified("no tool that may be called has a schema that arguments could break")
			}
			return probe.Pass(probe.OfReply(replies[0])...)
		},
	},
	{
		Info: probe.Info{
			ID: "tools/failures-are-results", Rows: []string{"26.server.tools-051", "26.schema-003", "2511.server.tools-029"},
			Does:    "Looks at how calls fail whose arguments the schema allows.",
			Accepts: "A result with isError, or an error that JSON-RPC or the specification reserves for other causes.",
			Mend:    "Report failures of the tool by a result with isError.",
		},
		Needs: []string{needsTool},
		Watch: watchFailures,
	},
}

// wantAnyError is the finding for a message that is to be refused by a JSON-RPC
// error.
func wantAnyError(r *peer.Reply) probe.Finding {
	switch {
	case r.Response == nil:
		return unanswered(r)
	case r.Response.IsResult():
		return probe.Fail(probe.OfReply(r), "it was answered with a result, not with a JSON-RPC error")
	default:
		return probe.Pass(probe.OfReply(r)...)
	}
}

// mostBroken is how many calls with wrong arguments are made.
const mostBroken = 4

// callBroken calls tools with arguments that their schemas refuse, once for all
// probes, and says in which way they do.
func (x *X) callBroken() ([]*peer.Reply, []string) {
	if x.broken != nil {
		return x.broken, x.ways
	}
	x.broken = []*peer.Reply{}
	for _, c := range x.Offer.Callable {
		tool := part{v: c.Tool}
		if len(marks(tool)) > 0 {
			continue // its headers would be wrong, too
		}
		maker, err := sample.New(peer.Encode(c.Tool["inputSchema"]))
		if err != nil || maker.Mended() {
			continue
		}
		all, _ := maker.Broken() // without a right object there are none
		for _, way := range []sample.Way{sample.Missing, sample.WrongType} {
			n := slices.IndexFunc(all, func(b sample.Broken) bool { return b.Way == way })
			if n < 0 || len(x.broken) >= mostBroken {
				continue
			}
			x.broken = append(x.broken, x.Call(mcp.MethodCallTool, call(c.Name, all[n].JSON)))
			x.ways = append(x.ways, string(all[n].Way)+" "+all[n].Member)
		}
	}
	return x.broken, x.ways
}

// otherCause reports whether an error has another cause than the tool: the server,
// the protocol, the client's capabilities.
func otherCause(code int) bool {
	return code != -32602 && code >= -32768 && code <= -32000
}

func watchFailures(x *X, w *probe.Watch) {
	for _, m := range x.Received((*peer.Message).IsResponse) {
		asked := x.Log.RequestOf(m)
		if asked == nil || asked.Method != mcp.MethodCallTool || !x.isRightCall(asked) || x.isOddCall(asked, m) {
			continue
		}
		if failed, _ := m.Get("result/isError"); failed == true {
			w.Saw(m)
		}
		if code, ok := m.Code(); ok && !otherCause(code) {
			w.FaultOf([]probe.Blame{{Message: asked}, {Message: m, Pointer: "/error/code"}}, "the arguments fit the schema, and the tool fails by the JSON-RPC error %d", code)
		}
	}
	w.Nothing(probe.Unverified("no tool failed"))
}

// isOddCall reports whether a call may be refused for something else than what
// the tool made of its arguments: it was cancelled, or wanted a task.
func (x *X) isOddCall(asked, answer *peer.Message) bool {
	_, task := asked.Get("params/task")
	return task || x.gaveUp(asked, answer.Number)
}

// isRightCall reports whether a message is the survey's call of a tool, by a client
// that can answer all questions and does.
func (x *X) isRightCall(m *peer.Message) bool {
	if _, again := m.Get("params/inputResponses"); again || x.odd[m.Conn] {
		return false
	}
	arguments, _ := m.Get("params/arguments")
	for _, c := range x.Offer.Callable {
		if c.Name == m.Text("params/name") {
			sent, err := peer.Decode(peer.Encode(c.Arguments))
			return err == nil && arguments != nil && same(arguments, sent)
		}
	}
	return false
}
