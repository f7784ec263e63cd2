package oauth_test

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/mcp"
)

// metadataRequests returns the requests for metadata.
func (w *world) metadataRequests() []string {
	var paths []string
	for _, r := range w.requests {
		if _, path, ok := strings.Cut(r, "GET /"); ok && strings.Contains(path, ".well-known") || strings.HasPrefix(r, "GET /meta") {
			paths = append(paths, strings.TrimPrefix(r, "GET "))
		}
	}
	return paths
}

const (
	resourceAt = "/.well-known/oauth-protected-resource"
	serverAt   = "/.well-known/oauth-authorization-server"
	openidAt   = "/.well-known/openid-configuration"
)

func TestDiscoveryOrder(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(w *world)
		want   []string
	}{
		"challenge": {func(w *world) {
			w.mcpDocs = map[string]any{"/meta": w.resourceDoc()}
			w.challenge = `Bearer resource_metadata="` + w.mcp.URL + `/meta"`
		}, []string{"/meta", serverAt}},
		"path": {func(w *world) { w.challenge = "Bearer" }, []string{resourceAt + "/mcp", serverAt}},
		"root": {func(w *world) {
			w.challenge = ""
			w.mcpDocs = map[string]any{resourceAt: w.resourceDoc()}
		}, []string{resourceAt + "/mcp", resourceAt, serverAt}},
		"a page in place of metadata": {func(w *world) {
			w.challenge = ""
			w.mcpDocs = map[string]any{resourceAt: w.resourceDoc(), resourceAt + "/mcp": func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte("<html>")) }}
		}, []string{resourceAt + "/mcp", resourceAt, serverAt}},
		"openid": {func(w *world) {
			w.asDocs = map[string]any{openidAt: w.serverDoc()}
		}, []string{resourceAt + "/mcp", serverAt, openidAt}},
		"issuer with a path": {func(w *world) {
			w.issuer = w.as.URL + "/tenant/1"
			w.mcpDocs[resourceAt+"/mcp"] = w.resourceDoc()
			w.asDocs = map[string]any{"/tenant/1" + openidAt: w.serverDoc()}
		}, []string{resourceAt + "/mcp", serverAt + "/tenant/1", openidAt + "/tenant/1", "/tenant/1" + openidAt}},
		"issuer with a slash": {func(w *world) {
			w.issuer = w.as.URL + "/"
			w.mcpDocs[resourceAt+"/mcp"] = w.resourceDoc()
			w.asDocs = map[string]any{serverAt: w.serverDoc()}
		}, []string{resourceAt + "/mcp", serverAt}},
		"another issuer first": {func(w *world) {
			other := w.serverDoc()
			other["issuer"] = "https://evil.example"
			w.asDocs = map[string]any{serverAt: other, openidAt: w.serverDoc()}
		}, []string{resourceAt + "/mcp", serverAt, openidAt}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			tt.change(w)
			w.ok(w.client(nil))
			if got := w.metadataRequests(); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Not every challenge has to repeat where the metadata is.
func TestMetadataIsRemembered(t *testing.T) {
	w := newWorld(t)
	w.perRequest = true
	w.mcpDocs = map[string]any{"/meta": w.resourceDoc()}
	w.challenge = `Bearer resource_metadata="` + w.mcp.URL + `/meta", scope="read"`
	c := w.client(nil)
	w.ok(c)
	w.ok(c, "need=write")
	if got := w.metadataRequests(); !slices.Equal(got, []string{"/meta", serverAt, "/meta", serverAt}) {
		t.Errorf("got %q", got)
	}
}

// The resource identifier is sent exactly as it was named.
func TestResource(t *testing.T) {
	for _, suffix := range []string{"", "/", "/mcp", "/mcp/"} {
		w := newWorld(t)
		d := w.resourceDoc()
		d["resource"] = w.mcp.URL + suffix
		w.mcpDocs[resourceAt+"/mcp"] = d
		w.ok(w.client(nil))
		if a, f := w.asked[0].Get("resource"), w.forms[0].Get("resource"); a != w.mcp.URL+suffix || f != a {
			t.Errorf("%q: asked for %q, then %q", suffix, a, f)
		}
	}
}

// Metadata that does not fit, or that leads elsewhere, ends the authorization
// before anything is sent.
func TestRefusedDiscovery(t *testing.T) {
	elsewhere := func(w *world, name, value string) {
		d := w.serverDoc()
		d[name] = value
		w.asDocs[serverAt] = d
	}
	resource := func(w *world, name string, value any) {
		d := w.resourceDoc()
		d[name] = value
		w.mcpDocs[resourceAt+"/mcp"] = d
	}
	for name, tt := range map[string]struct {
		change func(w *world)
		want   string
	}{
		"another issuer":           {func(w *world) { elsewhere(w, "issuer", "https://honest.example") }, "that of another"},
		"issuer almost":            {func(w *world) { elsewhere(w, "issuer", w.issuer+"/") }, "that of another"},
		"another resource":         {func(w *world) { resource(w, "resource", "https://evil.example/mcp") }, "of another resource"},
		"another path":             {func(w *world) { resource(w, "resource", w.url+"/sub") }, "of another resource"},
		"path that begins so":      {func(w *world) { resource(w, "resource", w.mcp.URL+"/mc") }, "of another resource"},
		"resource with fragment":   {func(w *world) { resource(w, "resource", w.url+"#x") }, "of another resource"},
		"no resource":              {func(w *world) { resource(w, "resource", "") }, "names no resource"},
		"no authorization server":  {func(w *world) { resource(w, "authorization_servers", []string{}) }, "names no authorization server"},
		"issuer with a query":      {func(w *world) { resource(w, "authorization_servers", []string{w.issuer + "?a=b"}) }, "not an issuer identifier"},
		"private address":          {func(w *world) { resource(w, "authorization_servers", []string{"https://10.1.2.3"}) }, "private network"},
		"cloud metadata":           {func(w *world) { resource(w, "authorization_servers", []string{"https://169.254.169.254"}) }, "not for the public"},
		"server over http":         {func(w *world) { resource(w, "authorization_servers", []string{"http://as.example"}) }, "not https"},
		"metadata over http":       {func(w *world) { w.challenge = `Bearer resource_metadata="http://evil.example/x"` }, "not https"},
		"metadata in a file":       {func(w *world) { w.challenge = `Bearer resource_metadata="file:///etc/passwd"` }, "no https URL"},
		"metadata that is missing": {func(w *world) { w.challenge = `Bearer resource_metadata="` + w.mcp.URL + `/none"` }, "no metadata document"},
		"metadata that fails": {func(w *world) {
			w.mcpDocs[resourceAt+"/mcp"] = func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusBadGateway) }
		}, "502"},
		"redirect to another origin": {func(w *world) {
			w.mcpDocs[resourceAt+"/mcp"] = func(rw http.ResponseWriter, r *http.Request) {
				http.Redirect(rw, r, w.as.URL+"/authorize", http.StatusFound)
			}
		}, "redirect to another origin"},
		"endless metadata": {func(w *world) {
			w.asDocs[serverAt] = func(rw http.ResponseWriter, _ *http.Request) {
				for {
					if _, err := rw.Write(make([]byte, 1<<16)); err != nil {
						return
					}
				}
			}
		}, "too large"},
		"malformed metadata": {func(w *world) { w.asDocs[serverAt] = doc{"issuer": 5} }, "malformed"},
		"script as the page": {func(w *world) { elsewhere(w, "authorization_endpoint", "javascript:alert(1)") }, "authorization endpoint"},
		"page over http":     {func(w *world) { elsewhere(w, "authorization_endpoint", "http://as.example/authorize") }, "not https"},
		"page in a file":     {func(w *world) { elsewhere(w, "authorization_endpoint", "file:///bin/sh") }, "authorization endpoint"},
		"token in private":   {func(w *world) { elsewhere(w, "token_endpoint", "https://192.168.0.1/token") }, "private network"},
		"token over http":    {func(w *world) { elsewhere(w, "token_endpoint", "http://as.example/token") }, "not https"},
		"fragment":           {func(w *world) { elsewhere(w, "token_endpoint", w.as.URL+"/token#x") }, "fragment"},
		"register elsewhere": {func(w *world) { elsewhere(w, "registration_endpoint", "gopher://x/") }, "registration endpoint"},
		"no PKCE": {func(w *world) {
			d := w.serverDoc()
			delete(d, "code_challenge_methods_supported")
			w.asDocs[serverAt] = d
		}, "PKCE"},
		"plain PKCE": {func(w *world) {
			d := w.serverDoc()
			d["code_challenge_methods_supported"] = []string{"plain"}
			w.asDocs[serverAt] = d
		}, "PKCE"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			tt.change(w)
			_, err := w.get(w.client(nil))
			if !errors.Is(err, mcp.ErrUnauthorized) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			for _, r := range []string{"GET /authorize", "POST /register", "POST /token"} {
				w.wantCount(r, 0)
			}
		})
	}
}

// A response that is not the answer to the request redeems nothing, and its
// contents are not revealed.
func TestRefusedAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(v url.Values)
		want   string
	}{
		"state":            {func(v url.Values) { v.Set("state", "other") }, "state"},
		"no state":         {func(v url.Values) { v.Del("state") }, "state"},
		"issuer":           {func(v url.Values) { v.Set("iss", "https://evil.example") }, "not from"},
		"issuer's slash":   {func(v url.Values) { v.Set("iss", v.Get("iss")+"/") }, "not from"},
		"issuer's case":    {func(v url.Values) { v.Set("iss", strings.ToUpper(v.Get("iss"))) }, "not from"},
		"no issuer":        {func(v url.Values) { v.Del("iss") }, "(iss)"},
		"two codes":        {func(v url.Values) { v.Add("code", "another") }, "twice"},
		"no code":          {func(v url.Values) { v.Del("code") }, "no code"},
		"error of another": {func(v url.Values) { v.Set("iss", "https://evil.example"); v.Set("error", "call-this-number") }, "not from"},
		"error without":    {func(v url.Values) { v.Del("iss"); v.Set("error", "call-this-number") }, "(iss)"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			_, err := w.get(w.client(&user{change: tt.change}))
			if !errors.Is(err, mcp.ErrUnauthorized) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "call-this") {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			w.wantCount("POST /token", 0)
		})
	}
}

// If the server does not promise an issuer, a response without one is accepted,
// but not one with a different issuer.
func TestIssuerNotPromised(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(v url.Values)
		ok     bool
	}{
		"absent":  {func(v url.Values) { v.Del("iss") }, true},
		"right":   {func(url.Values) {}, true},
		"another": {func(v url.Values) { v.Set("iss", "https://evil.example") }, false},
		"empty":   {func(v url.Values) { v.Set("iss", "") }, false},
	} {
		w := newWorld(t)
		d := w.serverDoc()
		delete(d, "authorization_response_iss_parameter_supported")
		w.asDocs[serverAt] = d
		if _, err := w.get(w.client(&user{change: tt.change})); (err == nil) != tt.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Servers of 2025-03-26 are their own authorization servers.
func TestOldServers(t *testing.T) {
	for _, slash := range []string{"", "/"} {
		w := newWorld(t)
		w.challenge, w.issuer = "", w.mcp.URL+slash
		w.mcpDocs = map[string]any{serverAt: w.serverDoc()}
		w.ok(w.client(nil))
		if got := w.metadataRequests(); !slices.Equal(got, []string{resourceAt + "/mcp", resourceAt, serverAt}) {
			t.Errorf("got %q", got)
		}
		if got := w.asked[0].Get("resource"); got != w.url {
			t.Errorf("resource %q", got)
		}
	}
	w := newWorld(t)
	w.challenge, w.issuer = "", "https://another.example"
	w.mcpDocs = map[string]any{serverAt: w.serverDoc()}
	if _, err := w.get(w.client(nil)); err == nil || !strings.Contains(err.Error(), "that of another") {
		t.Errorf("got %v", err)
	}
}

// Without any metadata, the endpoints are at their default paths.
func TestOldEndpoints(t *testing.T) {
	w := newWorld(t)
	w.challenge, w.mcpDocs, w.issuer = "", map[string]any{}, w.mcp.URL
	for _, path := range []string{"/authorize", "/token", "/register"} {
		w.mcpDocs[path] = func(rw http.ResponseWriter, r *http.Request) {
			r.URL.Path = path
			switch path {
			case "/authorize":
				w.serveAuthorize(rw, r)
			case "/token":
				w.serveToken(rw, r)
			default:
				w.serveRegister(rw, r)
			}
		}
	}
	w.ok(w.client(nil))
	if !slices.Contains(w.requests, "GET /authorize") {
		t.Errorf("requests %q", w.requests)
	}
}

// A server that has not demanded authorization is not mistaken for an old one.
func TestLoginWhereThereIsNone(t *testing.T) {
	w := newWorld(t)
	w.mcpDocs = map[string]any{"/mcp": func(http.ResponseWriter, *http.Request) {}}
	err := w.client(nil).Login(t.Context())
	if !errors.Is(err, mcp.ErrUnauthorized) || !strings.Contains(err.Error(), "nothing about authorization") {
		t.Errorf("got %v", err)
	}
}

func TestScopes(t *testing.T) {
	for name, tt := range map[string]struct {
		challenge string
		supported []string
		options   []string
		server    []string
		want      string
		absent    bool
	}{
		"challenge":              {challenge: `Bearer scope="a b"`, supported: []string{"c"}, want: "a b"},
		"supported":              {challenge: "Bearer", supported: []string{"c", "d"}, want: "c d"},
		"none":                   {challenge: "Bearer", absent: true},
		"options":                {challenge: "Bearer", supported: []string{"c"}, options: []string{"e"}, want: "e"},
		"options and challenge":  {challenge: `Bearer scope="a"`, options: []string{"e", "a"}, want: "a e"},
		"offline":                {challenge: `Bearer scope="a"`, server: []string{"a", "offline_access"}, want: "a offline_access"},
		"offline, not supported": {challenge: `Bearer scope="a"`, server: []string{"a"}, want: "a"},
	} {
		w := newWorld(t)
		w.challenge = tt.challenge
		d := w.resourceDoc()
		d["scopes_supported"] = tt.supported
		if tt.supported == nil {
			delete(d, "scopes_supported")
		}
		w.mcpDocs[resourceAt+"/mcp"] = d
		s := w.serverDoc()
		s["scopes_supported"] = append([]string{}, tt.server...)
		w.asDocs[serverAt] = s
		w.ok(w.client(nil, func(o *oauth.Options) { o.Scopes = tt.options }))
		if got := w.asked[0].Get("scope"); got != tt.want || w.asked[0].Has("scope") == tt.absent {
			t.Errorf("%s: asked for %q, want %q", name, got, tt.want)
		}
	}
}

// Of several authorization servers, the one that knows this client is used.
func TestChoice(t *testing.T) {
	w, second := newWorld(t), newWorld(t)
	d := w.resourceDoc()
	d["authorization_servers"] = []string{"https://as.example", second.issuer}
	w.mcpDocs[resourceAt+"/mcp"] = d
	second.token = func(url.Values) (int, doc) {
		w.set(func() { w.valid["secret-of-the-second"] = grant{scopes: []string{"read"}} })
		return 200, doc{"access_token": "secret-of-the-second", "token_type": "Bearer"}
	}
	w.ok(w.client(nil, func(o *oauth.Options) {
		o.PreRegistered = map[string]oauth.Credentials{second.issuer: {ClientID: "known"}}
	}))
	if len(second.asked) != 1 || second.asked[0].Get("client_id") != "known" || len(second.registered) != 0 {
		t.Errorf("asked %v, registered %v", second.asked, second.registered)
	}
}

// When the server moves to another authorization server, nothing of the first
// reaches the second.
func TestMigration(t *testing.T) {
	w, second := newWorld(t), newWorld(t)
	store := oauth.NewMemoryStore()
	c := w.client(nil, func(o *oauth.Options) { o.Store = store })
	w.ok(c)
	second.register = func(doc) (int, doc) { return 201, doc{"client_id": "of-the-second"} }
	w.set(func() {
		clear(w.valid)
		clear(w.refreshes)
		d := w.resourceDoc()
		d["authorization_servers"] = []string{second.issuer}
		w.mcpDocs[resourceAt+"/mcp"] = d
	})
	second.token = func(f url.Values) (int, doc) {
		w.set(func() { w.valid["secret-of-the-second"] = grant{scopes: []string{"read"}} })
		return 200, doc{"access_token": "secret-of-the-second", "token_type": "Bearer"}
	}
	// The scopes for the first server do not carry over to the second, either.
	w.challenge = strings.Replace(w.challenge, `"read"`, `"other"`, 1)
	w.ok(c)
	if len(second.registered) != 1 || second.asked[0].Get("client_id") != "of-the-second" || second.asked[0].Get("scope") != "other" {
		t.Errorf("registered %v, asked %v", second.registered, second.asked)
	}
	for _, f := range second.forms {
		if strings.Contains(f.Encode(), "client-1") || f.Has("refresh_token") {
			t.Errorf("the second got %v", f)
		}
	}
	if s := c.Status(t.Context()); s.Issuer != second.issuer {
		t.Errorf("status %+v", s)
	}
}

// A server that responds badly at one place may have its document at the next.
func TestDiscoveryGoesOn(t *testing.T) {
	for name, bad := range map[string]func(http.ResponseWriter, *http.Request){
		"error": func(rw http.ResponseWriter, _ *http.Request) { http.Error(rw, "no", http.StatusInternalServerError) },
		"redirect": func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, "https://login.example/", http.StatusFound)
		},
		"junk": func(rw http.ResponseWriter, _ *http.Request) {
			reply(rw, http.StatusOK, doc{"resource": 5, "issuer": 5})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.challenge = "Bearer"
			w.mcpDocs = map[string]any{"/.well-known/oauth-protected-resource/mcp": bad, "/.well-known/oauth-protected-resource": w.resourceDoc()}
			w.asDocs = map[string]any{"/.well-known/oauth-authorization-server": bad, "/.well-known/openid-configuration": w.serverDoc()}
			w.ok(w.client(nil))
			// Nothing is guessed about a server that has responded badly
			// everywhere.
			w.set(func() { w.mcpDocs["/.well-known/oauth-protected-resource"] = bad })
			if _, err := w.get(w.client(nil)); !errors.Is(err, mcp.ErrUnauthorized) {
				t.Errorf("got %v", err)
			}
			w.wantCount("GET /authorize", 1)
		})
	}
}
