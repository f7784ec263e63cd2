package streamable

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// posted is a request as a scripted server sees it.
type posted struct {
	*http.Request
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Err    json.RawMessage `json:"error"`
	w      http.ResponseWriter
	sent   []byte
}

// result answers with a JSON object.
func (p *posted) result(result string) { p.object(200, `"result":`+result) }

func (p *posted) object(status int, member string) {
	p.w.Header().Set("Content-Type", "application/json")
	p.w.WriteHeader(status)
	fmt.Fprintf(p.w, `{"jsonrpc":"2.0","id":%s,%s}`, p.ID, member)
}

// events writes pieces of an event stream verbatim.
func (p *posted) events(pieces ...string) {
	p.w.Header().Set("Content-Type", "text/event-stream")
	for _, s := range pieces {
		_, _ = io.WriteString(p.w, s)
	}
	p.w.(http.Flusher).Flush()
}

// answer is the event of a response to this request.
func (p *posted) answer(result string) string {
	return fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", p.ID, result)
}

// note is the event of a notification.
func note(n int) string {
	return fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/n\",\"params\":{\"n\":%d}}\n\n", n)
}

// scripted serves a script: a function that gets every request.
func scripted(t *testing.T, script func(p *posted)) *httptest.Server {
	t.Helper()
	current := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, current) })
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		p := &posted{Request: r, w: w}
		p.sent = body
		if len(body) > 0 && body[0] == '{' {
			var m struct {
				ID     json.RawMessage `json:"id"`
				Method string          `json:"method"`
				Params json.RawMessage `json:"params"`
				Result json.RawMessage `json:"result"`
				Err    json.RawMessage `json:"error"`
			}
			if err := json.Unmarshal(body, &m); err != nil {
				t.Errorf("the client sent %q: %v", body, err)
			}
			p.ID, p.Method, p.Params, p.Result, p.Err = m.ID, m.Method, m.Params, m.Result, m.Err
		}
		script(p)
	}))
	t.Cleanup(s.Close)
	return s
}

// ear is a receiver that remembers what it receives.
type ear struct {
	notes   chan *jsonrpc.Message
	request func(ctx context.Context, m *jsonrpc.Message) (any, *jsonrpc.Error)
}

func newEar() *ear { return &ear{notes: make(chan *jsonrpc.Message, 100)} }

func (e *ear) Notification(_ context.Context, m *jsonrpc.Message) { e.notes <- m }

func (e *ear) Request(ctx context.Context, m *jsonrpc.Message) (any, *jsonrpc.Error) {
	if e.request != nil {
		return e.request(ctx, m)
	}
	return nil, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "no")
}

// dial connects; the connection ends with the test.
func dial(t *testing.T, s *httptest.Server, c Client, r mcp.Receiver) mcp.Conn {
	t.Helper()
	c.URL = s.URL + "/mcp"
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	conn, err := c.Connect(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return conn
}

const versionMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

func request(id int64, method, params string) *jsonrpc.Message {
	m := &jsonrpc.Message{Kind: jsonrpc.Request, ID: jsonrpc.IntID(id), Method: method}
	if params != "" {
		m.Params = json.RawMessage(params)
	}
	return m
}

// modern returns a request of the stateless era; members are those of its
// params, each with a comma after it.
func modern(id int64, method, members string) *jsonrpc.Message {
	return request(id, method, "{"+members+versionMeta+"}")
}

// within fails the test if a channel yields nothing in time.
func within[T any](t *testing.T, what string, ch <-chan T) T {
	t.Helper()
	timer := time.NewTimer(2 * time.Minute)
	defer timer.Stop()
	select {
	case v := <-ch:
		return v
	case <-timer.C:
		t.Fatalf("%s did not come", what)
	}
	panic("unreachable")
}

// log records what is logged.
type log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func outcome(m *jsonrpc.Message, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case m.Error != nil:
		return fmt.Sprint(m.Error.Code, " ", m.Error.Message)
	}
	return string(m.Result)
}

func arrayOf(p *posted) {
	p.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	fmt.Fprintf(p.w, `[{"jsonrpc":"2.0","method":"notifications/n","params":{"n":1}},{"jsonrpc":"2.0","id":%s,"result":{"a":1}}]`, p.ID)
}
