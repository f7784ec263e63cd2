package clientprobe

import (
	"net/url"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

var clientElicitationURLs = []Probe{
	{
		Info: probe.Info{
			ID: "elicitation/no-prefetch", Rows: []string{"26.client.elicitation-049", "2511.client.elicitation-059"},
			Does:    "Watches the page that the user is asked to visit.",
			Accepts: "No request of the client itself: a browser may come once the user agreed.",
			Mend:    "Leave the page to the user's browser.",
		},
		Needs: []string{"url elicitation", needsWeb}, In: []string{scenarioAsks, scenarioUndeclared},
		Watch: func(x *X, w *probe.Watch) {
			x.eachVisit(func(a *asked, visits []*peer.Exchange) {
				w.Saw(a.Answer)
				for _, e := range visits {
					if x.isOwn(e) || e.Method == "HEAD" {
						w.FaultOf([]probe.Blame{{Message: a.Question}, {Exchange: e}}, "the client itself requests the page that the user was asked to visit")
					}
				}
			})
			w.Nothing(noAnswer("about a visit"))
		},
	},
	{
		Info: probe.Info{
			ID: "elicitation/no-visit-without-consent", Rows: []string{"26.client.elicitation-050", "2511.client.elicitation-060"},
			Does:    "Watches the page that the user is asked to visit, and did not agree to.",
			Accepts: "No request.",
			Mend:    "Open the page only if the user agrees.",
			After:   []string{"elicitation/no-prefetch"},
		},
		Needs: []string{"url elicitation", needsWeb}, In: []string{scenarioAsks, scenarioUndeclared},
		Watch: func(x *X, w *probe.Watch) {
			x.eachVisit(func(a *asked, visits []*peer.Exchange) {
				if a.text("action") == "accept" && len(visits) == 0 {
					return // the browser may come to a page that it can't reach
				}
				w.Saw(a.Answer)
				for _, e := range visits {
					if a.text("action") != "accept" && !x.isOwn(e) {
						w.FaultOf([]probe.Blame{{Message: a.Question}, {Message: a.Answer}, {Exchange: e}}, "the page was opened although the user did not agree")
					}
				}
			})
			w.Nothing(probe.Unverified("no visit was declined"))
		},
	},
	{
		Info: probe.Info{
			ID: "elicitation/unknown-completion", Rows: []string{"2511.client.elicitation-028"},
			Does:    "Says that an elicitation is complete that never was, and twice that another one is; then pings.",
			Accepts: "The answer to the ping: the conversation goes on.",
			Mend:    "Ignore notifications/elicitation/complete with an ID that is unknown or over.",
		},
		Needs: []string{needsSession, "url elicitation"}, In: []string{scenarioAsks},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the client does not declare visits, or has not called the tool report"))
			after := x.Marked("completed")
			if after == nil {
				return
			}
			for _, ping := range x.Sent(is("ping")) {
				if ping.Number < after.Number || ping.Conn != after.Conn {
					continue
				}
				if x.Log.ResponseTo(ping) == nil {
					w.FaultOf(probe.Of(after, ping), "the client no longer answers after notifications/elicitation/complete for an unknown elicitation")
				} else {
					w.Saw(x.Log.ResponseTo(ping))
				}
				return
			}
		},
	},
}

// eachVisit calls a function with each answer about a visit, and the requests
// for the page.
func (x *X) eachVisit(look func(*asked, []*peer.Exchange)) {
	for _, a := range x.asked(elicit) {
		to, _ := a.Params["url"].(string)
		if a.Answer == nil || to == "" {
			continue
		}
		u, err := url.Parse(to)
		if err != nil {
			continue // it is ours
		}
		var visits []*peer.Exchange
		for _, e := range x.Log.Exchanges() {
			if asked, err := url.Parse(e.URL); err == nil && asked.Path == u.Path {
				visits = append(visits, e)
			}
		}
		look(a, visits)
	}
}

// isOwn reports whether a request was made by the client's own means, not by a
// browser.
func (x *X) isOwn(e *peer.Exchange) bool {
	agent := e.Header.Get("User-Agent")
	if strings.HasPrefix(agent, "Mozilla/") {
		return false
	}
	for _, m := range x.Posts() {
		if m.Exchange.Header.Get("User-Agent") == agent {
			return true
		}
	}
	return e.Header.Get("Authorization") != "" || e.Header.Get("Mcp-Protocol-Version") != ""
}
