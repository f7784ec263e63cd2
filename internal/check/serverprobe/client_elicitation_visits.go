package serverprobe

import (
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

var visitProbes = []Probe{
	{
		Info: probe.Info{
			ID: "elicitation/no-completion", Rows: []string{"26.client.elicitation-024"},
			Does:    "Sends the user to pages, and looks for notifications/elicitation/complete.",
			Accepts: "None: 2026-07-28 does not have it.",
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			watchQuestions(question.isVisit, func(*probe.Watch, question) {})(x, w)
			for _, m := range x.Received(func(m *peer.Message) bool { return m.Method == mcp.NoteElicitationComplete }) {
				w.Fault(m, "/method", "this revision has no such notification")
			}
		},
	},
	{
		Info: probe.Info{
			ID: namesVisit, Rows: []string{"2511.client.elicitation-027"},
			Does:    "Compares notifications/elicitation/complete with the pages that the user was sent to.",
			Accepts: "The elicitationId of one of them.",
			After:   []string{"elicitation/url-given", "elicitation/id-unique"},
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the server announces no visit as completed"))
			known := map[any]bool{}
			for _, q := range x.questions() {
				if q.isVisit() {
					known[q.Params["elicitationId"]] = true
				}
			}
			for _, m := range x.Received(func(m *peer.Message) bool { return m.Method == mcp.NoteElicitationComplete }) {
				w.Saw(m)
				if id, _ := m.Get("params/elicitationId"); !isText(id) || !known[id] {
					w.Fault(m, "/params/elicitationId", "no page was asked for by this ID")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "elicitation/required-lists", Rows: []string{"2511.client.elicitation-033"},
			Does:    "Looks at the data of errors with the code -32042.",
			Accepts: "A list of elicitations that is not empty.",
			After:   []string{"authorization/not-over-stdio", "authorization/not-over-stdio"},
		},
		Needs: []string{needsSession},
		Watch: watchRequired(func(w *probe.Watch, m *peer.Message) {
			if len(m.List("error/data/elicitations")) == 0 {
				w.Fault(m, "/error/data", "the error lists no elicitations")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "elicitation/required-visits", Rows: []string{"2511.client.elicitation-034"},
			Does:    "Looks at the elicitations of errors with the code -32042.",
			Accepts: "Those of mode url with an elicitationId.",
		},
		Needs: []string{needsSession},
		Watch: watchRequired(func(w *probe.Watch, m *peer.Message) {
			for _, q := range neededVisits(m) {
				if !q.isVisit() || !isText(q.Params["elicitationId"]) {
					w.Fault(m, q.At, "the elicitation is not of mode url with an elicitationId")
				}
			}
		}),
	},
}

func watchRequired(check func(*probe.Watch, *peer.Message)) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		w.Nothing(probe.Unverified("no tool that may be called requires a visit first"))
		for _, m := range x.Received((*peer.Message).IsError) {
			if code, ok := m.Code(); ok && code == mcp.CodeURLElicitation {
				w.Saw(m)
				check(w, m)
			}
		}
	}
}

func isText(v any) bool {
	_, ok := v.(string)
	return ok
}
