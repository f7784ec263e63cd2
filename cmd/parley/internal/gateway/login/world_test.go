package login_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-mcp/parley/auth"
	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/devauth"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/login"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(tidy{m}) }

// tidy closes the connections that accounts share with the whole process.
type tidy struct{ *testing.M }

func (t tidy) Run() int {
	defer http.DefaultClient.CloseIdleConnections()
	return t.M.Run()
}

// eras are the revisions in which clients come, with sessions and without.
var eras = []mcp.Revision{mcp.Revision20251125, mcp.Revision20260728}

// issuer is an authorization server.
type issuer struct {
	url string
	srv *devauth.Server

	mu    sync.Mutex
	forms []map[string][]string // requests for tokens
}

// newIssuer starts an authorization server for resources, with the users ada and bob.
func newIssuer(t *testing.T, clients []devauth.Client, resources ...string) *issuer {
	t.Helper()
	web := httptest.NewUnstartedServer(nil)
	i := &issuer{url: "http://" + web.Listener.Addr().String()}
	var err error
	i.srv, err = devauth.New(devauth.Options{
		Issuer: i.url, Resources: resources, Scopes: map[string]string{"mcp": "Use it", "more": "Use more of it"},
		Users: map[string]string{"ada": passwordOf("ada"), "bob": passwordOf("bob")}, Clients: clients,
	})
	if err != nil {
		t.Fatal(err)
	}
	web.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path == "/token" {
			_ = r.ParseForm() // the server reports it
			i.mu.Lock()
			i.forms = append(i.forms, r.PostForm)
			i.mu.Unlock()
		}
		i.srv.Handler().ServeHTTP(w, r)
	})
	web.Start()
	t.Cleanup(web.Close)
	return i
}

// asked counts requests for tokens with a grant.
func (i *issuer) asked(grant string) (n int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, f := range i.forms {
		if strings.HasSuffix(f["grant_type"][0], grant) {
			n++
		}
	}
	return n
}

// Verify implements auth.Verifier: it accepts the tokens of the issuer that are not
// revoked.
func (i *issuer) Verify(ctx context.Context, token string) (*auth.Token, error) {
	keys, err := json.Marshal(i.srv.Keys())
	if err != nil {
		return nil, err
	}
	v, err := auth.NewJWT(&auth.JWTOptions{Issuer: i.url, Keys: keys, Leeway: -1})
	if err != nil {
		return nil, err
	}
	t, err := v.Verify(ctx, token)
	if err != nil {
		return nil, err
	}
	var claims struct {
		ID string `json:"jti"`
	}
	if err := json.Unmarshal(t.Claims, &claims); err != nil || i.srv.Revoked(claims.ID) {
		return nil, auth.Invalid("the token was revoked")
	}
	return t, nil
}

// site serves an MCP server at /mcp, for those with a token.
type site struct {
	url   string
	guard *auth.Guard
	mux   *http.ServeMux

	mu     sync.Mutex
	refuse int      // how many requests to refuse
	tokens []string // that came
}

// reserve returns a site and the web server that it will be at.
func reserve() (*site, *httptest.Server) {
	web := httptest.NewUnstartedServer(nil)
	s := &site{url: "http://" + web.Listener.Addr().String() + "/mcp", mux: http.NewServeMux()}
	web.Config.Handler = s.mux
	return s, web
}

// start serves a handler there.
func (s *site) start(t *testing.T, web *httptest.Server, h mcp.Handler, o auth.Options) {
	t.Helper()
	o.Resource, o.Logger, o.Scopes = s.url, mcptest.Quiet(), []string{"mcp"}
	var err error
	if s.guard, err = auth.New(&o); err != nil {
		t.Fatal(err)
	}
	front, err := streamable.New(h, &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
	if err != nil {
		t.Fatal(err)
	}
	open := s.guard.Protect(front)
	s.mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		s.tokens = append(s.tokens, token)
		if s.refuse > 0 {
			s.refuse--
			r.Header.Set("Authorization", "Bearer refused")
		}
		s.mu.Unlock()
		open.ServeHTTP(w, r)
	})
	s.guard.Mount(s.mux)
	web.Start()
	t.Cleanup(func() {
		_ = front.Close(context.Background()) // its test is over
		web.Close()
	})
}

// saw reports whether a token has come.
func (s *site) saw(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.tokens, token)
}

// set has the site refuse the next requests.
func (s *site) set(refuse int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = refuse
}

// shop is a server whose tool says who calls it.
func shop() *server.Server {
	s := server.New(mcp.Implementation{Name: "shop", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	server.AddTool(s, mcp.Tool{Name: "whoami"}, func(_ context.Context, call *server.Call, _ struct{}) (string, error) {
		a := call.Peer().Authorization
		return fmt.Sprintf("%s by %s", a.Subject, a.ClientID), nil
	})
	return s
}

// world is a gateway with an authorization server, and a shop behind it.
type world struct {
	issuer     *issuer
	gate, shop *site
	gateway    *gateway.Gateway
}

// newWorld starts all of it; the gateway logs in at the shop with an account. both says
// that the shop takes tokens that are for the gateway, too.
func newWorld(t *testing.T, both bool, account func(w *world) (login.Account, error)) *world {
	t.Helper()
	w := new(world)
	var gateWeb, shopWeb *httptest.Server
	w.gate, gateWeb = reserve()
	w.shop, shopWeb = reserve()
	w.issuer = newIssuer(t, []devauth.Client{{ID: "gateway", Secret: "the secret of the gateway", Exchange: w.gate.url}}, w.gate.url, w.shop.url)
	o := auth.Options{AuthorizationServers: []string{w.issuer.url}, Verifier: w.issuer}
	if both {
		o.Audiences = []string{w.gate.url}
	}
	w.shop.start(t, shopWeb, shop(), o)
	made, err := account(w)
	if err != nil {
		t.Fatal(err)
	}
	w.open(t, gateWeb, made)
	return w
}

// open starts the gateway, which logs in at the shop with an account.
func (w *world) open(t *testing.T, gateWeb *httptest.Server, made login.Account) {
	t.Helper()
	w.gateway = gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})
	t.Cleanup(func() {
		_ = w.gateway.Close() // its test is over
		_ = made.Close()
	})
	behind := backend.Options{Personal: true, Share: bridge.SharePrincipal, Connect: func(ctx context.Context, peer *mcp.Peer, o *client.Options) (*client.Client, error) {
		return client.Connect(ctx, &streamable.Client{URL: w.shop.url, Logger: mcptest.Quiet(), HTTP: &http.Client{Transport: made.For(peer)}}, o)
	}}
	if users, ok := made.(*login.Users); ok {
		behind.Login = users.Serve
	}
	err := w.gateway.Load(gateway.Setup{ListTimeout: 20 * time.Second, Servers: []gateway.Server{{
		Rules: naming.Rules{Backend: "shop"}, Same: "shop", OnDemand: true, Backend: behind,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	w.gate.start(t, gateWeb, w.gateway.View(""), auth.Options{AuthorizationServers: []string{w.issuer.url}, Verifier: w.issuer, KeepTokens: true})
}

// user is a user with a client that has logged in at the gateway.
type user struct {
	*client.Client

	login *oauth.Client
}

// user connects a client, which logs in with the user's browser.
func (w *world) user(t *testing.T, name string, revision mcp.Revision, o *client.Options) *user {
	t.Helper()
	in, err := oauth.New(&oauth.Options{URL: w.gate.url, Grant: &oauth.AuthorizationCode{Receiver: newBrowser(t, name)}, Logger: mcptest.Quiet()})
	if err != nil {
		t.Fatal(err)
	}
	wire := &http.Transport{}
	if o == nil {
		o = new(client.Options)
	}
	o.Revisions, o.Logger = []mcp.Revision{revision}, mcptest.Quiet()
	c, err := client.Connect(t.Context(), &streamable.Client{URL: w.gate.url, HTTP: &http.Client{Transport: in.Transport(wire)}, Logger: mcptest.Quiet()}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close() // its test is over
		_ = in.Close()
		wire.CloseIdleConnections()
	})
	return &user{c, in}
}

// token is the token of the user's client for the gateway.
func (u *user) token(t *testing.T) string {
	t.Helper()
	token, err := u.login.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return string(token.Access)
}

// whoami asks the shop who the user is there.
func (u *user) whoami(ctx context.Context) (string, error) {
	return client.Call[string](ctx, u.Client, "shop__whoami", nil)
}
