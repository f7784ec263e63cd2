package serverprobe

import (
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/verdict"
)

const survivesDisconnection = "http/disconnection-does-not-cancel"

// cameBack is a call whose stream was broken off and resumed.
type cameBack struct {
	tool        Callable
	token       string // that of its progress
	lasts       time.Duration
	call, again *peer.Reply
	answer      *peer.Message
	why         probe.Finding // set if it could not be resumed
}

// returnable chooses a call that can be broken off, or nil.
func (x *X) returnable() *cameBack {
	calls := x.reporting()
	if len(calls) == 0 {
		return nil
	}
	b := &cameBack{tool: calls[0], token: "parley-check-come-back"} //nolint:gosec // the token is no secret
	for _, d := range x.did(func(d *Doing) bool { return d.Name == b.tool.Name }) {
		b.lasts = max(b.lasts, d.Took)
	}
	return b
}

func (b *cameBack) took() time.Duration { return b.lasts }

// begin makes the call, breaks it off when it has reported something, and comes
// back at once.
func (b *cameBack) begin(x *X) bool {
	b.call = x.report(x.Main, b.tool, b.token)
	defer b.call.Stop()
	if b.call.For(x.Ctx, isProgressOf(b.token)) == nil {
		b.why = probe.Unverified("the call reported nothing this time").Explained(answersRequests)
		return false
	}
	b.call.Stop()
	id := x.Main.lastEvent(b.call.Exchange)
	if id == "" {
		b.why = noEventIDs()
		return false
	}
	b.again = x.Main.resume(id)
	return true
}

// end waits for the answer.
func (b *cameBack) end(x *X) {
	defer b.again.Stop()
	b.answer = b.again.For(x.Ctx, func(m *peer.Message) bool { return m.IsResponse() && m.Answers() == b.call.Sent })
}

// comeBack judges a call whose stream was broken off. If it did not go well, which
// may be because of other calls that were under way, it is made once more.
func comeBack(x *X) probe.Finding {
	x.playSlow()
	s := x.slow
	if s.back == nil {
		return noReports()
	}
	f := s.back.finding()
	if f.Outcome == verdict.Fail || f.Outcome == verdict.Unverified && s.back.refused(x) {
		s.back = &cameBack{tool: s.back.tool, token: s.back.token + "-again", lasts: s.back.lasts}
		playAlone(x, s.back)
		f = s.back.finding()
	}
	return f
}

// refused reports whether the call was answered by an error.
func (b *cameBack) refused(x *X) bool {
	if b.call.Sent == nil {
		return false
	}
	answer := x.Log.ResponseTo(b.call.Sent)
	return answer != nil && answer.IsError()
}

func (b *cameBack) finding() probe.Finding {
	switch {
	case b.why.Outcome != "":
		return b.why
	case b.answer == nil:
		return probe.Unverified("the answer did not come on the stream that was resumed")
	case b.answer.IsError():
		return probe.Fail(probe.Of(b.call.Sent, b.answer), "the call was given up when its connection broke")
	default:
		return probe.Pass(probe.Of(b.call.Sent, b.answer)...)
	}
}
