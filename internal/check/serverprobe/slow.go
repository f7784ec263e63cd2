package serverprobe

import (
	"cmp"
	"slices"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
)

// slowScene is a call of a tool that takes long, and what is done about it
// meanwhile.
type slowScene interface {
	// begin makes the call, and reports whether there is anything to wait for.
	begin(x *X) bool
	// end waits for what comes of it.
	end(x *X)
	// took is how long the tool took in the survey.
	took() time.Duration
}

// playSlow plays the scenes with tools that take long, once for all probes. It
// plays them at once, because little happens in them but that time passes; a
// server that can do only one thing after the other must be able to do them all
// in the time that the check waits for an answer.
func (x *X) playSlow() {
	if x.slow != nil {
		return
	}
	s := x.castSlow()
	x.slow = s
	all := s.all()
	sum := time.Duration(0)
	for _, one := range all {
		sum += one.took()
	}
	s.crowded = len(all) > 1 && sum <= x.opts.Patience.ReplyOrDefault()
	if !s.crowded {
		for _, one := range all {
			play(x, one)
		}
		return
	}
	all = slices.DeleteFunc(all, func(one slowScene) bool { return !one.begin(x) })
	for _, one := range all {
		one.end(x)
	}
}

func play(x *X, s slowScene) {
	if s.begin(x) {
		s.end(x)
	}
}

// playAlone plays a scene that failed once more, when calls that were broken off before
// must have ended: a tool may refuse to be called several times at once.
func playAlone(x *X, s slowScene) {
	pause := s.took() + x.opts.Patience.QuietOrDefault()
	x.Main.Await(x.Ctx, x.Log.Len(), pause, func(*peer.Message) bool { return false })
	play(x, s)
}

// slowScenes are what tools that take long are called for: each is nil if no probe
// wants it, or no tool is there for it.
type slowScenes struct {
	cancelled *cancelled
	back      *cameBack
	logging   *loggedAside
	// crowded is set if they were played at once.
	crowded bool
}

// all are the scenes in the order in which they begin and end: what has to be seen
// soon after a call has begun comes first.
func (s *slowScenes) all() []slowScene {
	var all []slowScene
	if s.cancelled != nil {
		all = append(all, s.cancelled)
	}
	if s.back != nil {
		all = append(all, s.back)
	}
	if s.logging != nil {
		all = append(all, s.logging)
	}
	return all
}

// castSlow chooses the scenes and their tools.
func (x *X) castSlow() *slowScenes {
	s := &slowScenes{}
	if x.wants("cancellation/no-response", "cancellation/stops") {
		s.cancelled, _ = x.cancellable()
	}
	if x.wants(survivesDisconnection) && x.Transport == needsHTTP && !x.Stateless {
		s.back = x.returnable()
	}
	if x.wants(respectsLevel) && x.Offer.Has("logging") && len(x.logs()) == 0 && (s.cancelled != nil || s.back != nil) {
		s.logging = x.slowLogger()
	}
	return s
}

// wants reports whether any of some probes is to be run.
func (x *X) wants(probes ...string) bool {
	return x.opts.Only == nil || slices.ContainsFunc(probes, func(id string) bool { return slices.Contains(x.opts.Only, id) })
}

// byTime sorts calls of the survey: those first that took less, and those alike
// that took about as long.
func byTime(all []*Doing) {
	slices.SortStableFunc(all, func(a, b *Doing) int { return cmp.Compare(about(a.Took), about(b.Took)) })
}

// about is a time without what chance makes of it.
func about(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }

// isQuick reports whether a call in the survey took so little time that nobody minds
// to make it again.
func isQuick(d *Doing) bool { return d.Took <= longestQuick }

// loggedAside is a call of a tool that takes long, in a conversation of its own in
// which all log messages are asked for.
type loggedAside struct {
	tool *Doing
	c    *Conn
	from int // the number of the newest message before the call
	call *peer.Reply
	logs []*peer.Message
	// heard is set if the call succeeded, so that logs are all that came of it.
	heard bool
}

// slowLogger is the quickest of the tools that may be called again only if none
// of the others logs, or nil.
func (x *X) slowLogger() *loggedAside {
	slows := x.did(func(d *Doing) bool { return !isQuick(d) && len(d.Asks) == 0 })
	if len(slows) == 0 {
		return nil
	}
	byTime(slows)
	return &loggedAside{tool: slows[0]}
}

func (l *loggedAside) took() time.Duration { return l.tool.Took }

func (l *loggedAside) begin(x *X) bool {
	var err error
	if l.c, err = x.Open(nil); err != nil {
		return false
	}
	var params map[string]any
	l.from, params = l.c.atLevel(&l.tool.Callable, lowestLevel)
	l.call = l.c.Begin("tools/call", params)
	return l.call.Err == nil
}

func (l *loggedAside) end(x *X) {
	defer l.c.Leave()
	defer l.call.Stop()
	l.heard = ran(l.call.Wait(x.Ctx))
	for _, m := range x.logsSince(l.from) {
		if m.Conn == l.c.Number {
			l.logs = append(l.logs, m)
		}
	}
}
