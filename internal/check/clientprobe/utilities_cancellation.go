package clientprobe

import (
	"bytes"
	"slices"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

const (
	cancelForm       = "cancellation/form"
	cancelsByLeaving = "cancellation/close-over-http"
)

var utilitiesCancellation = []Probe{
	{
		Info: probe.Info{
			ID: cancelForm, Rows: []string{"26.basic.patterns.cancellation-004", "2511.basic.utilities.cancellation-001", "2511.basic.utilities.cancellation-014"},
			Does: "Looks at notifications/cancelled of the client.", Accepts: "requestId, and a reason that is a string, if there is one.",
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received(is("notifications/cancelled")) {
				w.Saw(m)
				id, _ := m.Get("params/requestId")
				reason, given := m.Get("params/reason")
				_, isString := id.(string)
				if _, ok := reason.(string); given && !ok || !isString && !isInteger(id) {
					w.Fault(m, "/params", "the cancellation names no request, or its reason is no string")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "cancellation/own-requests", Rows: []string{"26.basic.patterns.cancellation-013", "2511.basic.utilities.cancellation-002", "26.schema-004"},
			Does: "Compares notifications/cancelled with the client's requests.", Accepts: "A request of the client that may still be in progress; over HTTP also one that did not arrive, as far as its ID is of the kind that the client has.",
			After: []string{cancelForm, idNotNull, idType, idUnique, utf8Messages, oneLine, onlyMessages, noBatches},
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received(is("notifications/cancelled")) {
				w.Saw(m)
				asked := x.cancelled(m)
				if asked == nil {
					if !x.mayBeLost(m) {
						w.Fault(m, "/params/requestId", "the client has made no such request")
					}
				} else if answer := x.Log.ResponseTo(asked); answer != nil && x.taskOf(asked) == nil && answer.Number < m.Number && m.At-answer.At > time.Second {
					w.FaultOf(probe.Of(m, answer), "the request was answered more than a second before")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "cancellation/not-initialize", Rows: []string{"2511.basic.utilities.cancellation-003"},
			Does: "Does not answer initialize, and looks for its cancellation.", Accepts: "None.",
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			if held := x.Marked("held"); held != nil && held.Method == "initialize" && !x.Ending.Late {
				w.Saw(held)
			}
			for _, m := range x.Received(is("notifications/cancelled")) {
				if asked := x.cancelled(m); asked != nil && asked.Method == "initialize" {
					w.FaultOf(probe.Of(m, asked), "initialize was cancelled")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "cancellation/times-out", Rows: []string{"26.basic.patterns.cancellation-008", "2511.basic.lifecycle-025", "2411.basic.lifecycle-003", "2511.basic.lifecycle-033", "26.server.tools-062", "2511.server.tools-039"},
			Does: "Does not answer a call.", Accepts: "That the client gives it up.",
		},
		In: []string{"slow"},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the client did not give up a call while the scenario lasted"))
			if held := x.Marked("held"); held != nil && x.gaveUp(held) {
				w.Saw(held)
			}
		},
	},
	{
		Info: probe.Info{
			ID: "cancellation/maximum", Rows: []string{"26.basic.patterns.cancellation-012", "2511.basic.lifecycle-030"},
			Does: "Reports progress of a call for ever.", Accepts: "That the client gives it up all the same.",
		},
		In: []string{"endless"},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the client did not give up a call while the scenario lasted"))
			if held := x.Marked("held"); held != nil && x.gaveUp(held) {
				w.Saw(held)
			}
		},
	},
	{
		Info: probe.Info{
			ID: "cancellation/after-timeout", Rows: []string{"26.basic.patterns.cancellation-009", "2511.basic.lifecycle-027", "26.basic.patterns.cancellation-001"},
			Does: "Does not answer a call, and looks at what comes when the client goes on without it.", Accepts: "A cancellation, in the form of the transport.",
		},
		In:    []string{"slow", "endless"},
		Watch: func(x *X, w *probe.Watch) { x.watchGivingUp(w) },
	},
	{
		Info: probe.Info{
			ID: "cancellation/notification-over-stdio", Rows: []string{"26.basic.patterns.cancellation-006", "26.basic.transports.stdio-012"},
			Does: "Does not answer a call over stdio.", Accepts: "notifications/cancelled with the ID of the call.",
			After: []string{"cancellation/after-timeout", cancelForm},
		},
		Needs: []string{needsStdio, needsStateless}, In: []string{"slow"},
		Watch: func(x *X, w *probe.Watch) {
			if held := x.Marked("held"); held != nil && x.cancellationOf(held) != nil {
				w.Saw(x.cancellationOf(held))
			}
		},
	},
	{
		Info: probe.Info{
			ID: cancelsByLeaving, Rows: []string{"26.basic.patterns.cancellation-007"},
			Does: "Does not answer a call over HTTP.", Accepts: "The end of the connection, and no notification.",
		},
		Needs: []string{needsHTTP, needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			if held := x.Marked("held"); held != nil && held.Exchange.Left {
				w.Saw(held)
			}
			for _, m := range x.Received(is("notifications/cancelled")) {
				w.Fault(m, "/method", "a cancellation was posted, where the end of the response says it")
			}
		},
	},
	{
		Info: probe.Info{
			ID: "cancellation/notification-in-sessions", Rows: []string{"2511.basic.transports-039"},
			Does: "Does not answer a call over HTTP in a session.", Accepts: "notifications/cancelled: the end of the response does not mean it.",
			After: []string{"cancellation/after-timeout", cancelForm},
		},
		Needs: []string{needsHTTP, needsSession}, In: []string{"slow", "endless"},
		Watch: func(x *X, w *probe.Watch) {
			held := x.Marked("held")
			switch {
			case held == nil:
			case x.cancellationOf(held) != nil:
				w.Saw(held)
			case held.Exchange.Left && len(x.After(held, nil)) > 0 && x.gaveUp(held):
				w.FaultOf([]probe.Blame{{Message: held}, {Exchange: held.Exchange}}, "the client left, and did not cancel the call")
			}
		},
	},
	{
		Info: probe.Info{
			ID: "cancellation/late-answer", Rows: []string{"26.basic.patterns.cancellation-019", "26.basic.patterns.cancellation-020", "2511.basic.utilities.cancellation-009", "2511.basic.utilities.cancellation-010"},
			Does: "Answers a call after the client has given it up.", Accepts: "That the client goes on.",
		},
		In: []string{"slow"},
		Watch: func(x *X, w *probe.Watch) {
			if x.Stateless && x.Transport == needsHTTP {
				w.Nothing(probe.NotApplicable("a response cannot come after its connection was closed"))
				return
			}
			if late := x.Marked("late"); late != nil {
				x.carriesOn(w, x.Log.ResponseTo(late), "an answer that came too late")
			}
		},
	},
	{
		Info: probe.Info{
			ID: "cancellation/ignores-unknown", Rows: []string{"26.basic.patterns.cancellation-024", "2511.basic.utilities.cancellation-013"},
			Does: "Sends cancellations of requests that the server did not make.", Accepts: "That the client goes on.",
		},
		In: []string{"cancels"},
		Watch: func(x *X, w *probe.Watch) {
			x.carriesOn(w, x.Marked("cancelled"), "a cancellation that names none of the server's requests")
		},
	},
	{
		Info: probe.Info{
			ID: "cancellation/stops", Rows: []string{"2511.basic.utilities.cancellation-007", "2511.basic.utilities.cancellation-005"},
			Does: "Withdraws a question while the client works on the answer.", Accepts: "No answer, but for one that crosses the withdrawal: it comes before the client answers a later ping.",
		},
		Needs: []string{needsSession}, In: []string{"withdrawn"},
		Watch: func(x *X, w *probe.Watch) {
			cancelled, ping := x.Marked("withdrawn"), x.Marked("read")
			if cancelled == nil || ping == nil {
				w.Nothing(probe.Unverified("the client was asked nothing, as one that does not declare sampling"))
				return
			}
			for _, a := range x.Answers("sampling/createMessage") {
				read := x.Log.ResponseTo(ping)
				if read == nil || a.Response.Number < read.Number {
					w.Nothing(probe.Unverified("the client answered before it can be known to have read that the question was withdrawn"))
					return
				}
				w.FaultOf(probe.Of(a.Response, cancelled), "the client answers a question that was withdrawn")
			}
			w.Saw(cancelled)
		},
	},
}

// mayBeLost reports whether what a notification cancels can be a request that was
// given up before it had arrived: over HTTP each message goes its own way.
func (x *X) mayBeLost(m *peer.Message) bool {
	isText := func(id []byte) bool { return bytes.HasPrefix(id, []byte(`"`)) }
	id, _ := m.Get("params/requestId")
	return x.Transport != needsStdio && slices.ContainsFunc(x.Requests(), func(asked *peer.Message) bool {
		return isText(asked.ID) == isText(peer.Encode(id))
	})
}

// cancelled is the request that a notification cancels, or nil.
func (x *X) cancelled(m *peer.Message) *peer.Message {
	id, _ := m.Get("params/requestId")
	for _, asked := range x.Log.Messages() {
		if !asked.Sent && asked.IsRequest() && asked.Conn == m.Conn && asked.Number < m.Number && string(asked.ID) == string(peer.Encode(id)) {
			return asked
		}
	}
	return nil
}

// cancellationOf is the notification that cancels a request, or nil.
func (x *X) cancellationOf(asked *peer.Message) *peer.Message {
	for _, m := range x.Received(is("notifications/cancelled")) {
		if x.cancelled(m) == asked {
			return m
		}
	}
	return nil
}

// gaveUp reports whether the client no longer waits for a request that is not
// answered: it has cancelled it, has left, or goes on after a while and ends.
func (x *X) gaveUp(asked *peer.Message) bool {
	if x.cancellationOf(asked) != nil || asked.Exchange != nil && asked.Exchange.Left && !x.Ending.Late {
		return true
	}
	if x.Ending.Late {
		return false
	}
	for _, m := range x.After(asked, (*peer.Message).IsRequest) {
		if m.At-asked.At > time.Second {
			return true
		}
	}
	return false
}

// watchGivingUp looks for the cancellation of the call that is not answered.
func (x *X) watchGivingUp(w *probe.Watch) {
	held := x.Marked("held")
	if held == nil || !x.gaveUp(held) {
		return
	}
	closed := x.Transport == needsHTTP && x.Stateless && held.Exchange.Left
	if x.cancellationOf(held) != nil || closed {
		w.Saw(held)
		return
	}
	// Over HTTP in a session it is a rule of that transport.
	if x.Transport == needsHTTP || x.ByHand {
		return
	}
	w.Fault(held, "", "the client gave the call up, and did not cancel it")
}
