package serverprobe

import (
	"slices"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/mcp"
)

// What clients declare that can answer only a part of the questions.
var (
	// emptyModes is a client that has not heard of modes, or of tools in sampling.
	emptyModes = map[string]any{"elicitation": map[string]any{}, "sampling": map[string]any{}, "roots": map[string]any{}}
	// visitsOnly and formsOnly name one mode.
	visitsOnly = map[string]any{"elicitation": map[string]any{"url": map[string]any{}}}
	formsOnly  = map[string]any{"elicitation": map[string]any{"form": map[string]any{}}}
)

// limited returns a conversation whose client declares some capabilities: the shared
// one where they travel with the requests, and otherwise one for each set of them.
func (x *X) limited(capabilities map[string]any) (*Conn, error) {
	if x.Stateless {
		if err := x.renew(); err != nil {
			return nil, err
		}
		c := *x.Main
		c.Capabilities = capabilities
		return &c, nil
	}
	key := string(peer.Encode(capabilities))
	if c := x.limits[key]; c != nil && !c.Closed() {
		return c, nil
	}
	c, err := x.Open(&Opening{Capabilities: capabilities})
	if err == nil {
		if x.limits == nil {
			x.limits = map[string]*Conn{}
		}
		x.limits[key] = c
	}
	return c, err
}

// eachLimited repeats calls that asked something, in the name of a client that
// declares some capabilities, and judges each with the questions that came now.
func (x *X) eachLimited(capabilities map[string]any, tools []*Doing, judge func(r *peer.Reply, asked []question) probe.Finding) probe.Finding {
	best := probe.Unverified("no tool that may be called asks such a thing")
	for _, d := range tools {
		c, err := x.limited(capabilities)
		if err != nil {
			return unreachable(err)
		}
		from := x.Log.Len()
		r := c.Call(mcp.MethodCallTool, d.params())
		if r.Response == nil {
			return unanswered(r)
		}
		var asked []question
		for _, m := range x.Log.Since(from) {
			if !m.Sent && m.Conn == c.Number && !m.IsError() {
				asked = append(asked, questionsOf(m)...)
			}
		}
		if best = judge(r, asked); best.Outcome == verdict.Fail {
			return best
		}
	}
	return best
}

// notAsked is the finding for a call in which a question must not come.
func notAsked(r *peer.Reply, asked []question, kind func(question) bool, format string) probe.Finding {
	if n := slices.IndexFunc(asked, kind); n >= 0 {
		return probe.Fail(append(probe.Of(r.Sent), probe.Blame{Message: asked[n].Message, Pointer: asked[n].at("")}), "%s", format)
	}
	return probe.Pass(probe.OfReply(r)...)
}

var limitedProbes = []Probe{
	{
		Info: probe.Info{
			ID: "elicitation/only-declared-modes", Rows: []string{"26.client.elicitation-010", "2511.client.elicitation-010"},
			Does:    "Repeats calls that ask for forms as a client that declares elicitation.url only, and without sessions calls that ask for visits as one that declares elicitation.form only.",
			Accepts: "Anything but a question of the other mode.",
			Mend:    "Look at the modes that the client declares before you ask.",
		},
		Run: func(x *X) probe.Finding {
			f := x.eachLimited(visitsOnly, x.askers(question.isForm, mostTried), func(r *peer.Reply, asked []question) probe.Finding {
				return notAsked(r, asked, question.isForm, "a form was asked for, and the client declares elicitation.url only")
			})
			if !x.Stateless { // so that visits are asked for in a second session, too
				x.eachLimited(visitsOnly, x.askers(isAskedVisit, 1), func(*peer.Reply, []question) probe.Finding { return probe.Pass() })
			}
			if x.Stateless && f.Outcome != verdict.Fail {
				if other := x.eachLimited(formsOnly, x.askers(isAskedVisit, mostTried), func(r *peer.Reply, asked []question) probe.Finding {
					return notAsked(r, asked, question.isVisit, "a visit was asked for, and the client declares elicitation.form only")
				}); other.Outcome == verdict.Fail || f.Outcome != verdict.Pass {
					return other
				}
			}
			return f
		},
	},
	{
		Info: probe.Info{
			ID: "elicitation/empty-means-forms", Rows: []string{"26.client.elicitation-008", "2511.client.elicitation-008"},
			Does:    "Repeats calls that ask for visits and, without sessions, calls that ask for forms, as a client that declares elicitation as {}.",
			Accepts: "No visit; and for forms anything but the error that a capability is missing.",
			Mend:    "Take an empty elicitation for one with form.",
			After:   []string{"elicitation/only-declared-modes"},
		},
		Run: func(x *X) probe.Finding {
			if !x.Facts.ElicitURL {
				return probe.NotApplicable("the revision has no modes of elicitation")
			}
			f := x.eachLimited(emptyModes, x.askers(isAskedVisit, mostTried), func(r *peer.Reply, asked []question) probe.Finding {
				return notAsked(r, asked, question.isVisit, "a visit was asked for, and the client declares elicitation without modes, which means forms")
			})
			if x.Stateless && f.Outcome != verdict.Fail {
				if other := x.eachLimited(emptyModes, x.onlyForms(), func(r *peer.Reply, _ []question) probe.Finding {
					if codeIn(r) == codeMissingCapability {
						return probe.Fail(probe.OfReply(r), "a client that declares elicitation without modes is told that it lacks a capability for a form")
					}
					return probe.Pass(probe.OfReply(r)...)
				}); other.Outcome == verdict.Fail || f.Outcome != verdict.Pass {
					return other
				}
			}
			return f
		},
	},
	{
		Info: probe.Info{
			ID: "sampling/tools-declared", Rows: []string{"26.client.sampling-008", "2511.client.sampling-006"},
			Does:    "Repeats calls that let the client's model use tools, as a client that declares sampling without tools.",
			Accepts: "Anything but a sampling request with tools or toolChoice.",
			Mend:    "Look for sampling.tools before you offer tools to the client's model.",
		},
		Run: func(x *X) probe.Finding {
			return x.eachLimited(emptyModes, x.askers(question.offersTools, mostTried), func(r *peer.Reply, asked []question) probe.Finding {
				return notAsked(r, asked, question.offersTools, "the client's model is offered tools, and the client does not declare sampling.tools")
			})
		},
	},
}

// offersTools reports whether a question lets the client's model use tools.
func (q question) offersTools() bool {
	tools, _ := q.Params["tools"].([]any)
	return q.Method == mcp.MethodSample && (len(tools) > 0 || q.Params["toolChoice"] != nil)
}

// onlyForms are tools that asked for forms, and for nothing else.
func (x *X) onlyForms() []*Doing {
	all := x.did(func(d *Doing) bool {
		return asking(d) && !slices.ContainsFunc(d.Asks, func(q question) bool { return !q.isForm() })
	})
	return all[:min(mostTried, len(all))]
}
