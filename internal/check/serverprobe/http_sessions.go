package serverprobe

import (
	"net/http"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/verdict"
)

// leastRandom is how many characters two session IDs must differ in, between
// what they begin and end with in common.
const leastRandom = 8

var sessionsNeed = []string{needsHTTP, needsSession}

var httpSessions = []Probe{
	{
		Info: probe.Info{
			ID: "http/session-ids-are-random", Rows: []string{"2511.security_best_practices-015", "2511.basic.transports-061"},
			Does:    "Opens three sessions and compares their IDs.",
			Accepts: "IDs that differ in eight characters at least, between what they have in common.",
			Mend:    "Make session IDs from at least 128 random bits.",
		},
		Needs: sessionsNeed,
		Run:   compareSessions,
	},
	{
		Info: probe.Info{
			ID: "http/session-id-is-visible-ascii", Rows: []string{"2511.basic.transports-062"},
			Does:    "Looks at the characters of each session ID.",
			Accepts: "Those from 0x21 to 0x7E.",
			Mend:    "Use letters, digits and hyphens in session IDs.",
		},
		Needs: sessionsNeed,
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(noSession())
			x.eachPost(func(e *peer.Exchange) {
				for _, id := range e.ResponseHeader["Mcp-Session-Id"] {
					w.Saw(e.Message)
					for _, c := range []byte(id) {
						if c < 0x21 || c > 0x7e {
							w.FaultOf(ofExchange(e), "the session ID has the byte %#02x", c)
							break
						}
					}
				}
			})
		},
	},
	{
		Info: probe.Info{
			ID: "http/missing-session-id-is-400", Rows: []string{"2511.basic.transports-065"},
			Does:    "Sends a request of a session without Mcp-Session-Id.",
			Accepts: "Status 400; a result of a server that needs no session.",
			Mend:    "Answer requests without Mcp-Session-Id with status 400.",
		},
		Needs: sessionsNeed,
		Run: func(x *X) probe.Finding {
			if x.Main.Session == "" {
				return noSession()
			}
			r := x.Main.Do(x.Ctx, peer.Frame(x.simplest()).With("Mcp-Session-Id"))
			if r.Response != nil && r.Response.IsResult() {
				return probe.NotApplicable("the server does not need the ID of the session")
			}
			return wantStatus(r, http.StatusBadRequest)
		},
	},
	{
		Info: probe.Info{
			ID: "http/ended-session-is-404", Rows: []string{"2511.basic.transports-067"},
			Does:    "Ends a session by DELETE, and sends a request and GET with its ID.",
			Accepts: "Status 404.",
			Mend:    "Answer requests with the ID of a session that has ended with status 404.",
		},
		Needs: sessionsNeed,
		Run:   useEndedSession,
	},
}

func noSession() probe.Finding {
	return probe.NotApplicable("the server gives sessions no IDs")
}

func compareSessions(x *X) probe.Finding {
	if x.Main.Session == "" {
		return noSession()
	}
	all := []*Conn{x.Main}
	for range 2 {
		c, err := x.Open(&Opening{NoStream: true})
		if err != nil || c.Session == "" {
			return probe.Unverified("no further session could be opened").Explained(answersRequests)
		}
		all = append(all, c)
	}
	for n, a := range all {
		for _, b := range all[:n] {
			if n := differing(a.Session, b.Session); n < leastRandom {
				return probe.Fail([]probe.Blame{{Exchange: b.Hello.Exchange}, {Exchange: a.Hello.Exchange}},
					"the IDs of two sessions differ in %d characters only: who has one can guess others", n)
			}
		}
	}
	return probe.Pass(probe.OfReply(all[1].Hello)...)
}

// differing is how much of two texts is left without the beginning and the end
// that they have in common.
func differing(a, b string) int {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return min(len(a), len(b))
}

func useEndedSession(x *X) probe.Finding {
	c, err := x.Open(&Opening{NoStream: true})
	switch {
	case err != nil:
		return probe.Unverified("no further session could be opened").Explained(answersRequests)
	case c.Session == "":
		return noSession()
	}
	end := c.peek(&peer.Out{HTTPMethod: http.MethodDelete})
	if s := end.Exchange; s == nil || s.Status == 0 || s.Status >= 300 {
		return probe.Unverified("the server ends no session by DELETE")
	}
	f := wantStatus(c.Do(x.Ctx, peer.Frame(c.Request("ping", nil))), http.StatusNotFound)
	if f.Outcome != verdict.Pass {
		return f
	}
	get := c.peek(&peer.Out{HTTPMethod: http.MethodGet})
	if get.Exchange != nil && get.Exchange.Status == http.StatusMethodNotAllowed {
		return f
	}
	return wantStatus(get, http.StatusNotFound)
}

// leave ends a session, as a client does that needs it no longer.
//
// Spec: 2025-11-25 basic/transports#session-management (5).
func (c *Conn) leave() {
	if c.Session != "" && c.x.Transport == needsHTTP && !c.x.Log.Full() {
		c.peek(&peer.Out{HTTPMethod: http.MethodDelete})
	}
}
