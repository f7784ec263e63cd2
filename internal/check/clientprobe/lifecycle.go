package clientprobe

import (
	"slices"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

const startsWithInitialize = "lifecycle/initialize-first"

var lifecycle = []Probe{
	{
		Info: probe.Info{
			ID: startsWithInitialize, Rows: []string{"2511.basic.lifecycle-001", "2511.basic-001"},
			Does: "Looks at the first message of each session.", Accepts: "initialize; pings may come before.",
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			seen := map[int]bool{}
			for _, m := range x.Received(nil) {
				if seen[m.Conn] || m.Method == "ping" || m.Batch != nil {
					continue
				}
				seen[m.Conn] = true
				w.Saw(m)
				if m.Method != "initialize" {
					w.Fault(m, "/method", "the session does not begin with initialize")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "lifecycle/initialize-params", Rows: []string{"2511.basic.lifecycle-002"},
			Does:    "Looks at the params of initialize.",
			Accepts: "protocolVersion, a string; capabilities, an object; clientInfo with name and version.",
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Requests("initialize") {
				w.Saw(m)
				info := m.Object("params/clientInfo")
				switch {
				case m.Text("params/protocolVersion") == "":
					w.Fault(m, "/params", "initialize names no protocol version")
				case m.Object("params/capabilities") == nil:
					w.Fault(m, "/params", "initialize has no capabilities")
				case !isText(info["name"]) || !isText(info["version"]):
					w.Fault(m, "/params/clientInfo", "initialize does not say which client sends it")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "lifecycle/initialized", Rows: []string{"2511.basic.lifecycle-004"},
			Does:    "Looks for notifications/initialized after the answer to initialize.",
			Accepts: "The notification, before or among other messages.",
			After:   []string{startsWithInitialize},
		},
		Needs: []string{needsSession},
		Watch: watchInitialized,
	},
	{
		Info: probe.Info{
			ID: "lifecycle/no-requests-before-greeting", Rows: []string{"2511.basic.lifecycle-005"},
			Does:    "Answers initialize after a while, and looks for requests in the meantime.",
			Accepts: "None but pings.",
			After:   []string{startsWithInitialize},
		},
		Needs: []string{needsSession}, In: []string{"slow-greeting"},
		Watch: func(x *X, w *probe.Watch) {
			for _, hello := range x.Requests("initialize") {
				answer := x.Log.ResponseTo(hello)
				if answer == nil {
					continue
				}
				w.Saw(hello)
				for _, m := range x.After(hello, (*peer.Message).IsRequest) {
					if m.Number < answer.Number && m.Conn == hello.Conn && m.Method != "ping" && m.Method != "initialize" {
						w.Fault(m, "/method", "the request was sent before initialize was answered")
					}
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "lifecycle/proposes-newest", Rows: []string{"2511.basic.lifecycle-009", "2511.basic.lifecycle-008"},
			Does:    "Compares the version that the client proposes with the one that it agrees to.",
			Accepts: "No older version than one that the client speaks.",
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			for _, hello := range x.Requests("initialize") {
				proposed := hello.Text("params/protocolVersion")
				if len(x.After(hello, is("notifications/initialized"))) == 0 || proposed == "" || x.Scenario.Name != TheBase {
					continue
				}
				w.Saw(hello)
				if proposed < x.Revision {
					w.Fault(hello, "/params/protocolVersion", "the client proposes %s, and speaks %s", proposed, x.Revision)
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "lifecycle/unknown-version", Rows: []string{"2511.basic.lifecycle-014", "2511.basic.lifecycle-013", "2511.basic.lifecycle-031"},
			Does:    "Answers initialize with a version that does not exist.",
			Accepts: "That the client ends the conversation.",
			Mend:    "Disconnect if you do not speak the server's version.",
		},
		Needs: []string{needsSession}, In: []string{"unknown-version"},
		Watch: func(x *X, w *probe.Watch) {
			hello := x.Marked("greeted")
			if hello == nil {
				return
			}
			for _, m := range x.After(hello, nil) {
				if m.Conn == hello.Conn && m.Method != "" && m.Method != "notifications/cancelled" && m.Method != "initialize" {
					w.Fault(m, "/method", "the client went on in a session of the version 1999-12-31")
				}
			}
			w.Saw(hello)
		},
	},
	{
		Info: probe.Info{
			ID: "lifecycle/no-message-at-end", Rows: []string{"2511.basic.lifecycle-034"},
			Does: "Looks for messages that end a session.", Accepts: "None: the transport says it.",
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received(nil) {
				w.Saw(m)
				if slices.Contains([]string{"shutdown", "exit", "notifications/exit", "notifications/shutdown", "close"}, m.Method) {
					w.Fault(m, "/method", "the protocol has no message that ends a session")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "lifecycle/initialize-not-in-batch", Rows: []string{"2503.basic.lifecycle-001"},
			Does: "Looks for initialize in a batch.", Accepts: "A message of its own.",
		},
		Needs: []string{"batches"},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Requests("initialize") {
				w.Saw(m)
				if m.Batch != nil {
					w.Fault(m, "", "initialize is part of a batch")
				}
			}
		},
	},
}

// watchInitialized looks for the notification in each session in which more than
// initialize was said.
func watchInitialized(x *X, w *probe.Watch) {
	for _, hello := range x.Requests("initialize") {
		answer := x.Log.ResponseTo(hello)
		if answer == nil || !answer.IsResult() || x.Scenario.Name == "unknown-version" {
			continue
		}
		var next *peer.Message
		done := false
		for _, m := range x.After(answer, nil) {
			if m.Conn != hello.Conn {
				continue
			}
			done = done || m.Method == "notifications/initialized"
			if next == nil && m.IsRequest() && m.Method != "ping" {
				next = m
			}
		}
		switch {
		case done:
			w.Saw(hello)
		case next != nil:
			w.FaultOf(probe.Of(next, answer), "the session goes on without notifications/initialized")
		}
	}
}
