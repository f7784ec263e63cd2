package serverprobe

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/verdict"
)

var httpResume = []Probe{
	{
		Info: probe.Info{
			ID: "http/event-ids-are-unique", Rows: []string{"2511.basic.transports-054"},
			Does:    "Compares the IDs of all events of a session, but for those of streams that were resumed.",
			Accepts: "Each ID once.",
			Mend:    "Make event IDs of the name of the stream and a number.",
		},
		Needs: sessionsNeed,
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(noEventIDs())
			type key struct {
				conn int
				id   string
			}
			seen := map[key]*peer.Exchange{}
			x.eachExchange(func(e *peer.Exchange) {
				if e.Header.Get("Last-Event-ID") != "" {
					return
				}
				for _, event := range e.Events {
					if k := (key{e.Conn, event.ID}); event.ID != "" {
						w.Saw(e.Message)
						if first := seen[k]; first != nil {
							w.FaultOf(append(ofExchange(first), ofExchange(e)...), "two events of the session have the ID %q", event.ID)
						}
						seen[k] = e
					}
				}
			})
		},
	},
	{
		Info: probe.Info{
			ID: "http/resumes-the-same-stream", Rows: []string{"2511.basic.transports-058", "2511.basic.transports-055", "2511.basic.transports-059"},
			Does:    "Comes back by GET for the streams of two calls, with the ID of the first event of each.",
			Accepts: "Only what came on the same stream.",
			Mend:    "Let the ID of an event tell the stream that it belongs to, and replay nothing else.",
		},
		Needs: sessionsNeed,
		Run:   resumeTwo,
	},
	{
		Info: probe.Info{
			ID: survivesDisconnection, Rows: []string{"2511.basic.transports-038"},
			Does:    "Breaks off the stream of a call, and comes back for it by GET.",
			Accepts: "The result of the call.",
			Mend:    "Let a request go on when its connection breaks: clients that want it to end send notifications/cancelled.",
		},
		Needs: sessionsNeed,
		Run:   comeBack,
	},
	{
		Info: probe.Info{
			ID: "http/one-stream-for-each-message", Rows: []string{"2511.basic.transports-050", "2511.basic.transports-051"},
			Does:    "Calls the tools that take little time, with one stream open and with two.",
			Accepts: "No more announcements with two streams than with one.",
			Mend:    "Send each message on one of the streams of a session.",
		},
		Needs: sessionsNeed,
		Run:   twoStandingStreams,
	},
	{
		Info: probe.Info{
			ID: "http/retry-before-get-ends", Rows: []string{"2511.basic.transports-048"},
			Does:    "Resumes a stream that GET has opened while it is open, and looks at how the first connection ends.",
			Accepts: "A retry field before the end; or no end.",
			Mend:    "Say with a retry field when to come back before you end a connection whose stream goes on.",
		},
		Needs: sessionsNeed,
		Run:   takeOver,
	},
}

func noEventIDs() probe.Finding { return probe.NotApplicable("the server gives events no IDs") }

// lastEvent is the ID of the newest event of an exchange, or "".
func (c *Conn) lastEvent(e *peer.Exchange) (id string) {
	c.Log.Look(func() {
		for _, event := range e.Events {
			if event.ID != "" {
				id = event.ID
			}
		}
	})
	return id
}

// resume opens a stream with the ID of the last event. The caller stops it.
func (c *Conn) resume(id string) *peer.Reply {
	r := c.Get(c.x.Ctx, http.Header{"Last-Event-Id": {id}})
	c.headOf(r)
	return r
}

// on are the messages of an exchange.
func (x *X) on(e *peer.Exchange) []*peer.Message {
	return slices.DeleteFunc(x.Log.Messages(), func(m *peer.Message) bool { return m.Sent || m.Exchange != e })
}

func resumeTwo(x *X) probe.Finding {
	calls := x.reporting()
	if len(calls) == 0 {
		return noReports()
	}
	var replies []*peer.Reply
	for _, token := range []string{"parley-check-resume-1", "parley-check-resume-2"} {
		r := x.report(x.Main, calls[len(calls)-1], token)
		defer r.Stop()
		r.Wait(x.Ctx)
		r.Ended(x.Ctx)
		if r.Exchange == nil || x.Main.lastEvent(r.Exchange) == "" {
			return noEventIDs()
		}
		replies = append(replies, r)
	}
	seen := 0
	for n, r := range replies {
		first := slices.IndexFunc(r.Exchange.Events, func(e *peer.Event) bool { return e.ID != "" })
		again := x.Main.resume(r.Exchange.Events[first].ID)
		again.Ended(x.Ctx)
		again.Stop()
		for _, m := range x.on(again.Exchange) {
			if again.Exchange.IsStream() && contains(x.on(r.Exchange), m) {
				seen++
			} else if contains(x.on(replies[1-n].Exchange), m) {
				return probe.Fail([]probe.Blame{{Exchange: again.Exchange}, {Message: m}, {Message: r.Sent}}, "a stream was resumed, and a message of another stream came")
			}
		}
	}
	if seen == 0 {
		return probe.Unverified("nothing came again of streams that had ended")
	}
	return probe.Pass(probe.Of(replies[0].Sent)...)
}

func contains(all []*peer.Message, m *peer.Message) bool {
	return slices.ContainsFunc(all, m.Same)
}

// quick are the calls that took little time in the survey, some of which may
// announce changes.
func (x *X) quick() []Callable {
	slow := map[string]bool{}
	for _, found := range x.Results("tools/call") {
		name := found.Request.Text("params/name")
		slow[name] = slow[name] || found.Response.At-found.Request.At > longestQuick
	}
	all := slices.DeleteFunc(slices.Clone(x.Offer.Callable), func(c Callable) bool { return slow[c.Name] })
	return all[:min(mostQuick, len(all))]
}

// How many calls are made to see whether one announces a change, and how long
// they may take.
const (
	mostQuick    = 20
	longestQuick = 200 * time.Millisecond
)

func isListChanged(m *peer.Message) bool { return strings.HasSuffix(m.Method, "/list_changed") }

// standing opens a session with a standing stream, on which calls have announced
// something, and says how much; or else why there is none.
func (x *X) standing() (*Conn, int, probe.Finding) {
	c, err := x.Open(nil)
	if err != nil {
		return nil, 0, probe.Unverified("no further session could be opened").Explained(answersRequests)
	}
	if c.headOf(c.Stream); !c.Stream.Exchange.IsStream() {
		return nil, 0, probe.NotApplicable("the server opens no streams by GET")
	}
	if n := c.announce(c.Stream.Exchange); n > 0 {
		return c, n, probe.Finding{Outcome: verdict.Pass}
	}
	return nil, 0, probe.Unverified("no tool that may be called announced the change of a list")
}

// announce makes calls and returns how many changes were announced on an exchange.
func (c *Conn) announce(e *peer.Exchange) int {
	before := len(c.x.announced(e))
	for _, tool := range c.x.quick() {
		c.Finish("tools/call", map[string]any{"name": tool.Name, "arguments": tool.Arguments})
	}
	c.Quiet(c.x.Ctx)
	return len(c.x.announced(e)) - before
}

// announced are the changes of lists that came on an exchange.
func (x *X) announced(e *peer.Exchange) []*peer.Message {
	return slices.DeleteFunc(x.on(e), func(m *peer.Message) bool { return !isListChanged(m) })
}

func twoStandingStreams(x *X) probe.Finding {
	c, alone, f := x.standing()
	if f.Outcome == verdict.Unverified && x.sentOnce() {
		return probe.Pass()
	}
	if f.Outcome != verdict.Pass {
		return f
	}
	other := c.Get(x.Ctx, nil)
	defer other.Stop()
	if c.headOf(other); !other.Exchange.IsStream() {
		return probe.NotApplicable("the server opens one stream for each session")
	}
	first := c.announce(c.Stream.Exchange)
	second := len(x.announced(other.Exchange))
	switch {
	case first+second == 0:
		return probe.Unverified("nothing was announced with two streams open")
	case first > 0 && second > 0 && first+second > alone:
		return probe.Fail(probe.Of(append(x.announced(c.Stream.Exchange), x.announced(other.Exchange)...)...), "the same messages came on two streams")
	default:
		return probe.Pass(probe.Blame{Exchange: other.Exchange})
	}
}

// sentOnce reports whether progress came while several streams were open, and none
// of it on two.
func (x *X) sentOnce() bool {
	var all []*peer.Message
	for _, m := range x.Received(nil) {
		if m.Method != "notifications/progress" || m.Exchange == nil {
			continue
		}
		for _, other := range all {
			if other.Conn == m.Conn && other.Exchange != m.Exchange && other.Same(m) {
				return false
			}
		}
		all = append(all, m)
	}
	return len(all) > 0
}

func takeOver(x *X) probe.Finding {
	c, _, f := x.standing()
	if f.Outcome != verdict.Pass {
		return f
	}
	id := c.lastEvent(c.Stream.Exchange)
	if id == "" {
		return noEventIDs()
	}
	again := c.resume(id)
	defer again.Stop()
	if !again.Exchange.IsStream() {
		return probe.NotApplicable("the server does not resume a stream that is open")
	}
	c.Quiet(x.Ctx)
	over, told := false, false
	c.Log.Look(func() {
		e := c.Stream.Exchange
		over = e.Done && !e.Aborted
		told = slices.ContainsFunc(e.Events, func(event *peer.Event) bool { return event.Retry != "" })
	})
	switch {
	case !over:
		return probe.NotApplicable("the server leaves the first connection open")
	case !told:
		return probe.Fail([]probe.Blame{{Exchange: c.Stream.Exchange}, {Exchange: again.Exchange}}, "the connection was ended while its stream goes on, and no event has a retry field")
	default:
		return probe.Pass(probe.Blame{Exchange: c.Stream.Exchange})
	}
}
