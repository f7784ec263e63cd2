package serverprobe

import (
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/mcp"
)

const noRoots = "the server asks for no roots in the calls that could be made"

var rootsProbes = []Probe{
	{
		Info: probe.Info{
			ID: "roots/unavailable", Rows: []string{"26.client.roots-011", "2511.client.roots-012"},
			Does:    "Answers questions for roots with a folder that does not exist, with none, and, in sessions, with an error.",
			Accepts: "An answer to the call, whatever it says, and that the conversation goes on.",
			Mend:    "Let the call fail, or do without, if the roots cannot be had.",
		},
		Run: func(x *X) probe.Finding {
			f := x.eachManner(x.askers(ofMethod(mcp.MethodRoots), mostTried), noRoots, x.rootless())
			if f.Outcome != verdict.Unverified || x.Stateless {
				return f
			}
			s, why := x.changeRoots() // it may ask of its own accord
			switch {
			case s == nil:
				return why
			case s.asked == nil:
				return probe.Unverified("the server asks for its roots only once")
			case s.gone.Response == nil:
				return probe.Fail(append(probe.Of(s.asked), probe.OfReply(s.gone)...), "the conversation was over after the roots had become unavailable")
			}
			return probe.Pass(probe.OfReply(s.gone)...)
		},
	},
	{
		Info: probe.Info{
			ID: "roots/asked-anew", Rows: []string{"2511.client.roots-004"},
			Does:    "Sends notifications/roots/list_changed in a session in which the server has asked for the roots, and repeats the call that used them.",
			Accepts: "roots/list, at once or when the roots are used again.",
			Mend:    "Forget the roots when they have changed, and ask for them.",
			After:   []string{"roots/unavailable"},
		},
		Needs: []string{needsSession},
		Run: func(x *X) probe.Finding {
			s, why := x.changeRoots()
			switch {
			case s == nil:
				return why
			case s.asked != nil:
				return probe.Pass(probe.Of(s.note, s.asked)...)
			case s.used != nil && !succeeded(s.used.Response):
				return probe.Unverified("the call that uses the roots did not succeed this time")
			case s.used != nil:
				return probe.Fail(append(probe.Of(s.before, s.note), probe.OfReply(s.used)...), "the roots have changed, and are used again without being asked for")
			}
			return probe.Fail(probe.Of(s.before, s.note), "the roots have changed, and are not asked for again")
		},
	},
	{
		Info: probe.Info{
			ID: "roots/changes-handled", Rows: []string{"2511.client.roots-020"},
			Does:    "Sends notifications/roots/list_changed, twice in a row, to a server that uses roots.",
			Accepts: "No error, and that the conversation goes on.",
		},
		Needs: []string{needsSession},
		Run: func(x *X) probe.Finding {
			s, why := x.changeRoots()
			switch {
			case s == nil:
				return why
			case s.trouble != nil:
				return probe.Fail(probe.Of(s.note, s.trouble), "the notification was answered with an error")
			case s.after.Response == nil:
				return probe.Fail(append(probe.Of(s.note), probe.OfReply(s.after)...), "the conversation was over after the notification")
			}
			return probe.Pass(append(probe.Of(s.note), probe.OfReply(s.after)...)...)
		},
	},
}

// rootless are the manners of clients whose roots are not there.
func (x *X) rootless() []named {
	all := []named{
		{"a folder that does not exist", rooted("file:///tmp/parley-check/no/such/folder")},
		{"no roots", rooted()},
	}
	if !x.Stateless {
		all = append(all, named{"an error", chosen(mcp.MethodRoots, func(question) any { return nil })})
	}
	return all
}

// rooted is the manner of a client with some roots.
func rooted(uris ...string) manner {
	roots := []any{}
	for _, uri := range uris {
		roots = append(roots, map[string]any{"uri": uri})
	}
	return chosen(mcp.MethodRoots, func(question) any { return map[string]any{"roots": roots} })
}

// rootChange is a session in which the roots changed.
type rootChange struct {
	before  *peer.Message // the question for the roots, before they changed
	note    *peer.Message // the first of two notifications
	asked   *peer.Message // the question after that, if any
	used    *peer.Reply   // the call that uses the roots, made again; nil if there is none
	trouble *peer.Message // what the notifications were answered with
	after   *peer.Reply   // something harmless, at last
	gone    *peer.Reply   // likewise, after the roots had become unavailable
}

// changeRoots plays the session, once.
func (x *X) changeRoots() (*rootChange, probe.Finding) {
	if x.rootChange == nil && x.noChange.Outcome == "" {
		x.rootChange, x.noChange = x.playRoots()
	}
	return x.rootChange, x.noChange
}

// playRoots lets the roots change in a session in which the server has asked for them.
// A server may ask of its own accord, at any time, so a question during a call need
// not belong to it.
func (x *X) playRoots() (*rootChange, probe.Finding) {
	if len(x.Received(isRootsList)) == 0 {
		return nil, probe.Unverified(noRoots)
	}
	p, err := x.contrary()
	if err != nil {
		return nil, unreachable(err)
	}
	tools := x.askers(ofMethod(mcp.MethodRoots), 1)
	for _, d := range tools {
		p.finish(d.params(), friendly, mostUrging)
	}
	s := &rootChange{}
	wait := x.opts.Patience.ReplyOrDefault()
	if s.before = p.Await(x.Ctx, 0, wait, isRootsList); s.before == nil {
		return nil, probe.Unverified("the server does not ask for the roots in each session")
	}
	p.behave(rooted("file:///tmp/parley-check-other"), mostAnswers, func() {})
	from := x.Log.Len()
	s.note = p.Notify(mcp.NoteRootsChanged, nil).Sent
	p.Notify(mcp.NoteRootsChanged, nil)
	if len(tools) > 0 {
		s.used, _ = p.finish(tools[0].params(), rooted("file:///tmp/parley-check-other"), mostUrging)
	}
	s.asked = p.Await(x.Ctx, from, wait, isRootsList)
	s.after = p.Do(x.Ctx, peer.Frame(x.simplest()))
	for _, m := range x.Log.Since(from) {
		if !m.Sent && m.Conn == p.Number && m.IsError() && (m.ID == nil || string(m.ID) == "null") && !refusedByHTTP(m) {
			s.trouble = m
		}
	}
	if s.asked != nil {
		p.behave(rooted(), mostAnswers, func() {})
		from = x.Log.Len()
		p.Notify(mcp.NoteRootsChanged, nil)
		p.Await(x.Ctx, from, wait, isRootsList)
		s.gone = p.Do(x.Ctx, peer.Frame(x.simplest()))
	}
	p.behave(friendly, mostAnswers, func() {})
	return s, probe.Finding{}
}

func isRootsList(m *peer.Message) bool { return m.IsRequest() && m.Method == mcp.MethodRoots }
