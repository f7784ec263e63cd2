package serverprobe

import (
	"cmp"
	"maps"
	"reflect"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/mcp"
)

// noUndeclared is the probe that fails if a server asks what the client can't
// answer.
const noUndeclared = "basic/asks-only-what-is-declared"

// basicState judge statelessness, and what servers may take for granted.
var basicState = []Probe{
	{
		Info: probe.Info{
			ID: noUndeclared,
			Rows: []string{
				"26.basic.index-065", "26.basic.patterns.mrtr-021", "26.client.roots-018", "26.basic.index-032", "26.schema-025", "26.architecture-003",
				"2511.basic.lifecycle-019", "2411.basic.lifecycle-002", "2511.architecture-001", "2511.basic.lifecycle-017", "2511.client.roots-019",
			},
			Does:    "Repeats calls during which the server asked the client, without declaring the capabilities that its questions take.",
			Accepts: "Anything but a question.",
			Mend:    "Look at the capabilities of the client (of the request, in stateless revisions) before asking.",
		},
		Run: func(x *X) probe.Finding {
			return x.eachBare(func(b Bare) probe.Finding {
				asked := b.Reply.Response
				if !x.Stateless {
					asked = questionIn(b.Reply)
				}
				switch {
				case x.Stateless && asked == nil:
					return unanswered(b.Reply)
				case x.Stateless && asked.Text("result/resultType") != "input_required", asked == nil:
					return probe.Pass(probe.OfReply(b.Reply)...)
				default:
					return probe.Fail(probe.Of(b.Reply.Sent, asked), "the server asks what the client did not declare to be able to answer")
				}
			})
		},
	},
	{
		Info: probe.Info{
			ID: "basic/missing-capability", Rows: []string{"26.basic.index-066"},
			Does:    "Repeats calls during which the server asked the client, without declaring the capabilities that its questions take.",
			Accepts: "The error -32021, or a result: the call may do without.",
			After:   []string{noUndeclared},
		},
		Run: func(x *X) probe.Finding {
			return x.eachBare(func(b Bare) probe.Finding {
				if m := b.Reply.Response; m != nil && m.IsResult() {
					return probe.Unverified("the server can do without")
				}
				return wantError(b.Reply, codeMissingCapability)
			})
		},
	},
	{
		Info: probe.Info{
			ID: "basic/missing-capability-data", Rows: []string{"26.schema-018"},
			Does:    "Looks at the data of errors with the code -32021.",
			Accepts: "A member requiredCapabilities, an object with the capabilities that are missing.",
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received((*peer.Message).IsError) {
				if code, ok := m.Code(); !ok || code != codeMissingCapability {
					continue
				}
				w.Saw(m)
				if len(m.Object("error/data/requiredCapabilities")) == 0 {
					w.Fault(m, "/error/data", "the error does not say which capabilities are missing")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "basic/undeclared-call-is-answered", Rows: []string{"2511.basic.lifecycle-032"},
			Does:    "Repeats calls during which the server asked the client, without declaring the capabilities that its questions take.",
			Accepts: "An answer: an error, or a result.",
			After:   []string{noUndeclared},
		},
		Run: func(x *X) probe.Finding {
			return x.eachBare(func(b Bare) probe.Finding {
				if b.Reply.Response == nil {
					return unanswered(b.Reply)
				}
				return probe.Pass(probe.OfReply(b.Reply)...)
			})
		},
	},
	{
		Info: probe.Info{
			ID: "basic/state-is-explicit", Rows: []string{"26.basic.index-036", "26.basic.index-034"},
			Does:    "Answers the question of a call over another connection than the call was made on.",
			Accepts: "A result.",
			Mend:    "Put what the next round needs into requestState, not into the connection.",
		},
		Needs: []string{needsHTTP, needsStateless},
		Run:   answerElsewhere,
	},
	{
		Info: probe.Info{
			ID: "basic/conversations-at-once", Rows: []string{"26.basic.index-033"},
			Does:    "Sends requests of two clients at once, without waiting in between.",
			Accepts: "A result for each.",
			After:   []string{answersRequests, answersWithID, errorsWithID, discovers},
		},
		Needs: []string{needsStateless},
		Run: func(x *X) probe.Finding {
			var seen []probe.Blame
			var replies []*peer.Reply
			for range 2 {
				for _, name := range []string{"parley-check-a", "parley-check-b"} {
					r := x.Main.Start(x.Ctx, peer.Frame(x.asClient(mcp.MethodDiscover, name)))
					defer r.Stop()
					replies = append(replies, r)
				}
			}
			for _, r := range replies {
				if f := wantResult(r.Wait(x.Ctx)); f.Outcome != verdict.Pass {
					return f
				}
				seen = append(seen, probe.Of(r.Sent, r.Response)...)
			}
			return probe.Pass(seen...)
		},
	},
	{
		Info: probe.Info{
			ID: "basic/same-for-all-clients", Rows: []string{"26.basic.index-069"},
			Does:    "Asks what the server offers in the name of several clients.",
			Accepts: "The same offer for each.",
		},
		Needs: []string{needsStateless},
		Run:   compareClients,
	},
	{
		Info: probe.Info{
			ID: "basic/id-in-flight", Rows: []string{"26.basic.index-007"},
			Does:    "Sends two requests with the same ID at once.",
			Accepts: "An answer to one of them at least.",
		},
		Needs: []string{needsStateless, needsStdio},
		Run: func(x *X) probe.Finding {
			c, err := x.Scratch()
			if err != nil {
				return unreachable(err)
			}
			m := x.Request(mcp.MethodDiscover, nil)
			m["id"] = "parley-twice"
			first := c.Start(x.Ctx, peer.Frame(m))
			defer first.Stop()
			second := c.Start(x.Ctx, peer.Frame(m))
			defer second.Stop()
			if first.Wait(x.Ctx); first.Response != nil {
				return probe.Pass(probe.Of(first.Sent, second.Sent, first.Response)...)
			}
			if next := c.Do(x.Ctx, peer.Frame(x.harmless())); next.Response == nil && !first.Closed {
				return unanswered(next)
			}
			return probe.Fail(probe.Of(first.Sent, second.Sent), "neither request was answered")
		},
	},
	{
		Info: probe.Info{
			ID: "basic/id-of-no-type", Rows: []string{"26.basic.index-005"},
			Does:    "Sends requests whose IDs are null, a fraction, a truth value, and an object.",
			Accepts: "No result.",
			Mend:    "Refuse such requests with the error -32600.",
		},
		Needs: []string{needsStateless},
		Run: func(x *X) probe.Finding {
			c, err := x.Scratch()
			if err != nil {
				return unreachable(err)
			}
			var seen []probe.Blame
			for _, id := range []any{nil, true, map[string]any{}} {
				m := x.harmless()
				m["id"] = id
				r := c.Do(x.Ctx, peer.Frame(m))
				for _, came := range append(r.Before, r.Response) {
					if came != nil && came.IsResult() && (came.ID == nil || string(came.ID) == string(peer.Encode(id))) {
						return probe.Fail(probe.Of(r.Sent, came), "the request was served")
					}
				}
				if r.Closed {
					if c, err = x.Scratch(); err != nil {
						return unreachable(err)
					}
				}
				seen = append(seen, probe.OfReply(r)...)
			}
			return probe.Pass(seen...)
		},
	},
}

// eachBare judges the calls that ask, made without capabilities: the worst counts.
func (x *X) eachBare(judge func(Bare) probe.Finding) probe.Finding {
	bares, err := x.askedBare()
	if err != nil {
		return unreachable(err)
	}
	best := probe.Unverified("the server asked for nothing in the calls that could be made")
	for _, b := range bares {
		f := judge(b)
		if f.Outcome == verdict.Fail {
			return f
		}
		if best.Outcome != verdict.Pass {
			best = f
		}
	}
	return best
}

// questionIn is what the server asked before it answered.
func questionIn(r *peer.Reply) *peer.Message {
	for _, m := range r.Before {
		if m.IsRequest() && needOf[m.Method] != "" {
			return m
		}
	}
	return nil
}

// answerElsewhere makes the rounds of a call over two connections.
func answerElsewhere(x *X) probe.Finding {
	other, err := x.Open(nil)
	if err != nil {
		return unreachable(err)
	}
	for _, a := range x.asking() {
		first := x.Call(a.Request.Method, a.again())
		if first.Response == nil || first.Response.Text("result/resultType") != "input_required" {
			continue
		}
		next := other.Again(a.again(), first.Response)
		next["_meta"] = map[string]any{"progressToken": "parley-check-elsewhere"} //nolint:gosec // names a call's progress
		return wantResult(other.Call(a.Request.Method, next))
	}
	return probe.Unverified("the server asked for nothing in the calls that could be made")
}

// asClient is a request in the name of another client.
func (x *X) asClient(method, client string) map[string]any {
	m := x.Request(method, nil)
	params, _ := m["params"].(map[string]any)
	meta, _ := params["_meta"].(map[string]any)
	meta[mcp.MetaClientInfo] = map[string]any{"name": client, "version": "1.0.0"}
	return m
}

// compareClients asks for the same in several names.
func compareClients(x *X) probe.Finding {
	method := cmp.Or(x.listed(), mcp.MethodDiscover)
	var first *peer.Reply
	for _, name := range []string{"parley-check", "claude-ai", "cursor-vscode"} {
		r := x.Do(x.asClient(method, name))
		if r.Response == nil {
			return unanswered(r)
		}
		if !r.Response.IsResult() {
			return probe.Unverified("%s was answered with an error", method)
		}
		if first == nil {
			first = r
		} else if !reflect.DeepEqual(lasting(first.Response), lasting(r.Response)) {
			return probe.Fail(probe.Of(first.Sent, first.Response, r.Sent, r.Response), "the answer depends on the name of the client")
		}
	}
	return probe.Pass(probe.Of(first.Sent, first.Response)...)
}

// lasting is what does not change from one answer to the next by itself.
func lasting(m *peer.Message) map[string]any {
	result := maps.Clone(m.Object("result"))
	for _, name := range []string{"_meta", "nextCursor", "ttlMs"} {
		delete(result, name)
	}
	maps.DeleteFunc(result, func(name string, _ any) bool { return strings.HasPrefix(name, "x-") })
	return result
}
