package serverprobe

import (
	"fmt"
	"slices"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/mcp"
)

// Doing is what a call of a tool was seen to do in the survey.
type Doing struct {
	Callable

	Asks    []question // in the order in which they came
	Reports bool       // progress
	Took    time.Duration
	Changes []string // the methods of the notifications of changes that came meanwhile
	Failed  bool     // it ended with an error, or with a result that says so
	// Result is the final answer, or nil.
	Result *peer.Message
}

// lull waits a little for what is announced after the n-th message, until nothing
// more comes: servers gather changes for a while, too.
func (x *X) lull(n int) {
	for range 2 * len(listens) {
		change := x.Main.Await(x.Ctx, n, 60*time.Millisecond, isChange)
		if change == nil {
			return
		}
		n = change.Number
	}
}

// use calls a tool, finishes the call, and remembers what it did.
func (x *X) use(tool Callable, arguments map[string]any) {
	from := x.Log.Len()
	begun := time.Now()
	token := fmt.Sprintf("%s%d", surveyToken, x.NextID())
	r := x.Finish("tools/call", map[string]any{
		"name": tool.Name, "arguments": arguments, "_meta": map[string]any{"progressToken": token},
	})
	d := &Doing{Callable: tool, Took: time.Since(begun), Result: r.Response}
	d.Arguments = arguments
	if x.listens() {
		x.lull(from)
	}
	for _, m := range x.Log.Since(from) {
		if m.Sent || m.Conn != x.Main.Number {
			continue
		}
		d.Asks = append(d.Asks, questionsOf(m)...)
		d.Reports = d.Reports || m.Method == mcp.NoteProgress && m.Text("params/progressToken") == token
		if isChange(m) {
			d.Changes = append(d.Changes, m.Method)
		}
	}
	d.Failed = !succeeded(r.Response)
	x.Offer.Did = append(x.Offer.Did, d)
}

// succeeded reports whether a message is the final result of a call that went well.
func succeeded(m *peer.Message) bool {
	if m == nil || !m.IsResult() || asksForInput(m) {
		return false
	}
	failed, _ := m.Get("result/isError")
	return failed != true
}

// isChange reports whether a message announces a change of what the server offers.
func isChange(m *peer.Message) bool {
	return slices.Contains([]string{mcp.NoteToolsChanged, mcp.NotePromptsChanged, mcp.NoteResourcesChanged, mcp.NoteResourceUpdated}, m.Method)
}

// did returns the tools that were seen to do something.
func (x *X) did(what func(*Doing) bool) []*Doing {
	var all []*Doing
	for _, d := range x.Offer.Did {
		if what(d) {
			all = append(all, d)
		}
	}
	return all
}

// before returns the tools during whose calls something came, each after the one
// that was called before it: what comes without being waited for may be late.
func (x *X) before(came func(*Doing) bool) []*Doing {
	var all []*Doing
	for n, d := range x.Offer.Did {
		if !came(d) {
			continue
		}
		for _, one := range x.Offer.Did[max(0, n-1) : n+1] {
			if len(one.Asks) == 0 && !one.Failed && !slices.Contains(all, one) {
				all = append(all, one)
			}
		}
	}
	return all
}

// asking are the tools that asked something and then succeeded.
func asking(d *Doing) bool { return len(d.Asks) > 0 && !d.Failed }

// params are those of the same call again.
func (d *Doing) params() map[string]any {
	return map[string]any{"name": d.Name, "arguments": d.Arguments}
}
