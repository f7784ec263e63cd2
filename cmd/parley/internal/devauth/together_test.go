package devauth_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/parley-mcp/parley/auth"
	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/devauth"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// A client, an authorization server and a Guard that know of each other only
// what the metadata documents say: the client logs in, and steps up when an
// operation needs more scopes.
func TestTogether(t *testing.T) {
	for name, tt := range map[string]struct {
		policy     auth.DPoPPolicy
		nonces     bool
		introspect bool
		dpop       bool
	}{
		"bearer":                {},
		"bearer, introspection": {introspect: true},
		"accepted, unused":      {policy: auth.DPoPAccepted},
		"accepted, used":        {policy: auth.DPoPAccepted, dpop: true},
		"required":              {policy: auth.DPoPRequired},
		"nonces":                {policy: auth.DPoPRequired, nonces: true, introspect: true},
	} {
		t.Run(name, func(t *testing.T) {
			// Each of the two needs the address of the other one.
			loginWeb, siteWeb := httptest.NewUnstartedServer(nil), httptest.NewUnstartedServer(nil)
			login, site := "http://"+loginWeb.Listener.Addr().String(), "http://"+siteWeb.Listener.Addr().String()+"/mcp"
			startLogin(t, loginWeb, login, site)
			log := new(serverLog)
			startSite(t, siteWeb, auth.Options{
				Resource: site, AuthorizationServers: []string{login}, Verifier: verifierOf(t, login, tt.introspect), Scopes: []string{"mcp"},
				Rules: auth.Rules{Tools: map[string][]string{"delete": {"files:write", "files:delete"}}},
				DPoP:  tt.policy, DPoPNonces: tt.nonces, Logger: log.logger(),
			})

			way, err := oauth.New(&oauth.Options{
				URL: site, DPoP: tt.dpop, Logger: mcptest.Quiet(),
				Grant: &oauth.ClientCredentials{Issuer: login, Client: oauth.Credentials{ClientID: "robot", Secret: "s3cret"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = way.Close() }()
			wire := &http.Transport{}
			defer wire.CloseIdleConnections()
			for _, revision := range []mcp.Revision{mcp.Revision20251125, mcp.Revision20260728} {
				c, err := client.Connect(t.Context(), &streamable.Client{URL: site, HTTP: &http.Client{Transport: way.Transport(wire)}}, &client.Options{Revisions: []mcp.Revision{revision}})
				if err != nil {
					t.Fatalf("%s: %v\n%s", revision, err, log)
				}
				for tool, want := range map[string]string{"whoami": "robot", "delete": "deleted"} {
					if got, err := client.Call[string](t.Context(), c, tool, nil); err != nil || got != want {
						t.Errorf("%s, %s: %q, %v; want %q\n%s", revision, tool, got, err, want, log)
					}
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// startLogin starts an authorization server that knows a client and a Guard.
func startLogin(t *testing.T, web *httptest.Server, issuer, resource string) {
	t.Helper()
	s, err := devauth.New(devauth.Options{
		Issuer: issuer, Resources: []string{resource}, Logger: mcptest.Quiet(),
		Scopes: map[string]string{"mcp": "Use it", "files:write": "Write", "files:delete": "Delete"},
		Clients: []devauth.Client{
			{ID: "robot", Secret: "s3cret", Scopes: []string{"mcp", "files:write", "files:delete"}},
			{ID: "guard", Secret: "s3cret too", Introspect: true},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	web.Config.Handler = s.Handler()
	web.Start()
	t.Cleanup(web.Close)
}

// startSite starts an MCP server behind a Guard.
func startSite(t *testing.T, web *httptest.Server, options auth.Options) {
	t.Helper()
	guard, err := auth.New(&options)
	if err != nil {
		t.Fatal(err)
	}
	srv := server.New(mcp.Implementation{Name: "files", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), Visible: guard.Visible})
	srv.Use(guard.Enforce)
	server.AddTool(srv, mcp.Tool{Name: "whoami"}, func(_ context.Context, call *server.Call, _ struct{}) (string, error) {
		return call.Peer().Authorization.ClientID, nil
	})
	server.AddTool(srv, mcp.Tool{Name: "delete"}, func(context.Context, *server.Call, struct{}) (string, error) { return "deleted", nil })
	h, err := streamable.New(srv, &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: options.Logger}})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", guard.Protect(h))
	guard.Mount(mux)
	web.Config.Handler = mux
	web.Start()
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
		web.Close()
	})
}

func verifierOf(t *testing.T, issuer string, introspect bool) auth.Verifier {
	t.Helper()
	var (
		v   auth.Verifier
		err error
	)
	if introspect {
		v, err = auth.NewIntrospection(&auth.IntrospectionOptions{Issuer: issuer, ClientID: "guard", ClientSecret: "s3cret too"})
	} else {
		v, err = auth.NewJWT(&auth.JWTOptions{Issuer: issuer})
	}
	if err != nil {
		t.Fatal(fmt.Errorf("verifier: %w", err))
	}
	return v
}

// serverLog is a log that the requests of a server write and a test reads.
type serverLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (l *serverLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *serverLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *serverLog) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
