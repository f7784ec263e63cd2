package clientprobe

import (
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

const noResponses = "basic/no-responses-without-requests"

var basicResponses = []Probe{
	{
		Info: probe.Info{
			ID: noResponses, Rows: []string{"26.basic.patterns.index-002", "26.basic.transports.index-003", "26.basic.transports.stdio-008", "26.basic.transports.http-012"},
			Does:    "Looks for responses of the client, also where the server wrongly sends requests.",
			Accepts: "None: servers of this revision ask nothing by requests, so there is nothing to answer.",
			Mend:    "Ignore requests of the server in this revision.",
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			if asked := x.Marked("asked"); asked != nil {
				w.Saw(asked)
			}
			for _, m := range x.Received((*peer.Message).IsResponse) {
				if !withoutID(m) {
					w.Fault(m, "", "the client sent a response")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "basic/notifications-are-not-answered", Rows: []string{"26.basic.index-030", "2511.basic-020"},
			Does:    "Sends notifications that clients know, and some that they do not, and looks for responses without an ID.",
			Accepts: "Silence.",
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Sent((*peer.Message).IsNotification) {
				w.Saw(m)
			}
			for _, m := range x.Received((*peer.Message).IsResponse) {
				if withoutID(m) && !x.refusesBatch(m) {
					w.Fault(m, "", "a response without an ID came, as if a notification were to be answered")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "basic/response-has-id-of-request", Rows: []string{"2511.basic-011", "2511.basic-016"},
			Does:    "Asks with IDs of all kinds, and compares the IDs of the client's responses with those of the requests.",
			Accepts: "The ID of a request of the server, of the same type and digits.",
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received((*peer.Message).IsResponse) {
				switch {
				case x.Log.RequestOf(m) != nil:
					w.Saw(m)
				case !withoutID(m):
					w.Fault(m, "/id", "no request of the server has the ID %s", m.ID)
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "basic/response-has-result-or-error", Rows: []string{"2511.basic-012", "2511.basic-013"},
			Does:    "Looks at messages that have an ID and no method.",
			Accepts: "A result, or an error.",
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received(nil) {
				switch {
				case m.IsResponse():
					w.Saw(m)
				case m.Has("id") && !m.Has("method") && !m.Has("params"):
					w.Fault(m, "", "the response has neither a result nor an error")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "basic/response-has-not-both", Rows: []string{"2511.basic-014"},
			Does:    "Looks for responses that have a result and an error.",
			Accepts: "One of the two.",
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received((*peer.Message).IsResponse) {
				w.Saw(m)
				if m.Has("result") && m.Has("error") {
					w.Fault(m, "", "the response has a result and an error")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "basic/error-has-code-and-message", Rows: []string{"2511.basic-017"},
			Does:    "Looks at the errors that the client answers with.",
			Accepts: "An object with a code and a message.",
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received((*peer.Message).IsError) {
				w.Saw(m)
				e := m.Object("error")
				if _, ok := e["message"].(string); !ok || e["code"] == nil {
					w.Fault(m, "/error", "the error lacks a code or a message")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "basic/error-code-is-integer", Rows: []string{"2511.basic-018"},
			Does:    "Looks at the codes of the errors that the client answers with.",
			Accepts: "Integers.",
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received((*peer.Message).IsError) {
				v, ok := m.Get("error/code")
				if !ok {
					continue
				}
				w.Saw(m)
				if !isInteger(v) {
					w.Fault(m, "/error/code", "the code of the error is not an integer")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "basic/unknown-method", Rows: []string{"2511.basic-004"},
			Does:    "Sends a request with a method that does not exist.",
			Accepts: "The error -32601.",
			Mend:    "Answer methods that you do not know with the error -32601.",
			After:   []string{"basic/error-code-is-integer", "basic/error-has-code-and-message"},
		},
		In: []string{"questions"},
		Watch: func(x *X, w *probe.Watch) {
			for _, a := range x.Answers("parley/no-such-method") {
				w.Saw(a.Response)
				code, ok := a.Response.Code()
				switch {
				case a.Response.IsResult():
					w.Fault(a.Response, "", "it was answered with a result, not with the error -32601")
				case ok && code != -32601:
					w.Fault(a.Response, "/error/code", "the error has the code %d, not -32601", code)
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "basic/error-message-is-concise", Rows: []string{"2511.schema-006"},
			Does:    "Looks at the messages of the errors that the client answers with.",
			Accepts: "One line, of at most 300 bytes.",
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received((*peer.Message).IsError) {
				text := m.Text("error/message")
				w.Saw(m)
				if len(text) > 300 || strings.Contains(strings.TrimSpace(text), "\n") {
					w.Fault(m, "/error/message", "the message of the error is longer than a sentence")
				}
			}
		},
	},
}

// refusesBatch reports whether a response is an error for a batch as a whole, which
// JSON-RPC gives the ID null and the schemas do not have.
func (x *X) refusesBatch(m *peer.Message) bool {
	return x.Scenario.Name == batchesName && m.IsError() && withoutID(m)
}

// withoutID reports whether a message has no ID that could be one of a request.
func withoutID(m *peer.Message) bool { return m.ID == nil || string(m.ID) == "null" }
