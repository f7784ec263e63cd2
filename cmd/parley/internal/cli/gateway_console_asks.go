package cli

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/policy"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/tokens"
	consolepage "github.com/parley-mcp/parley/cmd/parley/internal/page/console"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// fresh is how long what backends list is not asked for again.
const fresh = 2 * time.Second

// inventory is what the backends list now.
func (g *consoleGateway) inventory(ctx context.Context) (*inventory, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.listed != nil && time.Since(g.at) < fresh {
		return g.listed, nil
	}
	c, _ := g.r.shown.now()
	all := &inventory{config: c}
	var missing map[string]error
	var err error
	if all.entries, all.instructions, missing, err = g.r.gateway.Entries(ctx); err != nil {
		return nil, err
	}
	all.miss(missing, g.r.hidden.Now())
	g.listed, g.at = all, time.Now()
	return all, nil
}

// Costs implements consolepage.Gateway.
func (g *consoleGateway) Costs(ctx context.Context) (*consolepage.Costs, error) {
	all, err := g.inventory(ctx)
	if err != nil {
		return nil, err
	}
	r := tokens.Of(all.tools(), viewsOf(all.config))
	costs := &consolepage.Costs{Tools: r.Tools, Tokens: r.Tokens, Search: r.Search, Profiles: []consolepage.ProfileCost{}, Views: costsOf(r.Views), Backends: []consolepage.BackendCost{}, Missing: all.missing}
	for _, p := range r.Profiles {
		costs.Profiles = append(costs.Profiles, consolepage.ProfileCost{Cost: consolepage.Cost(p.Cost), Unfit: p.Unfit})
	}
	for _, b := range r.Backends {
		costs.Backends = append(costs.Backends, consolepage.BackendCost{Cost: consolepage.Cost(b.Cost), Tools: costsOf(b.Tools)})
	}
	return costs, nil
}

func costsOf(list []tokens.Cost) []consolepage.Cost {
	costs := make([]consolepage.Cost, 0, len(list))
	for _, c := range list {
		costs = append(costs, consolepage.Cost(c))
	}
	return costs
}

// Findings implements consolepage.Gateway.
func (g *consoleGateway) Findings(ctx context.Context) (*consolepage.Findings, error) {
	all, err := g.inventory(ctx)
	if err != nil {
		return nil, err
	}
	_, posts := g.r.shown.now()
	f := &consolepage.Findings{Scans: all.config.Scan != nil, Counts: countsFound(posts.status().Findings), Looked: len(all.entries), Definitions: []consolepage.Finding{}, Missing: all.missing}
	for _, e := range all.findings() {
		f.Definitions = append(f.Definitions, consolepage.Finding{
			Backend: e.Backend, Name: e.Name, Kind: string(e.Kind), Action: string(e.Action), Text: e.Text, Shows: e.Shows, Pointer: e.Pointer, Places: e.Places,
		})
	}
	return f, nil
}

// Explain implements consolepage.Gateway.
func (g *consoleGateway) Explain(ctx context.Context, asked consolepage.Case) (*consolepage.Decision, error) {
	c, _ := g.r.shown.now()
	p, err := g.policies(c)
	if err != nil {
		return nil, err
	}
	one := policyCase{
		Name: asked.Name, Principal: asked.Principal, Claims: asked.Claims, Scopes: asked.Scopes, View: asked.View, Method: asked.Method, Backend: asked.Backend,
		Tool: asked.Tool, Prompt: asked.Prompt, Resource: asked.Resource, Arguments: asked.Arguments,
	}
	shown := &consolepage.Decision{Policies: []consolepage.Policy{}}
	if asked.Annotations == nil && asked.Tool != "" {
		one.Annotations = g.annotations(ctx, asked.Backend, asked.Tool)
		shown.Annotations, _ = wire.Marshal(one.Annotations) // they come from JSON
	} else if asked.Annotations != nil {
		if err := wire.Unmarshal(asked.Annotations, &one.Annotations); err != nil {
			return nil, wrongCase(err)
		}
	}
	q, err := one.question(c)
	if err != nil {
		return nil, wrongCase(err)
	}
	d := p.Decide(q)
	shown.Verb, shown.Why, shown.Approval, shown.Mistakes = verb(d), d.String(), d.Demands, d.Mistakes
	for _, r := range d.Reasons {
		shown.Policies = append(shown.Policies, consolepage.Policy{ID: r.ID, Reason: r.Text, File: r.File, Line: r.Line})
	}
	return shown, nil
}

func wrongCase(err error) error { return web.Errorf(http.StatusBadRequest, "case", "%v", err) }

// policies are those of a configuration.
func (g *consoleGateway) policies(c *config.Config) (*policy.Policy, error) {
	if c.Policy == nil {
		return nil, lacksSection("policy", "policy: {files: [policy.cedar]}")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.of == c {
		return g.policy, nil
	}
	p, err := policies(c.Policy, slog.New(slog.DiscardHandler))
	if err == nil {
		g.of, g.policy = c, p
	}
	return p, err
}

// annotations are what a tool says of itself, or is made to say; nil if nobody knows.
func (g *consoleGateway) annotations(ctx context.Context, backend, tool string) *mcp.ToolAnnotations {
	all, err := g.inventory(ctx)
	if err != nil {
		return nil
	}
	for _, e := range all.entries {
		if e.Kind == mcp.ToolFeature && e.Backend == backend && e.Name == tool {
			return e.Annotations
		}
	}
	return nil
}

// Logins implements consolepage.Gateway.
func (g *consoleGateway) Logins(ctx context.Context) (*consolepage.Logins, error) {
	c, _ := g.r.shown.now()
	list := &consolepage.Logins{Backends: []consolepage.BackendLogin{}, Users: []consolepage.Login{}}
	personal := false
	for _, b := range c.Backends {
		if how := b.LogsIn(); how != "" {
			list.Backends = append(list.Backends, consolepage.BackendLogin{Backend: b.Name, How: how, Token: g.r.logins.token(ctx, b)})
		}
		p, err := b.Person()
		personal = personal || p != nil && err == nil
	}
	if !personal {
		return list, nil
	}
	k, err := g.keptLogins(ctx)
	if err != nil {
		list.Problem = g.r.hidden.Now().Text(err.Error())
		return list, nil
	}
	list.Unreadable = k.unreadable
	for i := range k.list {
		e := &k.list[i]
		client, err := k.client(e)
		if err != nil {
			return nil, err
		}
		s := client.Status(ctx)
		_ = client.Close() // it has done nothing
		list.Users = append(list.Users, consolepage.Login{LoginKey: consolepage.LoginKey(e.Owner), Token: tokenOf(&s), Since: e.Since})
	}
	return list, nil
}

// keptLogins are the logins that this gateway keeps, also if only in memory.
func (g *consoleGateway) keptLogins(ctx context.Context) (*keptLogins, error) {
	c, _ := g.r.shown.now()
	vault, err := g.r.logins.vault()
	if err != nil {
		return nil, err
	}
	k := &keptLogins{config: c, vault: vault}
	k.list, k.unreadable, err = vault.List(ctx)
	k.sort()
	return k, err
}
