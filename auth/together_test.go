package auth_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/auth"
	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/devauth"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/streamable"
)

// A client, an authorization server and a Guard that know nothing of each other
// but what the documents say: the client finds its way in, and steps up when an
// operation needs more.
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
			issuer, where := login(t)
			s := &site{t: t, i: newIssuer(t)}
			web := httptest.NewUnstartedServer(nil)
			s.url = "http://" + web.Listener.Addr().String() + "/mcp"
			where(s.url)
			s.g, s.log = s.i.guard(t, func(o *auth.Options) {
				o.Resource, o.AuthorizationServers, o.Rules, o.DPoP, o.DPoPNonces = s.url, []string{issuer}, siteRules, tt.policy, tt.nonces
				o.Verifier = verifierOf(t, issuer, tt.introspect)
			})
			h, err := streamable.New(s.server(), &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: s.log.logger()}})
			if err != nil {
				t.Fatal(err)
			}
			mux := http.NewServeMux()
			mux.Handle("/mcp", s.g.Protect(h))
			s.g.Mount(mux)
			web.Config.Handler = mux
			web.Start()
			defer web.Close()
			defer func() { _ = h.Close(context.Background()) }()

			way, err := oauth.New(oauth.Options{
				URL: s.url, DPoP: tt.dpop, Logger: mcptest.Quiet(),
				Grant: &oauth.ClientCredentials{Issuer: issuer, Client: oauth.Credentials{ClientID: "robot", Secret: "s3cret"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = way.Close() }()
			wire := &http.Transport{}
			defer wire.CloseIdleConnections()
			for _, revision := range []mcp.Revision{mcp.Revision20251125, mcp.Revision20260728} {
				c, err := client.Connect(t.Context(), &streamable.Client{URL: s.url, HTTP: &http.Client{Transport: way.Transport(wire)}}, &client.Options{Revisions: []mcp.Revision{revision}})
				if err != nil {
					t.Fatalf("%s: %v\n%s", revision, err, s.log)
				}
				for tool, want := range map[string]string{"whoami": "by robot", "delete": "deleted"} {
					if got, err := client.Call[string](t.Context(), c, tool, nil); err != nil || !strings.Contains(got, want) {
						t.Errorf("%s, %s: %q, %v\n%s", revision, tool, got, err, s.log)
					}
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// login starts an authorization server. The resource is told later, because
// each of the two wants to know where the other one is.
func login(t *testing.T) (issuer string, where func(resource string)) {
	t.Helper()
	web := httptest.NewUnstartedServer(nil)
	issuer = "http://" + web.Listener.Addr().String()
	return issuer, func(resource string) {
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
}

func verifierOf(t *testing.T, issuer string, introspect bool) auth.Verifier {
	t.Helper()
	var (
		v   auth.Verifier
		err error
	)
	if introspect {
		v, err = auth.NewIntrospection(auth.IntrospectionOptions{Issuer: issuer, ClientID: "guard", ClientSecret: "s3cret too"})
	} else {
		v, err = auth.NewJWT(auth.JWTOptions{Issuer: issuer})
	}
	if err != nil {
		t.Fatal(fmt.Errorf("verifier: %w", err))
	}
	return v
}
