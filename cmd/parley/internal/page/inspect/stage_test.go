package inspect

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/stdio"
)

// asServer makes this test program an MCP server over standard input and output.
const asServer = "PARLEY_TEST_SERVER"

// serveTest is that server.
func serveTest() {
	_, _ = os.Stderr.WriteString("ready to serve\n")
	if err := stdio.Serve(context.Background(), newTestServer(), nil); err != nil {
		os.Exit(1)
	}
}

// newTestServer returns a server with a tool.
func newTestServer() *server.Server {
	s := server.New(mcp.Implementation{Name: "stage", Title: "A stage", Version: "1"}, &server.Options{Instructions: "Say something."})
	server.AddTool(s, mcp.Tool{Name: "echo"}, func(_ context.Context, _ *server.Call, in struct {
		Text string `json:"text"`
	},
	) (string, error) {
		return in.Text, nil
	})
	server.AddTool(s, mcp.Tool{Name: "exit"}, func(context.Context, *server.Call, struct{}) (string, error) {
		os.Exit(7)
		return "", nil
	})
	return s
}

// stage is a Server behind its API, and a visitor of it.
type stage struct {
	*testing.T
	server      *Server
	api         http.Handler
	cookie, key string
}

// newStage returns a stage whose server is closed when the test ends.
func newStage(t *testing.T, o Options) *stage {
	o.Hub, o.Dir, o.Logger = new(web.Hub), t.TempDir(), mcptest.Quiet()
	o.Client = mcp.Implementation{Name: "inspect-test", Version: "1"}
	s := New(o)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	door := web.NewDoor(web.DoorOptions{Hosts: []string{"example.com"}})
	api := web.NewAPI(door, o.Hub)
	s.Routes(api)
	entered := httptest.NewRecorder()
	key := door.Enter(entered, web.Visitor{Role: web.Operator})
	return &stage{t, s, api, entered.Header().Get("Set-Cookie"), key}
}

// call calls the API. body is nil or becomes JSON.
func (s *stage) call(method, path string, body any) (int, []byte) {
	s.Helper()
	var in bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&in).Encode(body); err != nil {
			s.Fatal(err)
		}
	}
	r := httptest.NewRequestWithContext(s.Context(), method, "/api/v1"+path, &in)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Parley-Key", s.key)
	r.Header.Set("Cookie", strings.Split(s.cookie, ";")[0])
	w := httptest.NewRecorder()
	s.api.ServeHTTP(w, r)
	return w.Code, w.Body.Bytes()
}

// must calls the API, which must succeed, and decodes the answer.
func must[T any](s *stage, method, path string, body any) T {
	s.Helper()
	status, answer := s.call(method, path, body)
	if status/100 != 2 {
		s.Fatalf("%s %s: status %d: %s", method, path, status, answer)
	}
	var v T
	if len(answer) > 0 {
		if err := json.Unmarshal(answer, &v); err != nil {
			s.Fatalf("%s %s: %v: %s", method, path, err, answer)
		}
	}
	return v
}

// refused calls the API, which must fail, and returns why.
func (s *stage) refused(method, path string, body any) web.Error {
	s.Helper()
	status, answer := s.call(method, path, body)
	var v struct {
		Error web.Error `json:"error"`
	}
	if err := json.Unmarshal(answer, &v); err != nil || status/100 == 2 || v.Error.Message == "" {
		s.Fatalf("%s %s: status %d, want an error: %s", method, path, status, answer)
	}
	v.Error.Status = status
	return v.Error
}

// said is a connection as the API shows it, as far as tests look at it.
type said struct {
	ID, Title, State, Revision, Transport, Session, Instructions string

	Target struct {
		Kind, Text, URL, Dir string
		Command              []string
		Env, Headers         []namedSecret
		Entry                *shownEntry
	}
	Asked        struct{ Transport, Revision string }
	Error        *web.Error
	Server       json.RawMessage
	Capabilities json.RawMessage
	Features     []string
	Stderr       []string
	Counts       map[string]int
}

// settled waits until a connection is neither connecting nor waiting for a login.
func (s *stage) settled(id string) said {
	s.Helper()
	return s.until(id, func(c said) bool { return c.State != string(connecting) && c.State != string(loggingIn) })
}

// until waits until a connection is as wanted.
func (s *stage) until(id string, wanted func(said) bool) said {
	s.Helper()
	c := s.server.byID(id)
	if c == nil {
		s.Fatalf("there is no connection %s", id)
	}
	for {
		next := c.next()
		if now := must[said](s, "GET", "/connections/"+id, nil); wanted(now) {
			return now
		}
		select {
		case <-next:
		case <-s.Context().Done():
			s.Fatal("the test ended first")
		}
	}
}

// open connects and waits until that has succeeded or failed.
func (s *stage) open(form map[string]any) said {
	s.Helper()
	return s.settled(must[said](s, "POST", "/connections", form).ID)
}

// itself is the form for connecting to this program as a server.
func itself(t *testing.T) map[string]any {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]any{"args": []string{program, "-test.run=^$"}, "env": []namedSecret{{asServer, "yes"}}}
}
