package auth_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/auth"
	"github.com/parley-mcp/parley/internal/challenge"
	"github.com/parley-mcp/parley/mcp"
)

// try sends a request with headers in pairs through a Guard.
func try(t testing.TB, g *auth.Guard, target string, headers ...string) (*httptest.ResponseRecorder, *seen) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader("{}"))
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w, s := httptest.NewRecorder(), new(seen)
	g.Protect(s).ServeHTTP(w, r)
	return w, s
}

// challengeOf returns the challenge of a scheme in a response.
func challengeOf(t testing.TB, w *httptest.ResponseRecorder, scheme string) *challenge.Challenge {
	t.Helper()
	for _, c := range challenge.Parse(w.Header().Values("WWW-Authenticate")) {
		if c.Is(scheme) {
			return &c
		}
	}
	t.Fatalf("no %s challenge in %q", scheme, w.Header().Values("WWW-Authenticate"))
	return nil
}

func TestProtect(t *testing.T) {
	i := newIssuer(t)
	g, _ := i.guard(t, nil)
	token := i.token(t, nil)
	for _, scheme := range []string{"Bearer ", "bearer ", "BEARER  "} {
		w, s := try(t, g, "/mcp", "Authorization", scheme+token, "X-Other", "stays")
		if w.Code != 200 || s.calls != 1 {
			t.Fatalf("%s: %d %s", scheme, w.Code, w.Body)
		}
		if s.who.Principal() != issuerURL+" user ann" || s.who.ClientID != "desktop" || !strings.Contains(string(s.who.Claims), `"sub":"ann"`) {
			t.Errorf("who: %+v", s.who)
		}
		if s.header.Get("Authorization") != "" || s.header.Get("DPoP") != "" || s.header.Get("X-Other") != "stays" {
			t.Errorf("headers passed on: %v", s.header)
		}
	}
}

func TestNoCredentials(t *testing.T) {
	g, _ := newIssuer(t).guard(t, nil)
	for name, headers := range map[string][]string{
		"nothing":        nil,
		"another scheme": {"Authorization", "Basic YTpi"},
		"DPoP, off":      {"Authorization", "DPoP abc", "DPoP", "x"},
	} {
		w, s := try(t, g, "/mcp", headers...)
		c := challengeOf(t, w, "Bearer")
		if w.Code != 401 || s.calls != 0 || c.Get("error") != "" || c.Get("error_description") != "" {
			t.Errorf("%s: %d, %+v", name, w.Code, c)
		}
		if c.Get("scope") != "mcp" || c.Get("resource_metadata") != "https://mcp.example.com/.well-known/oauth-protected-resource/mcp" {
			t.Errorf("%s: %+v", name, c)
		}
		if got := w.Body.String(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","error":{`) || strings.Contains(got, `"id"`) {
			t.Errorf("%s: body %s", name, got)
		}
		if w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: the refusal can be cached", name)
		}
	}
}

func TestMalformedCredentials(t *testing.T) {
	i := newIssuer(t)
	g, log := i.guard(t, nil)
	token := i.token(t, nil)
	bearer := "Bearer " + token
	for name, tt := range map[string]struct {
		target  string
		headers []string
		want    string
	}{
		"two headers":    {"/mcp", []string{"Authorization", bearer, "Authorization", bearer}, "more than once"},
		"two kinds":      {"/mcp", []string{"Authorization", bearer, "Authorization", "Basic YTpi"}, "more than once"},
		"two in one":     {"/mcp", []string{"Authorization", bearer + ", " + bearer}, "one access token"},
		"no token":       {"/mcp", []string{"Authorization", "Bearer"}, "one access token"},
		"only a space":   {"/mcp", []string{"Authorization", "Bearer "}, "one access token"},
		"two words":      {"/mcp", []string{"Authorization", "Bearer a b"}, "one access token"},
		"not a token":    {"/mcp", []string{"Authorization", "Bearer é"}, "one access token"},
		"too long":       {"/mcp", []string{"Authorization", "Bearer " + strings.Repeat("a", 17<<10)}, "16 KiB"},
		"query":          {"/mcp?access_token=" + token, nil, "query string"},
		"query and more": {"/mcp?x=1&access_token=" + token, []string{"Authorization", bearer}, "query string"},
		"query, encoded": {"/mcp?x=1;acces%73_token=" + token, []string{"Authorization", bearer}, "query string"},
		"query, case":    {"/mcp?Access_Token=" + token, []string{"Authorization", bearer}, "query string"},
	} {
		w, s := try(t, g, tt.target, tt.headers...)
		c := challengeOf(t, w, "Bearer")
		if w.Code != 400 || s.calls != 0 || c.Get("error") != "invalid_request" || !strings.Contains(c.Get("error_description"), tt.want) {
			t.Errorf("%s: %d, %+v", name, w.Code, c)
		}
		if strings.Contains(w.Body.String(), token) {
			t.Errorf("%s: the token is in the answer", name)
		}
	}
	if strings.Contains(log.String(), token) || strings.Contains(log.String(), strings.Split(token, ".")[2]) {
		t.Error("the log holds a token")
	}
}

func TestUnfitTokens(t *testing.T) {
	i := newIssuer(t)
	for name, tt := range map[string]struct {
		token *auth.Token
		want  string
	}{
		"good":            {&auth.Token{Authorization: mcp.Authorization{Subject: "a", Scopes: []string{"mcp"}}, Audience: []string{resource}}, ""},
		"good issuer":     {&auth.Token{Authorization: mcp.Authorization{Issuer: issuerURL, ClientID: "c", Scopes: []string{"mcp"}}, Audience: []string{"x", resource}}, ""},
		"no audience":     {&auth.Token{Authorization: mcp.Authorization{Subject: "a", Scopes: []string{"mcp"}}}, "not for this resource"},
		"wrong audience":  {&auth.Token{Authorization: mcp.Authorization{Subject: "a"}, Audience: []string{resource + "2"}}, "not for this resource"},
		"wrong issuer":    {&auth.Token{Authorization: mcp.Authorization{Issuer: issuerURL + "/", Subject: "a"}, Audience: []string{resource}}, "another issuer"},
		"expired":         {&auth.Token{Authorization: mcp.Authorization{Subject: "a", Expires: time.Now()}, Audience: []string{resource}}, "expired"},
		"nobody":          {&auth.Token{Audience: []string{resource}}, "neither a user nor a client"},
		"bound, DPoP off": {&auth.Token{Authorization: mcp.Authorization{Subject: "a"}, Audience: []string{resource}, KeyThumbprint: "x"}, "bound to a key"},
	} {
		g, _ := i.guard(t, func(o *auth.Options) {
			o.Verifier = auth.VerifierFunc(func(context.Context, string) (*auth.Token, error) { return tt.token, nil })
		})
		w, s := try(t, g, "/mcp", "Authorization", "Bearer secret")
		if tt.want == "" {
			if w.Code != 200 || s.who.Issuer != issuerURL {
				t.Errorf("%s: %d %s", name, w.Code, w.Body)
			}
			continue
		}
		c := challengeOf(t, w, "Bearer")
		if w.Code != 401 || s.calls != 0 || c.Get("error") != "invalid_token" || !strings.Contains(c.Get("error_description"), tt.want) {
			t.Errorf("%s: %d %+v, want %q", name, w.Code, c, tt.want)
		}
	}
}

func TestAudience(t *testing.T) {
	i := newIssuer(t)
	g, _ := i.guard(t, func(o *auth.Options) { o.Audiences = []string{"api://parley"} })
	for _, tt := range []struct {
		aud  any
		good bool
	}{
		{resource, true},
		{resource + "/", true},
		{"HTTPS://MCP.Example.com:443/mcp", true},
		{[]string{"https://other.example.com", resource}, true},
		{"api://parley", true},
		{"api://parley/", false},
		{"https://mcp.example.com", false},
		{"https://mcp.example.com/MCP", false},
		{"https://mcp.example.com/mcp/x", false},
		{"https://mcp.example.com/mcp?x", false},
		{"https://mcp.example.com/mcp#", false},
		{"http://mcp.example.com/mcp", false},
		{"https://mcp.example.com.evil.example/mcp", false},
		{"https://u@mcp.example.com/mcp", false},
		{[]string{}, false},
		{nil, false},
	} {
		w, _ := try(t, g, "/mcp", "Authorization", "Bearer "+i.token(t, map[string]any{"aud": tt.aud}))
		if (w.Code == 200) != tt.good {
			t.Errorf("aud %v: %d %s", tt.aud, w.Code, w.Body)
		}
	}
}

func TestScopesOfEveryRequest(t *testing.T) {
	i := newIssuer(t)
	g, _ := i.guard(t, func(o *auth.Options) {
		o.Scopes = []string{"read", "list"}
		o.Implies = map[string][]string{"admin": {"write"}, "write": {"read", "admin"}}
	})
	for scope, status := range map[string]int{"read list": 200, "list read x": 200, "admin list": 200, "write list": 200, "read": 403, "admin": 403, "": 403} {
		w, _ := try(t, g, "/mcp", "Authorization", "Bearer "+i.token(t, map[string]any{"scope": scope}))
		if w.Code != status {
			t.Errorf("%q: %d, want %d", scope, w.Code, status)
		}
		if status == 403 {
			c := challengeOf(t, w, "Bearer")
			if c.Get("error") != "insufficient_scope" || c.Get("scope") != "read list" || c.Get("resource_metadata") == "" {
				t.Errorf("%q: %+v", scope, c)
			}
		}
	}
}

// A failure that is not the token's fault causes no challenge, and its reason
// is not sent.
func TestVerifierInTrouble(t *testing.T) {
	i := newIssuer(t)
	for name, f := range map[string]auth.VerifierFunc{
		"error": func(context.Context, string) (*auth.Token, error) {
			return nil, errors.New("database at 10.0.0.7 is down")
		},
		"nothing": func(context.Context, string) (*auth.Token, error) { return nil, nil },
	} {
		g, log := i.guard(t, func(o *auth.Options) { o.Verifier = f })
		w, s := try(t, g, "/mcp", "Authorization", "Bearer secret")
		if w.Code != 503 || s.calls != 0 || w.Header().Get("Retry-After") == "" || w.Header().Get("WWW-Authenticate") != "" || strings.Contains(w.Body.String(), "10.0.0.7") {
			t.Errorf("%s: %d %v %s", name, w.Code, w.Header(), w.Body)
		}
		if strings.Contains(log.String(), "secret") || !strings.Contains(log.String(), "token not verified") {
			t.Errorf("%s: log: %s", name, log)
		}
	}
}

func TestAnyOf(t *testing.T) {
	i, other := newIssuer(t), newIssuer(t)
	other.url = "https://other.example.com"
	other.reply("https://other.example.com/.well-known/oauth-authorization-server", `{"issuer":"https://other.example.com","jwks_uri":"`+issuerURL+`/keys"}`)
	both := auth.AnyOf(i.jwt(t, nil), other.jwt(t, nil))
	g, _ := i.guard(t, func(o *auth.Options) {
		o.AuthorizationServers, o.Verifier = []string{i.url, other.url}, both
	})
	for name, token := range map[string]string{"first": i.token(t, nil), "second": other.token(t, nil)} {
		if w, s := try(t, g, "/mcp", "Authorization", "Bearer "+token); w.Code != 200 || !strings.HasSuffix(s.who.Principal(), " user ann") {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	// The same claims, signed with the other issuer's key.
	i.key = other.key
	if w, _ := try(t, g, "/mcp", "Authorization", "Bearer "+i.token(t, nil)); w.Code != 401 {
		t.Errorf("mixed up: %d", w.Code)
	}
	other.setDown(true)
	late, _ := i.guard(t, func(o *auth.Options) {
		o.AuthorizationServers, o.Verifier = []string{i.url, other.url}, auth.AnyOf(i.jwt(t, nil), other.jwt(t, nil))
	})
	if w, _ := try(t, late, "/mcp", "Authorization", "Bearer "+other.token(t, nil)); w.Code != 503 {
		t.Errorf("of one that is down: %d, want 503", w.Code)
	}
}

func TestOptions(t *testing.T) {
	i := newIssuer(t)
	for name, tt := range map[string]struct {
		change func(*auth.Options)
		want   string
	}{
		"no resource":        {func(o *auth.Options) { o.Resource = "" }, "Resource"},
		"no scheme":          {func(o *auth.Options) { o.Resource = "mcp.example.com" }, "http or https URL"},
		"fragment":           {func(o *auth.Options) { o.Resource += "#x" }, "fragment"},
		"empty fragment":     {func(o *auth.Options) { o.Resource += "#" }, "fragment"},
		"query":              {func(o *auth.Options) { o.Resource += "?x" }, "query"},
		"clear text":         {func(o *auth.Options) { o.Resource = "http://mcp.example.com" }, "must be https"},
		"user":               {func(o *auth.Options) { o.Resource = "https://u:p@mcp.example.com" }, "user name"},
		"no servers":         {func(o *auth.Options) { o.AuthorizationServers = nil }, "AuthorizationServers"},
		"server, clear text": {func(o *auth.Options) { o.AuthorizationServers = []string{"http://login.example.com"} }, "must be https"},
		"no verifier":        {func(o *auth.Options) { o.Verifier = nil }, "Verifier"},
		"scope":              {func(o *auth.Options) { o.Scopes = []string{"a b"} }, `"a b" is not a scope`},
		"offline_access":     {func(o *auth.Options) { o.ScopesSupported = []string{"offline_access"} }, "a resource does not ask"},
		"implied scope":      {func(o *auth.Options) { o.Implies = map[string][]string{"a": {""}} }, "Implies"},
		"policy":             {func(o *auth.Options) { o.DPoP = 9 }, "DPoP is 9"},
		"nonces":             {func(o *auth.Options) { o.DPoPNonces = true }, "DPoP is off"},
		"audience":           {func(o *auth.Options) { o.Audiences = []string{""} }, "Audiences"},
		"rule's scope":       {func(o *auth.Options) { o.Rules.Tools = map[string][]string{"t": {"a\"b"}} }, `Rules.Tools["t"]`},
		"rule nobody keeps":  {func(o *auth.Options) { o.Rules.Methods = map[string][]string{"initialize": {"a"}} }, "do not reach Enforce"},
		"rule's template":    {func(o *auth.Options) { o.Rules.Resources = map[string][]string{"x:{": {"a"}} }, "Rules.Resources"},
		"rule's URI":         {func(o *auth.Options) { o.Rules.Resources = map[string][]string{"/etc": {"a"}} }, "no scheme"},
		"loopback":           {func(o *auth.Options) { o.Resource = "http://127.0.0.1:8080/mcp" }, ""},
	} {
		o := auth.Options{Resource: resource, AuthorizationServers: []string{issuerURL}, Verifier: i.jwt(t, nil)}
		tt.change(&o)
		_, err := auth.New(&o)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	if _, err := auth.New(nil); err == nil || !strings.Contains(err.Error(), "Resource") {
		t.Errorf("no options: %v", err)
	}
}

// A token gets past a Guard only if its options say so, and then nothing shows it.
func TestKeepTokens(t *testing.T) {
	i := newIssuer(t)
	token := i.token(t, nil)
	closed, _ := i.guard(t, nil)
	if _, s := try(t, closed, "/mcp", "Authorization", "Bearer "+token); s.calls != 1 || auth.AccessToken(s.who) != "" {
		t.Error("the token got past a Guard that keeps none")
	}
	open, _ := i.guard(t, func(o *auth.Options) { o.KeepTokens = true })
	_, s := try(t, open, "/mcp", "Authorization", "Bearer "+token)
	if auth.AccessToken(s.who) != token || s.header.Get("Authorization") != "" {
		t.Fatal("the token was not kept, or is still in the header")
	}
	var out strings.Builder
	slog.New(slog.NewTextHandler(&out, nil)).Info("who", "who", s.who, "value", *s.who)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("who", "who", s.who)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		fmt.Fprintf(&out, verb+verb, s.who, *s.who)
	}
	encoded, err := json.Marshal(s.who)
	if err != nil {
		t.Fatal(err)
	}
	signature := token[strings.LastIndex(token, ".")+1:]
	for _, secret := range []string{signature, fmt.Sprintf("%x", signature)} {
		if strings.Contains(out.String()+string(encoded), secret) {
			t.Error("the token is shown")
		}
	}
}
