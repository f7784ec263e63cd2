package cli

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/approval"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/audit"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/pins"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/policy"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/scan"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/status"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/tokens"
	consolepage "github.com/parley-mcp/parley/cmd/parley/internal/page/console"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/internal/redact"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// consoleGateway is what the console shows of a running gateway.
type consoleGateway struct {
	r *runningGateway

	mu     sync.Mutex
	of     *config.Config // that policy was made of
	policy *policy.Policy
	listed *inventory
	at     time.Time // when listed was made
}

var _ consolepage.Gateway = (*consoleGateway)(nil)

// Overview implements consolepage.Gateway.
func (g *consoleGateway) Overview() consolepage.Overview {
	r := g.r
	r.shown.mu.Lock()
	c, posts, said := r.shown.config, r.shown.posts, r.shown.said
	r.shown.mu.Unlock()
	found := posts.status()
	o := consolepage.Overview{
		Name: filepath.Base(said.File), Version: buildVersion(), PID: os.Getpid(), Since: r.since, Addresses: r.addresses(), Sessions: r.sessions(),
		Configuration: consolepage.Configuration(said), Clients: clientsOf(c), Guards: c.GuardKeys(),
		Approvals: len(r.approvals.desk.Waiting()), Pins: found.Pins, Findings: countsFound(found.Findings), Warnings: []string{},
	}
	var secrets *redact.Redactor
	for _, w := range c.Warnings {
		o.Warnings = append(o.Warnings, secrets.Text(w.Error()))
	}
	return o
}

func countsFound(found []scan.Count) []consolepage.Count {
	list := make([]consolepage.Count, 0, len(found))
	for _, f := range found {
		list = append(list, consolepage.Count{In: f.In, Kind: string(f.Kind), Action: string(f.Action), Count: f.Count})
	}
	return list
}

// Backends implements consolepage.Gateway.
func (g *consoleGateway) Backends() []consolepage.Backend {
	c, _ := g.r.shown.now()
	list := []consolepage.Backend{}
	for _, state := range g.r.gateway.State() {
		reached, login := "", ""
		if b := c.Backend(state.Name); b != nil {
			reached, login = b.String(), b.LogsIn()
		}
		s := status.Of(&state, reached)
		list = append(list, consolepage.Backend{
			Name: s.Name, Reached: s.Reached, Status: string(s.Status), Server: s.Server, Revision: s.Revision, Connections: s.Connections, Used: s.Used,
			InFlight: s.InFlight, Parked: s.Parked.Calls, MaxParked: bridge.MaxParked, ParkedSince: s.Parked.Oldest, Restarts: s.Restarts, Lost: s.Lost,
			Failures: s.Failures, Retry: s.Retry, Error: s.Error, ErrorSince: s.ErrorSince, Login: login, Stderr: s.Stderr,
		})
	}
	return list
}

// Sessions implements consolepage.Gateway.
func (g *consoleGateway) Sessions() consolepage.Sessions {
	s := consolepage.Sessions{Open: g.r.sessions(), Clients: []consolepage.Client{}}
	for _, c := range g.r.live.Clients() {
		s.Clients = append(s.Clients, consolepage.Client(c))
	}
	return s
}

// Exchanges implements consolepage.Gateway.
func (g *consoleGateway) Exchanges(since uint64, limit int) ([]consolepage.Exchange, uint64) {
	list, latest := g.r.live.Since(since, limit)
	shown := make([]consolepage.Exchange, 0, len(list))
	for i := range list {
		e := &list[i]
		shown = append(shown, consolepage.Exchange{
			Number: e.Number, Change: e.Change, Begun: e.Begun, Millis: e.Millis, Outcome: e.Outcome, Principal: e.Principal, Session: e.Session,
			Source: e.Source, Client: e.Client, Revision: e.Revision, View: e.View, Backend: e.Backend, Method: e.Method, Subject: e.Subject, Shown: e.Shown,
			ParamsBytes: e.ParamsBytes, ResultBytes: e.ResultBytes, Error: e.Error, Approval: verdictOf(e.Approval),
		})
	}
	return shown, latest
}

func verdictOf(a *guard.Approval) *consolepage.Verdict {
	if a == nil {
		return nil
	}
	v := consolepage.Verdict(*a)
	return &v
}

// Approvals implements consolepage.Gateway.
func (g *consoleGateway) Approvals() consolepage.Approvals {
	c, _ := g.r.shown.now()
	bounds := c.Approvals().Bounds
	all := consolepage.Approvals{Waiting: []consolepage.Waiting{}, Given: []consolepage.Grant{}, MaxSeconds: bounds.MaxTime.Seconds(), ToolWide: bounds.ToolWide}
	list := g.r.approvals.list()
	for i := range list.Waiting {
		all.Waiting = append(all.Waiting, waitingOf(&list.Waiting[i]))
	}
	for i := range list.Given {
		e := &list.Given[i]
		all.Given = append(all.Given, consolepage.Grant{
			ID: e.ID, Given: e.Given, Until: e.Until, By: e.By, Principal: e.Principal, Client: e.Client, Backend: e.Backend, Method: e.Method,
			Subject: e.Subject, Shown: e.Shown, Tool: e.Tool, Arguments: e.Arguments, Digest: e.Digest, Used: e.Used,
		})
	}
	return all
}

func waitingOf(r *deskRequest) consolepage.Waiting {
	return consolepage.Waiting{
		ID: r.ID, Asked: r.Asked, Until: r.Until, Principal: r.Principal, Client: r.Client, Source: r.Source, View: r.View, Backend: r.Backend, Method: r.Method,
		Subject: r.Subject, Shown: r.Shown, Why: r.Why, Ask: string(r.Ask), Arguments: r.Arguments, Extra: r.Extra, Text: r.Text, Digest: r.Digest, Unlisted: r.Unlisted,
	}
}

// Waiting implements consolepage.Gateway.
func (g *consoleGateway) Waiting(id string) (*consolepage.Waiting, error) {
	r, err := g.r.approvals.desk.Request(id)
	if err != nil {
		return nil, refusedInConsole(err)
	}
	w := waitingOf(&deskRequest{*r, r.Full()})
	return &w, nil
}

// refusedInConsole says that what was asked for cannot be, or not any more.
func refusedInConsole(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, approval.ErrUnknown):
		return web.Errorf(http.StatusNotFound, "unknown", "%v", err)
	}
	return web.Errorf(http.StatusConflict, "state", "%v", err)
}

// lacksSection says that the configuration has no section for something.
func lacksSection(name, example string) error {
	e := web.Errorf(http.StatusConflict, "section", "the configuration has no section %s", name)
	e.Hint = "add " + example
	return e
}

// pinFile is the file of pins.
func (g *consoleGateway) pinFile() (*pins.File, error) {
	c, _ := g.r.shown.now()
	if c.Pins == nil {
		return nil, lacksSection("pins", "pins: {file: pins.json}")
	}
	path, err := c.Pins.Path()
	if err != nil {
		return nil, err
	}
	return pins.Open(path), nil
}

// Pins implements consolepage.Gateway.
func (g *consoleGateway) Pins() ([]consolepage.Pin, error) {
	file, err := g.pinFile()
	if err != nil {
		return nil, err
	}
	list, err := file.Read()
	shown := make([]consolepage.Pin, 0, len(list))
	for i := range list {
		p := &list[i]
		shown = append(shown, consolepage.Pin{PinKey: consolepage.PinKey(p.Key), Approved: versionOf(p.Approved), Pending: versionOf(p.Pending)})
	}
	return shown, err
}

func versionOf(v *pins.Version) *consolepage.Version {
	if v == nil {
		return nil
	}
	return &consolepage.Version{Digest: v.Digest, Since: v.Since, Lines: v.Lines()}
}

// Audit implements consolepage.Gateway.
func (g *consoleGateway) Audit(ctx context.Context, q consolepage.Query) (*consolepage.Lines, error) {
	_, posts := g.r.shown.now()
	if posts.audit == nil {
		return nil, lacksSection("audit", "audit: {file: audit.jsonl}")
	}
	found, err := audit.Search(ctx, posts.audit.Path(), audit.Query(q))
	if err != nil {
		return nil, web.Errorf(http.StatusConflict, "search", "%v", err)
	}
	return &consolepage.Lines{File: posts.audit.Path(), Lines: found.Lines, Next: found.Next, Looked: found.Looked, Broken: found.Broken}, nil
}

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
	var err error
	if all.entries, all.instructions, all.missing, err = g.r.gateway.Entries(ctx); err != nil {
		return nil, err
	}
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
		var secrets *redact.Redactor
		list.Problem = secrets.Text(err.Error())
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
