package oauth_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/mcp"
)

const document1 = "https://app.example/client.json"

// A pre-registered client is preferred, then the metadata document, then
// registration.
func TestRegistrationOrder(t *testing.T) {
	for name, tt := range map[string]struct {
		known, document, supported, dynamic bool
		want                                string
	}{
		"all":                     {true, true, true, true, "known"},
		"document":                {false, true, true, true, document1},
		"document, not supported": {false, true, false, true, "client-1"},
		"dynamic":                 {false, false, true, true, "client-1"},
		"nothing":                 {false, false, true, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			d := w.serverDoc()
			d["client_id_metadata_document_supported"] = tt.supported
			if !tt.dynamic {
				delete(d, "registration_endpoint")
			}
			w.asDocs[serverAt] = d
			c := w.client(nil, func(o *oauth.Options) {
				o.PreRegistered = map[string]oauth.Credentials{"https://another.example": {ClientID: "of another"}}
				if tt.known {
					o.PreRegistered[w.issuer] = oauth.Credentials{ClientID: "known"}
				}
				if tt.document {
					o.ClientMetadataURL = document1
				}
			})
			if tt.want == "" {
				_, err := w.get(c)
				if !errors.Is(err, mcp.ErrUnauthorized) || !strings.Contains(err.Error(), "enter the client ID") || !strings.Contains(err.Error(), "another.example") {
					t.Errorf("got %v", err)
				}
				return
			}
			w.ok(c)
			if got := w.asked[0].Get("client_id"); got != tt.want {
				t.Errorf("client %q, want %q", got, tt.want)
			}
			w.revokeAll()
			w.ok(c) // the refresh is by the same client
			w.wantCount("GET /authorize", 1)
		})
	}
}

// A client ID for any issuer is preferred to a new registration.
func TestRegistrationOfAnyIssuer(t *testing.T) {
	w := newWorld(t)
	c := w.client(nil, func(o *oauth.Options) {
		o.PreRegistered = map[string]oauth.Credentials{oauth.AnyIssuer: {ClientID: "known"}}
	})
	w.ok(c)
	if got := w.asked[0].Get("client_id"); got != "known" {
		t.Errorf("client %q, want the one that is known", got)
	}
	w.revokeAll()
	w.ok(c)
	w.wantCount("POST /register", 0)
	w.wantCount("GET /authorize", 1)
}

// An authorization server that was restarted knows neither tokens nor clients.
// The refresh shows that, before the user is sent there as a client that it
// does not know.
func TestAuthorizationServerStartsAnew(t *testing.T) {
	w := newWorld(t)
	c := w.client(nil)
	w.ok(c)
	w.set(func() {
		clear(w.valid)
		clear(w.refreshes)
		w.token = func(f url.Values) (int, doc) {
			if f.Get("client_id") == "client-1" {
				return http.StatusUnauthorized, doc{"error": "invalid_client"}
			}
			return 0, nil
		}
	})
	w.ok(c)
	if got := w.asked[1].Get("client_id"); got != "client-2" {
		t.Errorf("the user was sent there by %q", got)
	}
}

// A client registers once, until its redirect URI or its secret is no longer
// valid.
func TestRegistrationIsKept(t *testing.T) {
	w := newWorld(t)
	store := oauth.NewMemoryStore()
	u := &user{}
	expires := int64(0)
	w.register = func(body doc) (int, doc) {
		return 201, doc{"client_id": "c", "client_secret": "secret-of-c", "client_secret_expires_at": expires, "token_endpoint_auth_method": "none"}
	}
	login := func(want int) {
		t.Helper()
		if err := w.client(u, func(o *oauth.Options) { o.Store = store }).Login(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.wantCount("POST /register", want)
	}
	login(1)
	login(1)
	u.redirect = "http://127.0.0.1:8888/callback"
	expires = time.Now().Unix()
	login(2)
	login(3)
	expires = time.Now().Add(time.Hour).Unix()
	login(4)
	login(4)
}

// A registration that the authorization server has lost is repeated.
func TestRegistrationIsLost(t *testing.T) {
	w := newWorld(t)
	lost := true
	w.token = func(f url.Values) (int, doc) {
		if lost {
			return 401, doc{"error": "invalid_client", "error_description": "who is " + f.Get("code")}
		}
		return 0, nil
	}
	c := w.client(nil)
	if _, err := w.get(c); err == nil || !strings.Contains(err.Error(), "invalid_client") || strings.Contains(err.Error(), "secret-code") {
		t.Errorf("got %v", err)
	}
	w.set(func() { lost = false })
	if err := c.Login(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.wantCount("POST /register", 2)
}

func TestRegistrationRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		status int
		answer doc
		want   string
	}{
		"redirect URI":    {400, doc{"error": "invalid_redirect_uri", "error_description": "no loopback"}, "invalid_redirect_uri (no loopback)"},
		"status":          {403, doc{}, "403 Forbidden"},
		"no client":       {201, doc{}, "no client ID"},
		"other redirects": {201, doc{"client_id": "c", "redirect_uris": []string{"https://x.example/"}}, "other redirect URIs"},
		"unknown method":  {201, doc{"client_id": "c", "token_endpoint_auth_method": "tls_client_auth"}, "not supported"},
		"no secret":       {201, doc{"client_id": "c", "token_endpoint_auth_method": "client_secret_basic"}, "no secret"},
	} {
		w := newWorld(t)
		w.register = func(doc) (int, doc) { return tt.status, tt.answer }
		if _, err := w.get(w.client(nil)); !errors.Is(err, mcp.ErrUnauthorized) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
		w.wantCount("GET /authorize", 0)
	}
}

func TestApplicationType(t *testing.T) {
	for redirect, want := range map[string]string{
		"http://127.0.0.1:7777/callback": "native", "http://localhost/x": "native", "https://app.example/callback": "web", "https://localhost/x": "native",
	} {
		w := newWorld(t)
		w.ok(w.client(&user{redirect: redirect}))
		if got := w.registered[0]["application_type"]; got != want {
			t.Errorf("%s: %v", redirect, got)
		}
	}
	w := newWorld(t)
	if _, err := w.get(w.client(&user{redirect: "http://app.example/callback"})); err == nil || !strings.Contains(err.Error(), "redirect URI") {
		t.Errorf("got %v", err)
	}
}

// The client authenticates by the registered method, or one that the server
// supports.
func TestClientAuthentication(t *testing.T) {
	for _, method := range []string{oauth.AuthBasic, oauth.AuthPost, oauth.AuthNone} {
		w := newWorld(t)
		w.method = method
		c := w.client(nil)
		w.ok(c)
		w.revokeAll()
		w.ok(c)
		w.wantCount("POST /register", 1)
		w.wantCount("GET /authorize", 1)
	}
	for supported, want := range map[string]string{"": oauth.AuthBasic, "client_secret_post client_secret_basic": oauth.AuthBasic, "client_secret_post": oauth.AuthPost} {
		w := newWorld(t)
		w.method = want
		d := w.serverDoc()
		d["token_endpoint_auth_methods_supported"] = strings.Fields(supported)
		w.asDocs[serverAt] = d
		w.ok(w.client(nil, func(o *oauth.Options) {
			o.PreRegistered = map[string]oauth.Credentials{w.issuer: {ClientID: "a:b c", Secret: "secret-of/the client"}}
		}))
	}
	w := newWorld(t)
	d := w.serverDoc()
	d["token_endpoint_auth_methods_supported"] = []string{"tls_client_auth"}
	w.asDocs[serverAt] = d
	_, err := w.get(w.client(nil, func(o *oauth.Options) {
		o.PreRegistered = map[string]oauth.Credentials{w.issuer: {ClientID: "c", Secret: "s"}}
	}))
	if err == nil || !strings.Contains(err.Error(), "no client secret") {
		t.Errorf("got %v", err)
	}
}

func TestOptions(t *testing.T) {
	good := oauth.Options{URL: "https://mcp.example/mcp"}
	for name, change := range map[string]func(*oauth.Options){
		"no URL":            func(o *oauth.Options) { o.URL = "" },
		"http":              func(o *oauth.Options) { o.URL = "http://mcp.example/mcp" },
		"user in URL":       func(o *oauth.Options) { o.URL = "https://me:secret-pass@mcp.example/mcp" },
		"metadata http":     func(o *oauth.Options) { o.ClientMetadataURL = "http://app.example/x" },
		"metadata no path":  func(o *oauth.Options) { o.ClientMetadataURL = "https://app.example/" },
		"metadata dots":     func(o *oauth.Options) { o.ClientMetadataURL = "https://app.example/a/../b" },
		"metadata fragment": func(o *oauth.Options) { o.ClientMetadataURL = "https://app.example/a#b" },
		"application type":  func(o *oauth.Options) { o.Metadata.ApplicationType = "desktop" },
		"no client ID":      func(o *oauth.Options) { o.PreRegistered = map[string]oauth.Credentials{"https://as.example": {}} },
		"secret for all": func(o *oauth.Options) {
			o.PreRegistered = map[string]oauth.Credentials{oauth.AnyIssuer: {ClientID: "c", Secret: "secret-c"}}
		},
		"grant": func(o *oauth.Options) { o.Grant = &oauth.ClientCredentials{} },
		"no issuer": func(o *oauth.Options) {
			o.Grant = &oauth.ClientCredentials{Client: oauth.Credentials{ClientID: "c", Secret: "s"}}
		},
		"no assertion": func(o *oauth.Options) { o.Grant = &oauth.WorkloadIdentity{Issuer: "https://as.example"} },
		"no subject":   func(o *oauth.Options) { o.Grant = &oauth.EnterpriseManaged{TokenEndpoint: "https://idp.example/token"} },
	} {
		o := good
		change(&o)
		if c, err := oauth.New(&o); err == nil {
			_ = c.Close()
			t.Errorf("%s: no error", name)
		} else if strings.Contains(err.Error(), "secret-") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := oauth.New(nil); err == nil || !strings.Contains(err.Error(), "oauth.Options.URL") {
		t.Errorf("nil: %v", err)
	}
	for _, change := range []func(*oauth.Options){
		func(*oauth.Options) {},
		func(o *oauth.Options) { o.URL, o.AllowHTTP = "http://mcp.example", true },
		func(o *oauth.Options) { o.URL = "http://localhost:1/mcp" },
		func(o *oauth.Options) { o.HTTP = &http.Client{} },
	} {
		o := good
		change(&o)
		c, err := oauth.New(&o)
		if err != nil {
			t.Error(err)
			continue
		}
		_ = c.Close()
	}
}
