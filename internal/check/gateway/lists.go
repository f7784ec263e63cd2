package gateway

import (
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

// kinds are the lists that are compared.
var kinds = []struct{ capability, method, member string }{
	{"tools", "tools/list", "tools"},
	{"resources", "resources/list", "resources"},
	{"resources", "resources/templates/list", "resourceTemplates"},
	{"prompts", "prompts/list", "prompts"},
}

// definitions compares the lists, entry by entry.
func definitions(p *pair) probe.Finding {
	g := gather{nothing: "no list has an entry on both ways"}
	for _, kind := range kinds {
		if !p.around.x.Offer.Has(kind.capability) {
			continue
		}
		far := p.through.entries(kind.method, kind.member)
		for _, near := range p.around.entries(kind.method, kind.member) {
			other, ok := near.among(far)
			if !ok {
				continue // a gateway may leave features out; the notes say which
			}
			g.compared++
			for _, d := range differences(near.value, other.value, func(at string) bool { return at == "/name" || isURI(at) || own(at) }) {
				g.fault([]probe.Blame{{Message: near.in, Pointer: near.at + d.pointer}, {Message: other.in, Pointer: other.at + d.pointer}},
					"%s %s: %s", kind.method, near.name(), d.String())
			}
		}
	}
	return g.finding()
}

// entry is an element of a list, and where it stands.
type entry struct {
	value map[string]any
	in    *peer.Message
	at    string
}

func (e *entry) name() string {
	name, _ := e.value["name"].(string)
	return name
}

func (e *entry) among(all []entry) (entry, bool) {
	values := make([]map[string]any, len(all))
	for i := range all {
		values[i] = all[i].value
	}
	name := counterpart(e.name(), values)
	for _, one := range all {
		if name != "" && one.name() == name {
			return one, true
		}
	}
	return entry{}, false
}

// entries asks for a list, page by page.
func (s *side) entries(method, member string) []entry {
	var all []entry
	params := map[string]any{}
	for range 20 {
		r := s.x.Call(method, params)
		if r.Response == nil || !r.Response.IsResult() {
			return all
		}
		for n, v := range r.Response.List("result/" + member) {
			if object, ok := v.(map[string]any); ok {
				all = append(all, entry{object, r.Response, "/result/" + member + "/" + string(peer.Encode(n))})
			}
		}
		next, ok := r.Response.Get("result/nextCursor")
		if !ok || next == nil || next == "" {
			return all
		}
		params = map[string]any{"cursor": next}
	}
	return all
}

// cacheHints compares how long, and by whom, results may be kept.
//
// Spec: 2026-07-28 server/utilities/caching#cacheable-results.
func cacheHints(p *pair) probe.Finding {
	if !p.around.x.Stateless {
		return probe.NotApplicable("the revision has no such hints")
	}
	g := gather{nothing: "no list came on both ways"}
	for _, kind := range kinds {
		near, far := p.around.x.Call(kind.method, nil), p.through.x.Call(kind.method, nil)
		if near.Response == nil || far.Response == nil || !near.Response.IsResult() || !far.Response.IsResult() {
			continue
		}
		g.compared++
		if longer(far.Response, near.Response) {
			g.fault(both(near.Response, far.Response, "/result/ttlMs"), "%s may be kept for longer than the server says", kind.method)
		}
		if far.Response.Text("result/cacheScope") == "public" && near.Response.Text("result/cacheScope") != "public" {
			g.fault(both(near.Response, far.Response, "/result/cacheScope"), "%s may be kept for everybody, which the server does not say", kind.method)
		}
	}
	return g.finding()
}

func longer(far, near *peer.Message) bool {
	a, _ := far.Get("result/ttlMs")
	b, _ := near.Get("result/ttlMs")
	x, y := whole(a), whole(b)
	return len(x) > len(y) || len(x) == len(y) && x > y
}

// whole is the integer part of a number, which is not negative, in digits.
func whole(v any) string {
	text, _ := number(v)
	digits, _, _ := strings.Cut(text, ".")
	return strings.TrimLeft(digits, "0")
}

// completion compares what is proposed for an argument of a prompt.
func completion(p *pair) probe.Finding {
	g := gather{nothing: "no argument of a prompt is on both ways"}
	if !p.around.x.Offer.Has("completions") && p.around.x.Facts.Completions {
		return probe.NotApplicable("the server does not declare completions")
	}
	for _, prompt := range p.around.x.Offer.Prompts {
		name, _ := prompt["name"].(string)
		other := counterpart(name, p.through.x.Offer.Prompts)
		if other == "" {
			continue
		}
		for argument := range promptArguments(prompt) {
			near := p.around.x.Call("completion/complete", proposal(name, argument))
			far := p.through.x.Call("completion/complete", proposal(other, argument))
			if near.Response == nil || far.Response == nil || !near.Response.IsResult() {
				continue
			}
			g.compared++
			a, _ := near.Response.Get("result/completion")
			b, _ := far.Response.Get("result/completion")
			for _, d := range differences(a, b, nil) {
				g.fault(both(near.Response, far.Response, "/result/completion"+d.pointer), "the argument %s of %s: %s", argument, name, d.String())
			}
		}
	}
	return g.finding()
}

func proposal(prompt, argument string) map[string]any {
	return map[string]any{
		"ref":      map[string]any{"type": "ref/prompt", "name": prompt},
		"argument": map[string]any{"name": argument, "value": ""},
	}
}

// failures compares errors that come from the server.
func failures(p *pair) probe.Finding {
	g := gather{nothing: "no prompt wants arguments, so no error of the server could be provoked"}
	for _, prompt := range p.around.x.Offer.Prompts {
		name, _ := prompt["name"].(string)
		other := counterpart(name, p.through.x.Offer.Prompts)
		if other == "" || len(promptArguments(prompt)) == 0 {
			continue
		}
		near := p.around.x.Call("prompts/get", map[string]any{"name": name})
		far := p.through.x.Call("prompts/get", map[string]any{"name": other})
		if near.Response == nil || !near.Response.IsError() || far.Response == nil {
			continue
		}
		g.compared++
		a, _ := near.Response.Get("error")
		b, ok := far.Response.Get("error")
		if !ok {
			g.fault(both(near.Response, far.Response, ""), "the server answers prompts/get of %s without arguments with an error, and the gateway with a result", name)
			continue
		}
		for _, d := range differences(a, b, nil) {
			g.fault(both(near.Response, far.Response, "/error"+d.pointer), "prompts/get of %s: %s", name, d.String())
		}
	}
	return g.finding()
}
