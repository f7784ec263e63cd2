package gateway

import (
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/serverprobe"
)

// How many features are tried.
const (
	mostTools     = 20
	mostResources = 10
	mostPrompts   = 10
)

// trial is a request that was made twice of the server and once through the
// gateway. What differs between the first two says nothing about the gateway.
type trial struct {
	what             string
	near, again, far *act
}

// steady reports whether a place in the result is the same each time.
func (t *trial) unsteady() map[string]bool {
	places := map[string]bool{}
	for _, d := range differences(t.near.result(), t.again.result(), nil) {
		places[d.pointer] = true
	}
	return places
}

// trials makes the trials, once.
func (p *pair) trials() []trial {
	if p.tried != nil {
		return p.tried
	}
	for _, tool := range p.around.x.Offer.Callable[:min(mostTools, len(p.around.x.Offer.Callable))] {
		if name := p.toolName(tool.Name); name != "" {
			p.try("tools/call "+tool.Name, "tools/call", toolCall(tool, tool.Name), toolCall(tool, name))
		}
	}
	resources := p.around.x.Offer.Resources
	for _, r := range resources[:min(mostResources, len(resources))] {
		near, _ := r["uri"].(string)
		if far := p.uri(r); far != "" {
			p.try("resources/read "+near, "resources/read", map[string]any{"uri": near}, map[string]any{"uri": far})
		}
	}
	prompts := p.around.x.Offer.Prompts
	for _, prompt := range prompts[:min(mostPrompts, len(prompts))] {
		name, _ := prompt["name"].(string)
		if far := counterpart(name, p.through.x.Offer.Prompts); far != "" {
			arguments := promptArguments(prompt)
			p.try("prompts/get "+name, "prompts/get", map[string]any{"name": name, "arguments": arguments}, map[string]any{"name": far, "arguments": arguments})
		}
	}
	return p.tried
}

func toolCall(tool serverprobe.Callable, name string) map[string]any {
	return map[string]any{"name": name, "arguments": tool.Arguments}
}

func promptArguments(prompt map[string]any) map[string]any {
	arguments := map[string]any{}
	list, _ := prompt["arguments"].([]any)
	for _, v := range list {
		if name, ok := peer.Get(v, "name"); ok {
			if text, ok := name.(string); ok {
				arguments[text] = "example"
			}
		}
	}
	return arguments
}

// try makes one trial. An act that waits for long is made once around only.
func (p *pair) try(what, method string, near, far map[string]any) {
	t := trial{what: what, near: p.around.act(method, near)}
	t.again, t.far = p.around.act(method, near), p.through.act(method, far)
	p.tried = append(p.tried, t)
}

// uri is what the gateway calls a resource, or "".
func (p *pair) uri(resource map[string]any) string {
	name, _ := resource["name"].(string)
	uri, _ := resource["uri"].(string)
	far := p.through.x.Offer.Resources
	for _, r := range far {
		if r["uri"] == uri {
			return uri
		}
	}
	for _, r := range far {
		if r["name"] == counterpart(name, far) {
			text, _ := r["uri"].(string)
			return text
		}
	}
	return ""
}

// results compares what came back.
func results(p *pair) probe.Finding {
	return p.compareResults(func(d difference) bool { return !isNumber(d) && !isLink(d) })
}

// digits compares the numbers in it.
func digits(p *pair) probe.Finding { return p.compareResults(isNumber) }

func isNumber(d difference) bool {
	_, near := number(d.near)
	_, far := number(d.far)
	return near && far
}

func (p *pair) compareResults(mine func(difference) bool) probe.Finding {
	g := gather{nothing: "nothing came back on both ways: is there a tool that may be called?"}
	for _, t := range p.trials() {
		if t.near.result() == nil || t.far.answer() == nil {
			continue
		}
		g.compared++
		if t.far.result() == nil {
			if !isNumber(difference{}) && mine(difference{}) {
				g.fault(both(t.near.answer(), t.far.answer(), ""), "%s: the server answers with a result, and the gateway with an error", t.what)
			}
			continue
		}
		unsteady := t.unsteady()
		skip := func(pointer string) bool { return own(pointer) || isURI(pointer) || unsteady[pointer] }
		for _, d := range differences(t.near.result(), t.far.result(), skip) {
			if mine(d) {
				g.fault(both(t.near.answer(), t.far.answer(), "/result"+d.pointer), "%s: %s", t.what, d.String())
			}
		}
	}
	return g.finding()
}
