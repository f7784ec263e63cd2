package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/auth"
	"github.com/parley-mcp/parley/cmd/parley/internal/devauth"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// protected is a site that wants a token of its own authorization server, which knows one
// program.
func protected(t *testing.T) (origin string) {
	t.Helper()
	mux := http.NewServeMux()
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)
	issuer, err := devauth.New(devauth.Options{
		Issuer: site.URL, Resources: []string{site.URL + "/mcp"}, Scopes: map[string]string{"read": "Read"},
		Clients: []devauth.Client{{ID: "gateway", Secret: "the-secret-of-the-gateway", Scopes: []string{"read"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	keys, err := wire.Marshal(issuer.Keys())
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := auth.NewJWT(&auth.JWTOptions{Issuer: site.URL, Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	guard, err := auth.New(&auth.Options{Resource: site.URL + "/mcp", AuthorizationServers: []string{site.URL}, Verifier: tokens, Scopes: []string{"read"}})
	if err != nil {
		t.Fatal(err)
	}
	mux.Handle("/mcp", guard.Protect(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	issuer.Mount(mux)
	guard.Mount(mux)
	return site.URL
}

// A gateway logs in at a server as its configuration says.
func TestGatewayLogsIn(t *testing.T) {
	origin, dir := protected(t), t.TempDir()
	a, _ := newTestApp("", false)
	l := logins{a: a}
	defer l.keep(nil)
	read := func(auth string) *config.Config {
		path := filepath.Join(dir, "g.yaml")
		text := "version: 1\nbackends:\n  shop: {url: " + origin + "/mcp" + auth + "}\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Read(path, a.environment(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	at := func(c *config.Config) *http.Client {
		web, err := l.at(t.Context(), c.Backends[0], origin+"/mcp", &mcp.Peer{})
		if err != nil {
			t.Fatal(err)
		}
		return web
	}
	status := func(web *http.Client) int {
		response, err := web.Get(origin + "/mcp")
		if err != nil {
			return 0
		}
		_ = response.Body.Close()
		return response.StatusCode
	}
	const own = ", auth: {client: {issuer: %, id: gateway, secret: the-secret-of-the-gateway, scopes: [read]}}"
	if web := at(read("")); web != nil {
		t.Error("nothing was said of a login")
	}
	right := read(strings.ReplaceAll(own, "%", origin))
	web := at(right)
	if got := status(web); got != http.StatusOK {
		t.Errorf("status %d", got)
	}
	if at(right) != web {
		t.Error("connections to one server do not share a login")
	}
	wrong := read(strings.NewReplacer("%", origin, "the-secret", "another-secret").Replace(own))
	if got := status(at(wrong)); got == http.StatusOK {
		t.Error("a wrong secret will do")
	}
	l.keep(wrong)
	if len(l.made) != 1 || at(right) == web {
		t.Error("a login was kept that nobody uses")
	}
	if at(read(", auth: {login: true}")) == nil {
		t.Error("there is no login of the user")
	}
}
