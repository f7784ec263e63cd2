package auth_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/auth"
	"github.com/parley-mcp/parley/internal/challenge"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// site is a protected MCP server on the loopback.
type site struct {
	t   *testing.T
	i   *issuer
	g   *auth.Guard
	log *journal
	url string
}

var siteRules = auth.Rules{
	Tools:     map[string][]string{"delete": {"files:write", "files:delete"}},
	Prompts:   map[string][]string{"plan": {"plan"}},
	Resources: map[string][]string{"file:///secret/*": {"secret"}, "note://{id}": {"notes"}},
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, i: newIssuer(t)}
	web := httptest.NewUnstartedServer(nil)
	s.url = "http://" + web.Listener.Addr().String() + "/mcp"
	s.g, s.log = s.i.guard(t, func(o *auth.Options) {
		o.Resource, o.Rules, o.Implies = s.url, siteRules, map[string][]string{"files": {"files:write", "files:delete"}}
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
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
		web.Close()
	})
	return s
}

func (s *site) server() *server.Server {
	srv := server.New(mcp.Implementation{Name: "files", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), Visible: s.g.Visible})
	srv.Use(s.g.Enforce)
	server.AddTool(srv, mcp.Tool{Name: "whoami"}, func(_ context.Context, call *server.Call, _ struct{}) (string, error) {
		a := call.Peer().Authorization
		return fmt.Sprint(a.Subject, " by ", a.ClientID, " with ", strings.Join(a.Scopes, " ")), nil
	})
	server.AddTool(srv, mcp.Tool{Name: "delete"}, func(context.Context, *server.Call, struct{}) (string, error) { return "deleted", nil })
	server.AddTool(srv, mcp.Tool{Name: "open"}, func(_ context.Context, call *server.Call, in struct {
		Mode string `json:"mode"`
	},
	) (string, error) {
		if in.Mode == "w" {
			if err := s.g.Require(call.Exchange(), "files:write"); err != nil {
				return "", fmt.Errorf("cannot open: %w", err)
			}
		}
		return "open for " + in.Mode, nil
	})
	server.AddTool(srv, mcp.Tool{Name: "sign"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		answer, err := server.Elicit[struct {
			Name string `json:"name"`
		}](ctx, call, "name", "Who signs?")
		return "signed by " + answer.Name, err
	})
	read := func(_ context.Context, _ *server.Call, uri string) (*mcp.ReadResourceResult, error) {
		return server.Contents(mcp.TextResource(uri, "text/plain", "contents of "+uri)), nil
	}
	srv.AddResource(mcp.Resource{Name: "public", URI: "file:///public"}, read)
	srv.AddResource(mcp.Resource{Name: "secret", URI: "file:///secret/x"}, read)
	server.AddTemplate(srv, mcp.ResourceTemplate{Name: "notes", URITemplate: "note://{id}"},
		func(ctx context.Context, call *server.Call, uri string, _ map[string]string) (*mcp.ReadResourceResult, error) {
			return read(ctx, call, uri)
		})
	server.AddPrompt(srv, mcp.Prompt{Name: "plan"}, func(context.Context, *server.Call, struct{}) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.Text("the plan")}}}, nil
	})
	return srv
}

func (s *site) token(sub, scope string) string {
	return s.i.token(s.t, map[string]any{"aud": s.url, "sub": sub, "scope": scope})
}

// response is an HTTP response whose body has been read.
type response struct {
	status int
	header http.Header
	body   string
}

func (s *site) send(method, token, body string, headers ...string) response {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	c := &http.Client{Transport: &http.Transport{}}
	defer c.CloseIdleConnections()
	resp, err := c.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response{resp.StatusCode, resp.Header, string(b)}
}

// caller calls a method in one of the eras.
type caller func(token, method, name, params string) response

// eras returns how to call the site in both eras.
func (s *site) eras() map[string]caller {
	sessions := map[string]string{} // by token
	return map[string]caller{
		"session": func(token, method, _, params string) response {
			id := sessions[token]
			if id == "" {
				id = s.open(token)
				sessions[token] = id
			}
			return s.send("POST", token, fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":%q,"params":{%s}}`, method, params), "Mcp-Session-Id", id)
		},
		"stateless": func(token, method, name, params string) response {
			meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
			if params != "" {
				params += ","
			}
			headers := []string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method}
			if name != "" {
				headers = append(headers, "Mcp-Name", name)
			}
			return s.send("POST", token, fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":%q,"params":{%s%s}}`, method, params, meta), headers...)
		},
	}
}

func (s *site) open(token string) string {
	s.t.Helper()
	r := s.send("POST", token, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	if r.status != 200 {
		s.t.Fatalf("initialize: %+v", r)
	}
	return r.header.Get("Mcp-Session-Id")
}

// forbidden fails unless a response is a 403 that demands scopes.
func (s *site) forbidden(name string, r response, scopes string) {
	s.t.Helper()
	all := challenge.Parse(r.header.Values("WWW-Authenticate"))
	if r.status != 403 || len(all) != 1 || !all[0].Is("Bearer") || all[0].Get("error") != "insufficient_scope" ||
		all[0].Get("scope") != scopes || all[0].Get("resource_metadata") != s.g.MetadataURL() || all[0].Get("error_description") == "" {
		s.t.Errorf("%s: %d %v %s, want the scopes %q", name, r.status, r.header, r.body, scopes)
	}
	if !strings.Contains(r.body, `"id":2`) || !strings.Contains(r.body, `"error":`) || strings.Contains(r.body, "isError") {
		s.t.Errorf("%s: the body is no error of the request: %s", name, r.body)
	}
}

func TestStepUp(t *testing.T) {
	s := newSite(t)
	for era, call := range s.eras() {
		plain, writer := s.token("ann", "mcp"), s.token("ann", "mcp files:write")
		for name, tt := range map[string]struct {
			token, method, name, params, needs string
		}{
			"rule":             {plain, "tools/call", "delete", `"name":"delete","arguments":{}`, "mcp files:write files:delete"},
			"one of two":       {writer, "tools/call", "delete", `"name":"delete","arguments":{}`, "mcp files:write files:delete"},
			"in the handler":   {plain, "tools/call", "open", `"name":"open","arguments":{"mode":"w"}`, "mcp files:write"},
			"prompt":           {plain, "prompts/get", "plan", `"name":"plan"`, "mcp plan"},
			"resource":         {plain, "resources/read", "file:///secret/x", `"uri":"file:///secret/x"`, "mcp secret"},
			"template":         {plain, "resources/read", "note://7", `"uri":"note://7"`, "mcp notes"},
			"another spelling": {plain, "resources/read", "FILE:///public/../%73ecret/x", `"uri":"FILE:///public/../%73ecret/x"`, "mcp secret"},
			"completion":       {plain, "completion/complete", "", `"ref":{"type":"ref/prompt","name":"plan"},"argument":{"name":"a","value":""}`, "mcp plan"},
		} {
			s.forbidden(era+", "+name, call(tt.token, tt.method, tt.name, tt.params), tt.needs)
		}
		for name, tt := range map[string]struct {
			scope, method, name, params, want string
		}{
			"rule":       {"mcp files:write files:delete", "tools/call", "delete", `"name":"delete","arguments":{}`, "deleted"},
			"broader":    {"mcp files", "tools/call", "delete", `"name":"delete","arguments":{}`, "deleted"},
			"in handler": {"mcp files:write", "tools/call", "open", `"name":"open","arguments":{"mode":"w"}`, "open for w"},
			"no need":    {"mcp", "tools/call", "open", `"name":"open","arguments":{"mode":"r"}`, "open for r"},
			"resource":   {"mcp secret", "resources/read", "file:///secret/x", `"uri":"file:///secret/x"`, "contents of file:///secret/x"},
			"template":   {"mcp notes", "resources/read", "note://7", `"uri":"note://7"`, "contents of note://7"},
			"prompt":     {"mcp plan", "prompts/get", "plan", `"name":"plan"`, "the plan"},
			"identity":   {"mcp", "tools/call", "whoami", `"name":"whoami","arguments":{}`, "ann by desktop with mcp"},
		} {
			if r := call(s.token("ann", tt.scope), tt.method, tt.name, tt.params); r.status != 200 || !strings.Contains(r.body, tt.want) || r.header.Get("WWW-Authenticate") != "" {
				t.Errorf("%s, %s: %+v", era, name, r)
			}
		}
	}
}

// The scopes in a session are those of each request's own token.
func TestScopesMayGrowAndShrinkInASession(t *testing.T) {
	s := newSite(t)
	plain, files := s.token("ann", "mcp"), s.token("ann", "mcp files")
	id := s.open(plain)
	body := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"delete","arguments":{}}}`
	s.forbidden("first", s.send("POST", plain, body, "Mcp-Session-Id", id), "mcp files:write files:delete")
	if r := s.send("POST", files, body, "Mcp-Session-Id", id); r.status != 200 || !strings.Contains(r.body, "deleted") {
		t.Errorf("stepped up: %+v", r)
	}
	s.forbidden("again", s.send("POST", plain, body, "Mcp-Session-Id", id), "mcp files:write files:delete")
}

func TestListsShowWhatMayBeUsed(t *testing.T) {
	s := newSite(t)
	for era, call := range s.eras() {
		for method, hidden := range map[string]struct{ what, scope string }{
			"tools/list": {`"delete"`, "files"}, "prompts/list": {`"plan"`, "plan"},
			"resources/list": {`"file:///secret/x"`, "secret"}, "resources/templates/list": {`"note://{id}"`, "notes"},
		} {
			without, with := call(s.token("ann", "mcp"), method, "", ""), call(s.token("ann", "mcp "+hidden.scope), method, "", "")
			if without.status != 200 || strings.Contains(without.body, hidden.what) {
				t.Errorf("%s, %s without %s: %+v", era, method, hidden.scope, without)
			}
			if !strings.Contains(with.body, hidden.what) {
				t.Errorf("%s, %s with %s: %+v", era, method, hidden.scope, with)
			}
		}
	}
}

func TestStolenSession(t *testing.T) {
	s := newSite(t)
	ann, bob := s.token("ann", "mcp"), s.token("bob", "mcp files")
	id := s.open(ann)
	for method, body := range map[string]string{"POST": `{"jsonrpc":"2.0","id":2,"method":"ping"}`, "GET": "", "DELETE": ""} {
		if r := s.send(method, bob, body, "Mcp-Session-Id", id); r.status != 404 {
			t.Errorf("%s with another's token: %+v", method, r)
		}
		if r := s.send(method, "", body, "Mcp-Session-Id", id); r.status != 401 {
			t.Errorf("%s without a token: %+v", method, r)
		}
	}
	if r := s.send("POST", ann, `{"jsonrpc":"2.0","id":2,"method":"ping"}`, "Mcp-Session-Id", id); r.status != 200 {
		t.Errorf("the owner: %+v", r)
	}
	for _, secret := range []string{ann, bob} {
		if strings.Contains(s.log.String(), secret) {
			t.Error("the log holds a token")
		}
	}
}

// Spec: 2026-07-28 client/elicitation#security-considerations (1).
// What one OAuth client of a user was asked, another client of the same user
// cannot answer, in either era.
func TestAnotherClientOfTheUser(t *testing.T) {
	s := newSite(t)
	by := func(client string) string {
		return s.i.token(t, map[string]any{"aud": s.url, "sub": "ann", "client_id": client})
	}
	id := s.open(by("desktop"))
	ping := `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	if r := s.send("POST", by("desktop"), ping, "Mcp-Session-Id", id); r.status != 200 {
		t.Errorf("the client of the session: %+v", r)
	}
	if r := s.send("POST", by("phone"), ping, "Mcp-Session-Id", id); r.status != 404 {
		t.Errorf("another client: %+v", r)
	}
	sign := func(client, members string) response {
		t.Helper()
		return s.send("POST", by(client), `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"sign","arguments":{},`+members+
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`,
			"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "sign")
	}
	var asked struct {
		Result struct{ RequestState string }
	}
	if r := sign("desktop", ""); json.Unmarshal([]byte(r.body), &asked) != nil || asked.Result.RequestState == "" {
		t.Fatalf("not asked: %+v", r)
	}
	answer := fmt.Sprintf(`"requestState":%q,"inputResponses":{"name":{"action":"accept","content":{"name":"Ann"}}},`, asked.Result.RequestState)
	if r := sign("phone", answer); !strings.Contains(r.body, "-32602") || strings.Contains(r.body, "signed") {
		t.Errorf("another client answered: %+v", r)
	}
	if r := sign("desktop", answer); !strings.Contains(r.body, "signed by Ann") {
		t.Errorf("the client that was asked: %+v", r)
	}
}
