package cli

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/login"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/mcp"
)

// load makes the gateway serve what a configuration says, and says what was left out.
func (r *runningGateway) load(ctx context.Context, c *config.Config) error {
	r.hidden.Know("", append(c.Secrets(), r.secrets...))
	s := gateway.Setup{ListTimeout: c.ListTimeout, PageSize: c.PageSize, ReadCache: c.ReadCache, Profile: c.Profiles.Default, Clients: c.Profiles.Clients}
	for _, b := range c.Backends {
		s.Servers = append(s.Servers, r.server(ctx, b))
	}
	s.Views = make(map[string]gateway.Part, len(c.Views))
	for _, v := range c.Views {
		s.Views[v.Name] = gateway.Part{
			Backends: v.Backends, Tools: v.Tools, Prompts: v.Prompts, Resources: v.Resources, Principals: v.Principals, DefaultFor: v.DefaultFor, Search: v.Search, Profile: v.Profile(),
		}
	}
	stay, err := post(c, r.posts, r.secrets, r.gateway.Announce, r.logger)
	if err != nil {
		return err
	}
	if s.Guards, err = stay.chain(c, r.front(), r.approvals.desk, r.logger); err == nil {
		err = r.gateway.Load(s) //nolint:contextcheck // backends live until the gateway ends
	}
	if err != nil {
		return errors.Join(err, stay.relieve(r.posts))
	}
	r.approvals.keep(c, stay)
	if err := r.posts.relieve(stay); err != nil {
		r.logger.Error("a guard of the earlier configuration has not ended well", "error", err)
	}
	r.config, r.posts = c, stay
	r.shown.read(c, stay)
	r.logins.keep(c)
	r.doors.show(c) //nolint:contextcheck // endpoints live until the gateway ends
	for _, w := range c.Warnings {
		r.logger.Warn("left out, or does not work yet", "error", w)
	}
	return nil
}

// front are the guards that only look, for the console.
func (r *runningGateway) front() []guard.Guard {
	if r.console == nil {
		return nil
	}
	return []guard.Guard{&r.live}
}

// server is a backend of the configuration.
func (r *runningGateway) server(ctx context.Context, b *config.Backend) gateway.Server {
	stderr, rules, door := new(backend.Stderr), b.Rules(), r.logins.door(ctx, b)
	if door != nil && rules.Tools.Include != nil {
		rules.Tools.Include = append(slices.Clone(rules.Tools.Include), login.Tool)
	}
	return gateway.Server{
		Rules: rules, Same: r.same(b), OnDemand: !b.AtOnce || b.Personal(), // nobody's connection has no token
		Backend: backend.Options{
			Connect: r.connector(ctx, b, stderr), Stderr: stderr, Share: b.Share, Single: r.single, Personal: b.Personal(), Login: door,
			MaxConnections: b.MaxConnections, Idle: b.Idle, ConnectTimeout: b.ConnectTimeout, Timeout: b.Timeout, Parking: b.Parking(),
		},
	}
}

// same identifies a backend that goes on as it is, whatever else there is in another
// configuration; see config.Backend.Same.
func (r *runningGateway) same(b *config.Backend) string {
	return b.Same() + strings.Repeat("'", r.restarts[b.Name])
}

// connector returns what connects to a server. Secrets are looked up each time.
func (r *runningGateway) connector(ctx context.Context, b *config.Backend, stderr io.Writer) func(context.Context, *mcp.Peer, *client.Options) (*client.Client, error) {
	base := ctx
	return func(ctx context.Context, peer *mcp.Peer, o *client.Options) (*client.Client, error) {
		t, err := b.Target()
		if err != nil {
			return nil, err
		}
		r.hidden.Know(b.Name, b.Secrets())
		c := target.Connection{CleanEnv: true, Stderr: stderr, Logger: r.logger}
		c.Login = func(url string) (*http.Client, error) { return r.logins.at(base, b, url, peer) }
		transport, err := t.Transport(c)
		if err != nil {
			return nil, err
		}
		o.Info = mcp.Implementation{Name: "parley", Title: "Parley gateway", Version: buildVersion()}
		if t.Revision != (mcp.Revision{}) {
			o.Revisions = []mcp.Revision{t.Revision}
		}
		if len(t.Command) > 0 {
			o.MaxRestarts = -1 // so that the end of a process is seen, and counted
		}
		conn, err := client.Connect(ctx, transport, o)
		if err == nil {
			conn.Use(r.telemetry.Client(b.Name)...)
		}
		return conn, err
	}
}
