package cli

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/approval"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/audit"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/pins"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/policy"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/scan"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/status"
	consolepage "github.com/parley-mcp/parley/cmd/parley/internal/page/console"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
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
	secrets := r.hidden.Now()
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
		s := status.Of(&state, reached, g.r.hidden.Now())
		list = append(list, consolepage.Backend{
			Name: s.Name, Reached: s.Reached, Status: string(s.Status), Server: s.Server, Revision: s.Revision, Connections: s.Connections, Used: s.Used,
			InFlight: s.InFlight, Parked: s.Parked.Calls, MaxParked: s.Parked.Most, ParkedSince: s.Parked.Oldest, Restarts: s.Restarts, Lost: s.Lost,
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
