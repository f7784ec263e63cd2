package serverprobe

import (
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

const (
	requiredCode = "elicitation/required-code"
	namesVisit   = "elicitation/completion-names-visit"
)

// requiredProbes judge how servers say that a page has to be visited first, and that
// it was.
var requiredProbes = []Probe{
	{
		Info: probe.Info{
			ID: requiredCode, Rows: []string{"2511.client.elicitation-047"},
			Does:    "Looks at errors that list elicitations, and at results of tools that tell of the error -32042.",
			Accepts: "The error -32042.",
			Mend:    "Let the error reach the client as a JSON-RPC error, instead of making a result of the tool of it.",
			After:   []string{"elicitation/required-lists"},
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("no tool that may be called requires a visit first"))
			for _, m := range x.Received((*peer.Message).IsResponse) {
				code, _ := m.Code()
				switch lists := len(m.List("error/data/elicitations")) > 0; {
				case lists && code == mcp.CodeURLElicitation:
					w.Saw(m)
				case lists:
					w.Fault(m, "/error/code", "the error lists elicitations, and has the code %d", code)
				case x.tellsOfVisit(m):
					w.Fault(m, "/result/content", "the error -32042 is told in a result of the tool")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "elicitation/required-still", Rows: []string{"2511.client.elicitation-032"},
			Does:    "Repeats a call that was answered with the error -32042, and visits nothing before.",
			Accepts: "Anything but success.",
			Mend:    "Return -32042 only if the call cannot be processed before the visit.",
		},
		Needs: []string{needsSession},
		Run: func(x *X) probe.Finding {
			for _, d := range x.did(func(d *Doing) bool { return len(d.Asks) > 0 && d.Asks[len(d.Asks)-1].Needed }) {
				first, again := x.Call(mcp.MethodCallTool, d.params()), x.Call(mcp.MethodCallTool, d.params())
				switch {
				case codeIn(first) != mcp.CodeURLElicitation:
					continue // it is required no more
				case again.Response == nil:
					return unanswered(again)
				case succeeded(again.Response):
					return probe.Fail(probe.Of(first.Response, again.Sent, again.Response), "the call succeeds although nobody has visited the page that it was said to require")
				}
				return probe.Pass(probe.Of(first.Response, again.Response)...)
			}
			return probe.Unverified("no tool that may be called requires a visit first")
		},
	},
	{
		Info: probe.Info{
			ID: "elicitation/completion-after-consent", Rows: []string{"2511.client.elicitation-025"},
			Does:    "Declines and cancels visits, and compares notifications/elicitation/complete with the answers of the user.",
			Accepts: "The notification only for visits that the user has agreed to. Whether one was completed shows on its page only, which the checker does not visit.",
			After:   []string{namesVisit},
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("no tool that may be called asks for a visit"))
			for _, q := range x.questions() {
				if !isAskedVisit(q) {
					continue
				}
				answer := x.Log.ResponseTo(q.Message)
				agreed := answer != nil && answer.Text("result/action") == "accept"
				if !agreed {
					w.Saw(q.Message)
				}
				for _, m := range x.completions() {
					if id, _ := m.Get("params/elicitationId"); m.Conn == q.Message.Conn && id == q.Params["elicitationId"] && (!agreed || m.Number < answer.Number) {
						w.FaultOf(probe.Of(q.Message, m), "the visit is said to be completed, and the user had not agreed to it")
					}
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "elicitation/completion-told-to-asker", Rows: []string{"2511.client.elicitation-026"},
			Does:    "Lets a server ask for visits in several sessions at once, and looks at which of them hears notifications/elicitation/complete.",
			Accepts: "The session in which the visit was asked for.",
			After:   []string{namesVisit},
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the server announces no visit as completed while several sessions are open"))
			asked := map[any]map[int]bool{}
			for _, q := range x.questions() {
				if id := q.Params["elicitationId"]; q.isVisit() {
					if asked[id] == nil {
						asked[id] = map[int]bool{}
					}
					asked[id][q.Message.Conn] = true
				}
			}
			for _, m := range x.completions() {
				id, _ := m.Get("params/elicitationId")
				switch conns := asked[id]; {
				case conns == nil: // that is judged by another rule
				case !conns[m.Conn]:
					w.FaultOf(probe.Of(m), "the visit was asked for in another session")
				case x.Main != nil && m.Conn != x.Main.Number: // which is open, too
					w.Saw(m)
				}
			}
		},
	},
}

// completions are the announcements of visits that are over.
func (x *X) completions() []*peer.Message {
	return x.Received(func(m *peer.Message) bool { return m.Method == mcp.NoteElicitationComplete })
}

// tellsOfVisit reports whether a message is the result of a tool that failed because
// of a visit that is required, as its text has it.
func (x *X) tellsOfVisit(m *peer.Message) bool {
	asked := x.answered(m)
	if failed, _ := m.Get("result/isError"); failed != true || asked == nil || asked.Method != mcp.MethodCallTool {
		return false
	}
	for _, v := range m.List("result/content") {
		text, _ := peer.Get(v, "text")
		if s, _ := text.(string); strings.Contains(s, "-32042") {
			return true
		}
	}
	return false
}

// codeIn is the code of the error that a request was answered with, or 0.
func codeIn(r *peer.Reply) int {
	if r.Response == nil || !r.Response.IsError() {
		return 0
	}
	code, _ := r.Response.Code()
	return code
}
