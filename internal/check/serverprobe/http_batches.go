package serverprobe

import (
	"net/http"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/verdict"
)

// batchesAccepted is the probe that fails if there are no batches.
const batchesAccepted = "basic/accepts-batches"

var httpBatches = []Probe{
	{
		Info: probe.Info{
			ID: "http/batch-is-answered-whole", Rows: []string{"2503.basic.transports-005"},
			Does:    "Posts an array of three requests.",
			Accepts: "A response to each.",
			Mend:    "Answer each request of a batch.",
			After:   []string{batchesAccepted},
		},
		Needs: []string{needsHTTP},
		Run: func(x *X) probe.Finding {
			r, answers := x.batch(x.simplest(), x.simplest(), x.simplest())
			switch {
			case len(answers) == 0:
				return unanswered(r)
			case len(answers) < 3:
				return probe.Fail(probe.Of(append([]*peer.Message{r.Sent}, answers...)...), "%d of 3 requests were answered", len(answers))
			default:
				return probe.Pass(probe.Of(r.Sent)...)
			}
		},
	},
	{
		Info: probe.Info{
			ID: "http/batch-without-requests-is-202", Rows: []string{"2503.basic.transports-003"},
			Does:    "Posts an array of notifications.",
			Accepts: "Status 202 without a body.",
			Mend:    "Answer batches without requests with status 202 and an empty body.",
			After:   []string{batchesAccepted},
		},
		Needs: []string{needsHTTP},
		Run: func(x *X) probe.Finding {
			note := x.Main.Notification("notifications/cancelled", map[string]any{"requestId": "parley-check-none"})
			r := x.Main.Do(x.Ctx, peer.Frame([]any{note, note}))
			switch f := wantStatus(r, http.StatusAccepted); {
			case r.Exchange != nil && r.Exchange.Status >= 400:
				return probe.Unverified("the server did not accept it").Explained(batchesAccepted)
			case f.Outcome == verdict.Pass && (len(r.Exchange.Text) > 0 || len(r.Exchange.Messages) > 0):
				return probe.Fail(probe.OfReply(r), "it was accepted with status 202, but with a body")
			default:
				return f
			}
		},
	},
	{
		Info: probe.Info{
			ID: "http/batch-stream-ends", Rows: []string{"2503.basic.transports-008"},
			Does:    "Posts an array with a call that reports progress, and waits until the stream ends.",
			Accepts: "An end soon after the last answer.",
			Mend:    "End the event stream once all answers have been sent.",
			After:   []string{batchesAccepted},
		},
		Needs: []string{needsHTTP},
		Run: func(x *X) probe.Finding {
			calls := x.reporting()
			if len(calls) == 0 {
				return noReports()
			}
			tool := calls[len(calls)-1]
			call := x.Request("tools/call", map[string]any{"name": tool.Name, "arguments": tool.Arguments, "_meta": map[string]any{"progressToken": "parley-check-batch"}}) //nolint:gosec // it is no secret
			r := x.Main.Start(x.Ctx, peer.Frame([]any{call, x.simplest()}))
			defer r.Stop()
			r.Wait(x.Ctx)
			if r.Exchange == nil || !r.Exchange.IsStream() || r.Response == nil {
				return probe.Unverified("the batch was not answered on an event stream")
			}
			if !r.Ended(x.Ctx) {
				return probe.Fail(probe.OfReply(r), "the event stream goes on after all answers")
			}
			return probe.Pass(probe.OfReply(r)...)
		},
	},
}

// batch sends an array and waits for the answers to its requests, as many as
// come.
func (x *X) batch(messages ...map[string]any) (*peer.Reply, []*peer.Message) {
	var list []any
	for _, m := range messages {
		list = append(list, m)
	}
	from := x.Log.Len()
	r := x.Main.Start(x.Ctx, peer.Frame(list))
	defer r.Stop()
	r.Wait(x.Ctx)
	var answers []*peer.Message
	for _, m := range messages {
		id := string(peer.Encode(m["id"]))
		if m["id"] == nil || r.Response == nil {
			continue
		}
		if a := x.Main.Await(x.Ctx, from, x.Main.Patience.QuietOrDefault(), func(m *peer.Message) bool { return m.IsResponse() && string(m.ID) == id }); a != nil {
			answers = append(answers, a)
		}
	}
	return r, answers
}
