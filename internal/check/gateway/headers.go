package gateway

import (
	"net/http"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/specimen"
)

// rule is a trait that the specification has rows for.
type rule struct {
	probe.Info
	run func(*pair) probe.Finding
}

var rules = []rule{
	{
		Info: probe.Info{
			ID: "gateway/param-headers", Rows: []string{"26.basic.transports.http-072"},
			Does:    "Calls a tool with a header Mcp-Param that no tool has asked for, and asks the server behind what reached it.",
			Accepts: "The same header. Of a gateway that makes requests of its own, with no header of the client's, nothing is said.",
			Mend:    "Forward headers Mcp-Param that you do not know, and do nothing else with them.",
		},
		run: paramHeaders,
	},
	{
		Info: probe.Info{
			ID: "gateway/header-refusals", Rows: []string{"26.basic.transports.http-088"},
			Does:    "Sends a request whose Mcp-Method names another method than the body.",
			Accepts: "An HTTP status from 400 on, with any body.",
			Mend:    "Refuse such requests with the status 400, or pass on the status of the server that refuses them.",
		},
		run: headerRefusals,
	},
}

// Probes returns what is known of the rules without running them.
func Probes() []probe.Info {
	all := make([]probe.Info, len(rules))
	for n := range rules {
		all[n] = rules[n].Info
	}
	return all
}

// hasHeaders reports whether requests to the gateway have headers that say again
// what the body says.
func (p *pair) hasHeaders() bool {
	return p.through.x.Transport == "http" && p.through.x.Stateless
}

func noHeaders() probe.Finding { return probe.NotApplicable("no headers stand for the body here") }

// The headers that are sent to see what becomes of them.
const (
	unknownParam  = "Mcp-Param-Parley-Check"
	unknownHeader = "X-Parley-Check"
	sentValue     = "forwarded"
)

// paramHeaders looks whether a header that nobody knows arrives.
//
// Spec: 2026-07-28 basic/transports/streamable-http#server-behavior-for-custom-headers.
func paramHeaders(p *pair) probe.Finding {
	if !p.hasHeaders() {
		return noHeaders()
	}
	near, far := specimen.ShowHeader, p.toolName(specimen.ShowHeader)
	if far == "" {
		return probe.Unverified(needsSpecimen)
	}
	if kind, _ := p.through.shown(far, "Content-Type", ""); kind == "" {
		return probe.NotApplicable("the gateway does not speak HTTP to the server behind")
	}
	if p.around.x.Transport == "http" {
		if value, _ := p.around.shown(near, unknownParam, sentValue); value != sentValue {
			return probe.Unverified("the server behind does not take such a header by itself")
		}
	}
	value, r := p.through.shown(far, unknownParam, sentValue)
	switch {
	case r.Response == nil || !r.Response.IsResult():
		return probe.Fail(probe.OfReply(r), "a call with the header %s, which no tool asks for, was refused", unknownParam)
	case value == sentValue:
		return probe.Pass(probe.OfReply(r)...)
	}
	if other, _ := p.through.shown(far, unknownHeader, sentValue); other != sentValue {
		return probe.Unverified("the gateway makes requests of its own, and passes on no header of its client that it does not know")
	}
	return probe.Fail(probe.OfReply(r), "the header %s did not reach the server, and another one that nobody knows does", unknownParam)
}

// shown asks the server for a header of the request that carries the question, which
// has it if value is not empty.
func (s *side) shown(tool, header, value string) (string, *peer.Reply) {
	out := peer.Frame(s.x.Request("tools/call", map[string]any{"name": tool, "arguments": map[string]any{"name": header}}))
	if value != "" {
		out = out.With(header, value)
	}
	r := s.x.Main.Do(s.x.Ctx, out)
	if r.Response == nil {
		return "", r
	}
	return r.Response.Text("result/content/0/text"), r
}

// headerRefusals looks at the status of a refusal. That there is one is a matter of
// the rows of servers.
//
// Spec: 2026-07-28 basic/transports/streamable-http#server-validation.
func headerRefusals(p *pair) probe.Finding {
	if !p.hasHeaders() {
		return noHeaders()
	}
	r := p.through.x.Main.Do(p.ctx, peer.Frame(p.through.x.Request("server/discover", nil)).With("Mcp-Method", "tools/list"))
	switch {
	case r.Exchange == nil || r.Exchange.Status == 0 || r.Response != nil && r.Response.IsResult():
		return probe.Unverified("a request whose headers do not match its body was not refused")
	case r.Exchange.Status >= http.StatusBadRequest:
		return probe.Pass(probe.OfReply(r)...)
	default:
		return probe.Fail(probe.OfReply(r), "a request whose headers do not match its body was refused with the status %d", r.Exchange.Status)
	}
}
