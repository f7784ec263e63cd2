package gateway

import (
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

// progress compares the progress of calls.
func progress(p *pair) probe.Finding {
	return p.compareFlow("no call that was made reports progress", func(a *act) []*peer.Message { return a.progress }, func(at string) bool { return at == "/progressToken" })
}

// logs compares the log messages of calls.
func logs(p *pair) probe.Finding {
	return p.compareFlow("no call that was made logs", func(a *act) []*peer.Message { return a.logs }, nil)
}

func (p *pair) compareFlow(nothing string, of func(*act) []*peer.Message, skip func(string) bool) probe.Finding {
	g := gather{nothing: nothing}
	for _, t := range p.trials() {
		near, again, far := of(t.near), of(t.again), of(t.far)
		if len(near) == 0 || len(near) != len(again) || t.far.result() == nil {
			continue // nothing, or not the same each time
		}
		g.compared++
		if len(far) != len(near) {
			g.fault(probe.Of(append(near, far...)...), "%s: of %d notifications of the server %d came through", t.what, len(near), len(far))
			continue
		}
		for n := range near {
			a, _ := near[n].Get("params")
			b, _ := far[n].Get("params")
			for _, d := range differences(a, b, func(at string) bool { return own(at) || skip != nil && skip(at) }) {
				g.fault(both(near[n], far[n], "/params"+d.pointer), "%s: notification %d: %s", t.what, n+1, d.String())
			}
		}
	}
	return g.finding()
}

// shortest is how long before the result progress must come directly, so that
// holding it back shows.
const shortest = 300 * time.Millisecond

// inTime looks at when progress came.
func inTime(p *pair) probe.Finding {
	g := gather{nothing: "no call that was made works on for a while after it has reported progress"}
	for _, t := range p.trials() {
		if len(t.near.progress) == 0 || len(t.far.progress) == 0 || t.near.answer() == nil || t.far.answer() == nil {
			continue
		}
		ahead := t.near.answer().At - t.near.progress[0].At
		if ahead < shortest {
			continue
		}
		g.compared++
		if late := t.far.answer().At - t.far.progress[0].At; late < ahead/2 {
			g.fault(probe.Of(t.near.progress[0], t.near.answer(), t.far.progress[0], t.far.answer()),
				"%s: the first progress came %s before the answer directly, and %s before it through the gateway", t.what, ahead.Round(time.Millisecond), late.Round(time.Millisecond))
		}
	}
	return g.finding()
}

// questions compares what the server asked, and that it got the answers.
func questions(p *pair) probe.Finding {
	g := gather{nothing: "no call that was made asks anything"}
	for _, t := range p.trials() {
		near, far := t.near.asked, t.far.asked
		if len(near) == 0 {
			continue
		}
		g.compared++
		if len(near) != len(far) {
			g.fault(probe.Of(near[0].in, t.far.answer()), "%s: of %d questions of the server %d came through", t.what, len(near), len(far))
			continue
		}
		for n := range near {
			for _, d := range differences(near[n].params, far[n].params, func(at string) bool { return own(at) || at == "/elicitationId" }) {
				g.fault(both(near[n].in, far[n].in, d.pointer), "%s: %s: %s", t.what, near[n].method, d.String())
			}
		}
		if t.near.result() != nil && t.far.result() == nil {
			g.fault(probe.Of(far[0].in, t.far.answer()), "%s: the answer did not reach the server", t.what)
		}
	}
	return g.finding()
}
