package inspect

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/trouble"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// Whatever goes wrong in connecting has a name and a way out.
func TestTrouble(t *testing.T) {
	site := func(f http.HandlerFunc) string {
		s := httptest.NewServer(f)
		t.Cleanup(s.Close)
		return s.URL + "/mcp"
	}
	status := func(code int, header ...string) string {
		return site(func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
		})
	}
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	url := func(u string) map[string]any { return map[string]any{"url": u} }
	command := func(words ...string) map[string]any { return map[string]any{"args": words} }
	with := func(form map[string]any, name string, value any) map[string]any {
		form[name] = value
		return form
	}
	for name, tt := range map[string]struct {
		form map[string]any
		want trouble.Kind
		says string // in the message or the hint
	}{
		"no such command":      {command("parley-no-such-program"), trouble.CommandNotFound, "PATH"},
		"no such path":         {command("/no/such/program"), trouble.CommandNotFound, "PATH"},
		"no program":           {command(plain), trouble.NotExecutable, "executed"},
		"no such folder":       {with(command("sh"), "dir", "/no/such/folder"), trouble.NoFolder, "folder"},
		"exits":                {command("sh", "-c", "echo it is broken >&2; exit 3"), trouble.Exited, "exit status 3"},
		"refused":              {url("http://" + closedPort(t) + "/mcp"), trouble.ConnectionRefused, "port"},
		"unknown host":         {url("http://no-such-host.invalid/mcp"), trouble.UnknownHost, "host"},
		"certificate":          {url(secure.URL + "/mcp"), trouble.Untrusted, "certificate"},
		"http on https":        {url("https://" + strings.TrimPrefix(status(404), "http://")), trouble.NotTLS, "http://"},
		"a site for people":    {url(site(page)), trouble.NotMCP, "/mcp"},
		"401 without a scheme": {url(status(401)), trouble.NoLogin, "Authorization"},
		"401 with own header":  {with(url(status(401)), "headers", []namedSecret{{"Authorization", "Bearer x"}}), trouble.NeedsLogin, "does not take"},
		"401 of another kind":  {url(status(401, "WWW-Authenticate", "Basic realm=x")), trouble.NeedsLogin, "Authorization"},
		"403":                  {url(status(403)), trouble.Forbidden, "let this login"},
		"403 for scopes":       {url(status(403, "WWW-Authenticate", `Bearer error="insufficient_scope", scope="a b"`)), trouble.NeedsScope, "a b"},
		"404":                  {url(status(404)), trouble.NotThere, "/mcp"},
		"405":                  {url(status(405)), trouble.NotAllowed, "sse"},
		"429":                  {url(status(429)), trouble.TooMany, "fewer"},
		"500":                  {url(status(500)), trouble.Unavailable, "log"},
		"418":                  {url(status(418)), trouble.HTTP, "MCP server"},
		"to another host":      {url(status(307, "Location", "http://example.com/mcp")), trouble.Redirected, "http://example.com/mcp"},
		"to a page":            {url(status(302, "Location", "/login")), trouble.Redirected, "/login"},
		"another revision":     {with(url(stateless(t)), "revision", "2025-06-18"), trouble.RevisionRefused, "2026-07-28"},
		"the newest of old":    {with(url(old(t)), "revision", "2026-07-28"), trouble.NoRevision, "2026-07-28"},
		"a protocol error":     {url(site(refusal)), trouble.Refused, "traffic"},
		"refused params":       {url(site(invalid)), trouble.ParamsRefused, "revision"},
		"nonsense":             {url(site(nonsense)), trouble.Failed, "traffic"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, Options{})
			c := s.open(tt.form)
			if c.State != "failed" || c.Error == nil {
				t.Fatalf("state %s, error %v", c.State, c.Error)
			}
			if c.Error.Code != string(tt.want) || !strings.Contains(c.Error.Message+c.Error.Hint, tt.says) || c.Error.Hint == "" {
				t.Errorf("code %s, want %s\nmessage: %s\nhint: %s", c.Error.Code, tt.want, c.Error.Message, c.Error.Hint)
			}
		})
	}
}

// Every kind that connecting can end with has a way out.
func TestWaysOut(t *testing.T) {
	for kind, way := range waysOut {
		if way == "" || !strings.HasSuffix(way, ".") && !strings.HasSuffix(way, "?") {
			t.Errorf("%s: %q is no sentence", kind, way)
		}
	}
}

// What a command wrote before it ended is kept.
func TestLastWords(t *testing.T) {
	s := newStage(t, Options{})
	c := s.open(map[string]any{"args": []string{"sh", "-c", "echo one >&2; echo two >&2; exit 3"}})
	if !strings.HasSuffix(strings.Join(c.Stderr, "|"), "one|two") || strings.Contains(c.Error.Message, "last words") {
		t.Errorf("stderr %q, message %q", c.Stderr, c.Error.Message)
	}
}

// closedPort returns an address at which nothing listens.
func closedPort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func page(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	_, _ = io.WriteString(w, "<html><body>Welcome</body></html>")
}

// answerWith answers each request with an error.
func answerWith(w http.ResponseWriter, r *http.Request, rest string) {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+rest)
}

func refusal(w http.ResponseWriter, r *http.Request) {
	answerWith(w, r, `,"error":{"code":-32603,"message":"no"}}`)
}

func invalid(w http.ResponseWriter, r *http.Request) {
	answerWith(w, r, `,"error":{"code":-32602,"message":"no"}}`)
}

func nonsense(w http.ResponseWriter, r *http.Request) { answerWith(w, r, `,"result":7}`) }

// stateless returns the URL of a server that has no sessions, and old that of one that has.
func stateless(t *testing.T) string { return speaking(t, "2026-07-28") }
func old(t *testing.T) string       { return speaking(t, "2025-06-18") }

func speaking(t *testing.T, revision string) string {
	r, _ := mcp.ParseRevision(revision)
	only := &server.Options{Revisions: []mcp.Revision{r}}
	h, err := streamable.New(server.New(mcp.Implementation{Name: "new", Version: "1"}, only), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}
