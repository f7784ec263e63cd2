// Package tokens says what lists of tools cost: a model reads them in each request, so
// every tool takes room and money whether or not it is used.
package tokens

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/search"
	"github.com/parley-mcp/parley/internal/texts"
	"github.com/parley-mcp/parley/internal/vendors/adapt"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Tool is a tool as clients see it.
type Tool struct {
	*guard.Definition

	Entry json.RawMessage
}

// View is a part of the whole.
type View struct {
	Name string
	// Has reports whether it shows a definition, and Search that it shows three tools in
	// place of them.
	Has    func(*guard.Definition) bool
	Search bool
}

// Report is what lists cost in tokens, estimated.
type Report struct {
	// Tools is how many there are, and Tokens what they cost together.
	Tools  int `json:"tools"`
	Tokens int `json:"tokens"`
	// Search is what a view costs that shows three tools in place of all.
	Search   int       `json:"search"`
	Profiles []Profile `json:"profiles"`
	Views    []Cost    `json:"views"`
	// Backends are those with tools, the dearest first.
	Backends []Backend `json:"backends"`
}

// Cost is what something costs.
type Cost struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
}

// Profile is what all tools cost in the form of a profile.
type Profile struct {
	Cost

	// Unfit is how many tools are left out.
	Unfit int `json:"unfit,omitzero"`
}

// Backend is what the tools of a backend cost, the dearest first.
type Backend struct {
	Cost

	Tools []Cost `json:"tools"`
}

// Of returns what some tools cost.
func Of(tools []Tool, views []View) *Report {
	r := &Report{Tools: len(tools), Search: three(), Profiles: []Profile{}, Views: []Cost{}, Backends: []Backend{}}
	costs := make([]int, len(tools))
	for i, t := range tools {
		costs[i] = texts.ToolTokens(t.Entry)
		r.Tokens += costs[i]
		r.add(t.Backend, Cost{t.Shown, costs[i]})
	}
	dearest := func(a, b Cost) int { return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.Name, b.Name)) }
	slices.SortFunc(r.Backends, func(a, b Backend) int { return dearest(a.Cost, b.Cost) })
	for i := range r.Backends {
		slices.SortFunc(r.Backends[i].Tools, dearest)
	}
	for _, name := range adapt.Names() {
		r.Profiles = append(r.Profiles, inProfile(adapt.Named(name), tools))
	}
	for _, v := range views {
		c := Cost{Name: v.Name}
		for i, t := range tools {
			if v.Has(t.Definition) {
				c.Tokens += costs[i]
			}
		}
		if v.Search {
			c.Tokens = r.Search
		}
		r.Views = append(r.Views, c)
	}
	return r
}

func (r *Report) add(backend string, c Cost) {
	i := slices.IndexFunc(r.Backends, func(b Backend) bool { return b.Name == backend })
	if i < 0 {
		i = len(r.Backends)
		r.Backends = append(r.Backends, Backend{Cost: Cost{Name: backend}})
	}
	r.Backends[i].Tokens += c.Tokens
	r.Backends[i].Tools = append(r.Backends[i].Tools, c)
}

func inProfile(p *adapt.Profile, tools []Tool) Profile {
	cost := Profile{Cost: Cost{Name: p.Name}}
	for _, t := range tools {
		adapted, unfit := p.Adapt(t.Entry)
		if unfit != "" {
			cost.Unfit++
			continue
		}
		cost.Tokens += texts.ToolTokens(adapted)
	}
	return cost
}

// three is what the tools of a search cost.
func three() (n int) {
	for _, t := range search.Tools() {
		n += cost(t)
	}
	return n
}

func cost(t *mcp.Tool) int {
	raw, err := wire.Marshal(t)
	if err != nil {
		return 0 // it is sent nowhere, either
	}
	return texts.ToolTokens(raw)
}
