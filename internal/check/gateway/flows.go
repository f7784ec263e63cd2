package gateway

import (
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

// progress looks for progress that was changed, came out of order or, the last of
// it, not at all.
func progress(p *pair) probe.Finding {
	g := gather{nothing: noProgress}
	for _, t := range p.trials() {
		near, far := t.near.progress, t.far.progress
		if len(near) == 0 || len(near) != len(t.again.progress) || t.far.result() == nil {
			continue // nothing, or not the same each time
		}
		g.compared++
		next := 0
		for _, m := range far {
			for next < len(near) && !sameProgress(near[next], m) {
				next++
			}
			if next == len(near) {
				g.fault(probe.Of(append(near, m)...), "%s: this progress is none of the server's, or came out of order", t.what)
				break
			}
			next++
		}
		if len(far) == 0 || !sameProgress(near[len(near)-1], far[len(far)-1]) {
			g.fault(probe.Of(append(near, far...)...), "%s: the last progress did not come through", t.what)
		}
	}
	return g.finding()
}

const noProgress = "no call that was made reports progress"

func sameProgress(near, far *peer.Message) bool {
	a, _ := near.Get("params")
	b, _ := far.Get("params")
	return len(differences(a, b, func(at string) bool { return at == "/progressToken" || own(at) })) == 0
}

// allProgress counts it.
func allProgress(p *pair) probe.Finding {
	g := gather{nothing: noProgress}
	for _, t := range p.trials() {
		near, far := t.near.progress, t.far.progress
		if len(near) == 0 || len(near) != len(t.again.progress) || t.far.result() == nil {
			continue
		}
		g.compared++
		if len(far) < len(near) {
			g.fault(probe.Of(append(near, far...)...), "%s: of %d notifications of the server %d came through", t.what, len(near), len(far))
		}
	}
	return g.finding()
}

// logs compares the log messages of calls.
func logs(p *pair) probe.Finding {
	g := gather{nothing: "no call that was made logs"}
	for _, t := range p.trials() {
		near, again, far := t.near.logs, t.again.logs, t.far.logs
		if len(near) == 0 || len(near) != len(again) || t.far.result() == nil {
			continue // nothing, or not the same each time
		}
		g.compared++
		if len(far) != len(near) {
			g.fault(probe.Of(append(near, far...)...), "%s: of %d messages of the server %d came through", t.what, len(near), len(far))
			continue
		}
		for n := range near {
			a, _ := near[n].Get("params")
			b, _ := far[n].Get("params")
			for _, d := range differences(a, b, own) {
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
		near := t.near.progress[0].At - t.near.reply.Sent.At
		if far := t.far.progress[0].At - t.far.reply.Sent.At; far > near+ahead/2 {
			g.fault(probe.Of(t.near.reply.Sent, t.near.progress[0], t.far.reply.Sent, t.far.progress[0]),
				"%s: the first progress came %s after the call directly, and %s after it through the gateway", t.what, near.Round(time.Millisecond), far.Round(time.Millisecond))
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
