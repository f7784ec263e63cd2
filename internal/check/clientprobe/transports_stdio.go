package clientprobe

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

const (
	oneLine      = "stdio/one-message-a-line"
	onlyMessages = "stdio/only-messages"
	noBatches    = "transports/no-batches"
	utf8Messages = "transports/utf-8"
)

var transportsStdio = []Probe{
	{
		Info: probe.Info{
			ID: utf8Messages, Rows: []string{"26.basic.transports.index-001", "2511.basic.transports-001"},
			Does: "Looks at the bytes of each message.", Accepts: "UTF-8.",
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received(nil) {
				w.Saw(m)
				if !utf8.Valid(m.Raw) {
					w.Fault(m, "", "the message is not UTF-8")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: oneLine, Rows: []string{"26.basic.transports.stdio-001", "2511.basic.transports-006"},
			Does: "Looks for messages that span several lines.", Accepts: "One message on each line.",
			Mend: "Write messages without line breaks.",
		},
		Needs: []string{needsStdio},
		Watch: func(x *X, w *probe.Watch) {
			all := x.Received(nil)
			for n, m := range all {
				w.Saw(m)
				if m.Bad != nil && spans(all[n:]) {
					w.FaultOf(probe.Of(all[n:min(len(all), n+3)]...), "the message has line breaks in it")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: onlyMessages,
			Rows: []string{
				"26.basic.transports.stdio-006", "2511.basic.transports-011", "26.basic.transports.stdio-011",
				"2511.basic.transports-004", "2511.basic.transports-002",
			},
			Does: "Looks at each line that the client writes.", Accepts: "JSON objects, and arrays where the revision has batches.",
			After: []string{oneLine},
		},
		Needs: []string{needsStdio},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received(nil) {
				w.Saw(m)
				_, isObject := m.Value.(object)
				if m.Bad != nil || !isObject && m.Items == nil {
					w.Fault(m, "", "the line is no message")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: noBatches, Rows: []string{"26.basic.transports.http-011", "2511.basic.transports-005", "2511.basic.transports-021", "2506.changelog-001"},
			Does: "Looks for arrays of messages.", Accepts: "None: the revision has no batches.",
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received(nil) {
				if m.Batch != nil {
					continue
				}
				w.Saw(m)
				if _, ok := m.Value.([]any); ok {
					w.Fault(m, "", "the message is an array")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "transports/batches-of-a-kind", Rows: []string{"2503.basic.transports-002"},
			Does: "Looks at the batches that the client posts.", Accepts: "Requests and notifications, or responses; not both.",
		},
		Needs: []string{"batches", needsHTTP},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Posts() {
				w.Saw(m)
				calls, answers := 0, 0
				for _, item := range m.Items {
					if item.IsResponse() {
						answers++
					} else {
						calls++
					}
				}
				if calls > 0 && answers > 0 {
					w.Fault(m, "", "the batch has responses among requests or notifications")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "transports/takes-batches", Rows: []string{"2503.basic-002", "2503.basic.transports-001", "2503.basic.transports-007", "2503.basic.transports-009"},
			Does: "Sends pings in a batch.", Accepts: "That each is answered.",
		},
		Needs: []string{"batches"}, In: []string{batchesName},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Sent(nil) {
				if m.Batch == nil || !m.IsRequest() {
					continue
				}
				if x.Log.ResponseTo(m) != nil {
					w.Saw(m)
				} else if len(x.After(m, nil)) > 0 {
					w.Fault(m, "", "a ping in a batch was not answered")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "stdio/process-serves-many", Rows: []string{"26.basic.index-035"},
			Does: "Counts the processes of the server that the client starts.", Accepts: "Fewer than one for each call.",
		},
		Needs: []string{needsStdio, needsStateless}, In: []string{TheBase},
		Watch: func(x *X, w *probe.Watch) {
			calls := x.Requests("tools/call", "resources/read", "prompts/get")
			conns := map[int]bool{}
			for _, m := range calls {
				conns[m.Conn] = true
			}
			switch {
			case len(calls) < 3:
			case len(conns) == len(calls):
				w.FaultOf(probe.Of(calls...), "the client started a process for each of its calls")
			default:
				w.Saw(calls[0])
			}
		},
	},
	{
		Info: probe.Info{
			ID: "stdio/restarts", Rows: []string{"26.basic.transports.stdio-018", "26.basic.transports.stdio-017"},
			Does: "Ends the connection in the middle of a call.", Accepts: "That the client starts the server again.",
		},
		Needs: []string{needsStdio}, In: []string{"exits"},
		Watch: func(x *X, w *probe.Watch) {
			exit := x.Marked("exit")
			switch {
			case exit == nil || !x.Stateless:
			case len(x.Lines()) > 1:
				w.Saw(exit)
			case !x.ByHand && x.Ending.Err == nil:
				w.Fault(exit, "", "the client did not start the server again, and went on without it")
			}
		},
	},
	{
		Info: probe.Info{
			ID: "stdio/listens-again", Rows: []string{"26.basic.transports.stdio-019", "26.basic.patterns.subscriptions-022"},
			Does:    "Ends the connection while the client has a subscription, and looks at the next one.",
			Accepts: "subscriptions/listen with the same filter.",
		},
		Needs: []string{needsStdio}, In: []string{"exits"},
		Watch: func(x *X, w *probe.Watch) {
			exit := x.Marked("exit")
			if exit == nil {
				return
			}
			before := x.Requests("subscriptions/listen")
			if len(before) == 0 || before[0].Number > exit.Number {
				w.Nothing(probe.Unverified("the client had no subscription when the server ended"))
				return
			}
			after := x.After(exit, (*peer.Message).IsRequest)
			if len(after) == 0 {
				return
			}
			for _, m := range after {
				if m.Method == "subscriptions/listen" {
					w.Saw(m)
					return
				}
			}
			if last := after[len(after)-1]; last.Conn != exit.Conn {
				w.FaultOf(probe.Of(before[0], after[0]), "the client uses a new process of the server, and has not subscribed again")
			}
		},
	},
}

// spans reports whether the beginning of some lines is one message.
func spans(lines []*peer.Message) bool {
	var joined [][]byte
	for n, m := range lines[:min(len(lines), 20)] {
		joined = append(joined, m.Raw)
		if n == 0 {
			continue
		}
		if v, err := peer.Decode(bytes.Join(joined, []byte("\n"))); err == nil {
			_, ok := v.(object)
			return ok
		}
		if v, err := peer.Decode(bytes.Join(joined, []byte(`\n`))); err == nil {
			_, ok := v.(object)
			return ok
		}
	}
	return false
}

// hasMedia reports whether an Accept header lists a media type.
func hasMedia(accept []string, media string) bool {
	for one := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		kind, _, _ := strings.Cut(one, ";")
		if strings.EqualFold(strings.TrimSpace(kind), media) {
			return true
		}
	}
	return false
}
