package streamable

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
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
}

// result answers with a JSON object.
func (p *posted) result(result string) { p.object(200, `"result":`+result) }

func (p *posted) object(status int, member string) {
	p.w.Header().Set("Content-Type", "application/json")
	p.w.WriteHeader(status)
	fmt.Fprintf(p.w, `{"jsonrpc":"2.0","id":%s,%s}`, p.ID, member)
}

// events writes pieces of an event stream, as they are.
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
		if len(body) > 0 {
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

// ear is a receiver that remembers.
type ear struct {
	notes   chan *jsonrpc.Message
	request func(ctx context.Context, m *jsonrpc.Message) (any, *jsonrpc.Error)
}

func newEar() *ear { return &ear{notes: make(chan *jsonrpc.Message, 100)} }

func (e *ear) Notification(m *jsonrpc.Message) { e.notes <- m }

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

// within fails the test when nothing comes of a channel.
func within[T any](t *testing.T, what string, ch <-chan T) T {
	t.Helper()
	timer := time.NewTimer(10 * time.Second)
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

func TestStatelessHeaders(t *testing.T) {
	tests := []struct {
		method, members string
		want            map[string]string
	}{
		{"tools/list", "", map[string]string{"Mcp-Method": "tools/list", "Mcp-Name": ""}},
		{"tools/call", `"name":"add",`, map[string]string{"Mcp-Method": "tools/call", "Mcp-Name": "add"}},
		{"tools/call", `"name":"größe",`, map[string]string{"Mcp-Name": "=?base64?Z3LDtsOfZQ==?="}},
		{"prompts/get", `"name":"p q",`, map[string]string{"Mcp-Method": "prompts/get", "Mcp-Name": "p q"}},
		{"resources/read", `"uri":"file:///a%20b",`, map[string]string{"Mcp-Method": "resources/read", "Mcp-Name": "file:///a%20b"}},
		{"custom/do", `"name":"n","uri":"u",`, map[string]string{"Mcp-Method": "custom/do", "Mcp-Name": ""}},
	}
	var got http.Header
	s := scripted(t, func(p *posted) { got = p.Header; p.result(`{}`) })
	conn := dial(t, s, Client{Header: http.Header{"Authorization": {"Bearer x"}, "mcp-session-id": {"forged"}}}, newEar())
	for i, tt := range tests {
		if _, err := conn.RoundTrip(t.Context(), modern(int64(i), tt.method, tt.members)); err != nil {
			t.Fatal(err)
		}
		for name, want := range tt.want {
			if v := got.Get(name); v != want {
				t.Errorf("%s: %s is %q, want %q", tt.method, name, v, want)
			}
		}
		for name, want := range map[string]string{
			"MCP-Protocol-Version": "2026-07-28", "Mcp-Session-Id": "", "Authorization": "Bearer x",
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		} {
			if v := got.Get(name); v != want {
				t.Errorf("%s: %s is %q, want %q", tt.method, name, v, want)
			}
		}
	}
	if err := conn.Send(t.Context(), &jsonrpc.Message{Kind: jsonrpc.Notification, Method: "notifications/x"}); err != nil {
		t.Fatal(err)
	}
	if got.Get("MCP-Protocol-Version") != "2026-07-28" || got.Get("Mcp-Method") != "notifications/x" {
		t.Errorf("a notification has the headers %v", got)
	}
}

func TestAnswers(t *testing.T) {
	tests := map[string]struct {
		script func(p *posted)
		want   string // the result, or the error's words
		notes  int
	}{
		"object":       {func(p *posted) { p.result(`{"a":1}`) }, `{"a":1}`, 0},
		"array":        {func(p *posted) { arrayOf(p) }, `{"a":1}`, 1},
		"stream":       {func(p *posted) { p.events(": hi\n\n", note(1), note(2), p.answer(`{"a":1}`)) }, `{"a":1}`, 2},
		"named events": {func(p *posted) { p.events("event: ping\ndata: x\n\nevent: message\n" + p.answer(`{"a":1}`)) }, `{"a":1}`, 0},
		"error":        {func(p *posted) { p.object(200, `"error":{"code":-32603,"message":"boom"}`) }, "-32603 boom", 0},
		"error 400":    {func(p *posted) { p.object(400, `"error":{"code":-32022,"message":"no"}`) }, "-32022 no", 0},
		"error 404":    {func(p *posted) { p.object(404, `"error":{"code":-32601,"message":"no"}`) }, "-32601 no", 0},
		"error no id": {func(p *posted) {
			p.ID = json.RawMessage("null")
			p.object(400, `"error":{"code":-32000,"message":"no"}`)
		}, "-32000 no", 0},
		"error 500":      {func(p *posted) { p.object(500, `"error":{"code":-32603,"message":"no"}`) }, "-32603 no", 0},
		"html 404":       {func(p *posted) { http.Error(p.w, "Cannot POST", 404) }, `answered 404 Not Found: "Cannot POST"`, 0},
		"other JSON 400": {func(p *posted) { p.object(400, `"oops":1`) }, `answered 400 Bad Request`, 0},
		"html 200":       {func(p *posted) { p.w.Header().Set("Content-Type", "text/html"); io.WriteString(p.w, "<html>") }, `"text/html", neither JSON nor an event stream`, 0},
		"nothing":        {func(p *posted) {}, `neither JSON nor`, 0},
		"accepted":       {func(p *posted) { p.w.WriteHeader(202) }, `202 Accepted, which carries no answer`, 0},
		"not JSON":       {func(p *posted) { p.w.Header().Set("Content-Type", "application/json"); io.WriteString(p.w, "{") }, `malformed answer`, 0},
		"other id":       {func(p *posted) { p.ID = json.RawMessage("99"); p.result(`{}`) }, `no answer to request 1`, 0},
		"both":           {func(p *posted) { p.object(200, `"result":{},"error":{"code":1,"message":""}`) }, `malformed answer`, 0},
		"stream ends":    {func(p *posted) { p.events(note(1)) }, `ended the stream without an answer`, 1},
		"stream cut":     {func(p *posted) { p.events("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n") }, `without an answer`, 0},
		"stream junk":    {func(p *posted) { p.events("data: hello\n\n") }, `malformed answer`, 0},
		"stream other id": {func(p *posted) {
			p.events("data: {\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n\n", p.answer(`{"a":1}`))
		}, `{"a":1}`, 0},
		"bad note": {func(p *posted) {
			p.events("data: {\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":7}\n\n", p.answer(`{"a":1}`))
		}, `{"a":1}`, 0},
		"too long":       {func(p *posted) { p.result(`"` + strings.Repeat("x", 5000) + `"`) }, `over the limit of 4096 bytes`, 0},
		"too long event": {func(p *posted) { p.events(p.answer(`"` + strings.Repeat("x", 9000) + `"`)) }, `over the limit of 4096 bytes`, 0},
		"aborted":        {func(p *posted) { p.events(note(1)); panic(http.ErrAbortHandler) }, `without an answer`, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e := newEar()
			conn := dial(t, scripted(t, tt.script), Client{MaxMessageBytes: 4096}, e)
			m, err := conn.RoundTrip(t.Context(), modern(1, "x/y", ""))
			got := outcome(m, err)
			if !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if m != nil && m.ID != jsonrpc.IntID(1) {
				t.Errorf("the answer has the ID %s", m.ID)
			}
			var rpc *jsonrpc.Error
			if errors.As(err, &rpc) {
				t.Errorf("the error %v looks as if the server had sent it", err)
			}
			for i := range tt.notes {
				if m := within(t, "notification", e.notes); !strings.Contains(string(m.Params), fmt.Sprint(i+1)) {
					t.Errorf("notification %d is %s", i+1, m.Params)
				}
			}
			if conn.Err() != nil {
				t.Errorf("the connection ended: %v", conn.Err())
			}
		})
	}
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

func TestUnauthorized(t *testing.T) {
	for _, status := range []int{401, 403} {
		s := scripted(t, func(p *posted) {
			p.w.Header().Set("WWW-Authenticate", `Bearer scope="a"`)
			p.object(status, `"error":{"code":-32001,"message":"who?"}`)
		})
		conn := dial(t, s, Client{}, newEar())
		_, err := conn.RoundTrip(t.Context(), modern(1, "x/y", ""))
		var refused *HTTPError
		if !errors.As(err, &refused) || refused.Status != status || refused.Header.Get("WWW-Authenticate") != `Bearer scope="a"` || refused.URL != s.URL+"/mcp" {
			t.Errorf("%d: %+v", status, err)
		}
	}
}

// A server that says nothing holds a call up for as long as its context
// allows, wherever it stops; and it sees that the call was given up.
func TestHungServer(t *testing.T) {
	gone := make(chan struct{}, 10)
	hang := func(p *posted) {
		<-p.Context().Done()
		gone <- struct{}{}
	}
	for name, script := range map[string]func(p *posted){
		"header": hang,
		"object": func(p *posted) {
			p.w.Header().Set("Content-Type", "application/json")
			io.WriteString(p.w, `{"jsonrpc"`)
			p.w.(http.Flusher).Flush()
			hang(p)
		},
		"stream": func(p *posted) { p.events(note(1)); hang(p) },
		"error": func(p *posted) {
			p.w.WriteHeader(500)
			p.w.(http.Flusher).Flush()
			hang(p)
		},
	} {
		t.Run(name, func(t *testing.T) {
			conn := dial(t, scripted(t, script), Client{}, newEar())
			why := errors.New("given up")
			ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, why)
			defer cancel()
			if _, err := conn.RoundTrip(ctx, modern(1, "x/y", "")); !errors.Is(err, why) {
				t.Errorf("error = %v", err)
			}
			within(t, "the end of the stream", gone)
		})
	}
}

func TestCloseEndsCalls(t *testing.T) {
	began := make(chan struct{})
	s := scripted(t, func(p *posted) { close(began); <-p.Context().Done() })
	conn := dial(t, s, Client{}, newEar())
	failed := make(chan error, 1)
	go func() { // ends with the connection
		_, err := conn.RoundTrip(context.Background(), modern(1, "x/y", ""))
		failed <- err
	}()
	within(t, "the request", began)
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	if err := within(t, "the failure", failed); !errors.Is(err, jsonrpc.ErrClosed) {
		t.Errorf("error = %v", err)
	}
	within(t, "Done", conn.Done())
	if _, err := conn.RoundTrip(t.Context(), modern(2, "x/y", "")); !errors.Is(err, jsonrpc.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if conn.Err() != nil {
		t.Errorf("Err = %v", conn.Err())
	}
}

// In the stateless era servers must not ask, and clients must not answer.
func TestStatelessQuestionIsIgnored(t *testing.T) {
	e := newEar()
	e.request = func(context.Context, *jsonrpc.Message) (any, *jsonrpc.Error) {
		t.Error("the receiver was asked")
		return nil, nil
	}
	s := scripted(t, func(p *posted) {
		if p.Method == "" {
			t.Error("the client answered")
		}
		p.events("data: {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"roots/list\"}\n\n", p.answer(`{}`))
	})
	var l log
	conn := dial(t, s, Client{Logger: slog.New(slog.NewTextHandler(&l, nil))}, e)
	if _, err := conn.RoundTrip(t.Context(), modern(1, "x/y", "")); err != nil {
		t.Error(err)
	}
	if !strings.Contains(l.String(), "must not send any") {
		t.Errorf("the log says %q", l.String())
	}
}

// A subscription that the server tears down by a notification is answered,
// even if the server does not.
func TestListenTornDown(t *testing.T) {
	s := scripted(t, func(p *posted) {
		p.events(note(1), `data: {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`+"\n\n")
		<-p.Context().Done()
	})
	conn := dial(t, s, Client{}, newEar())
	m, err := conn.RoundTrip(t.Context(), modern(1, mcp.MethodListen, ""))
	if err != nil || string(m.Result) != "{}" {
		t.Errorf("got %s", outcome(m, err))
	}
}

// Redirects keep the request within its origin, or are refused.
func TestRedirects(t *testing.T) {
	var leaked bool
	elsewhere := scripted(t, func(p *posted) { leaked = true; p.result(`{}`) })
	tests := []struct {
		status int
		to     string
		want   string
	}{
		{307, "/other", "{}"},
		{308, "/other", "{}"},
		{301, "/other", "does not keep the request"},
		{302, "/other", "does not keep the request"},
		{303, "/other", "does not keep the request"},
		{307, elsewhere.URL + "/other", "another origin"},
		{302, elsewhere.URL + "/other", "another origin"},
		{307, "/mcp", "10 redirects"},
	}
	for _, tt := range tests {
		s := scripted(t, func(p *posted) {
			if p.URL.Path == "/mcp" {
				p.w.Header().Set("Location", tt.to)
				p.w.WriteHeader(tt.status)
				return
			}
			if p.Header.Get("Authorization") != "Bearer x" || p.Method != "x/y" {
				t.Errorf("the request changed on its way: %v %s", p.Header, p.Method)
			}
			p.result(`{}`)
		})
		conn := dial(t, s, Client{HTTP: s.Client(), Header: http.Header{"Authorization": {"Bearer x"}}}, newEar())
		if got := outcome(conn.RoundTrip(t.Context(), modern(1, "x/y", ""))); !strings.Contains(got, tt.want) {
			t.Errorf("%d to %s: got %s, want %s", tt.status, tt.to, got, tt.want)
		}
	}
	if leaked {
		t.Error("a request reached another origin")
	}
}

func TestBadURLs(t *testing.T) {
	for _, u := range []string{"", "localhost:80", "ftp://a/b", "http://", "http://a b/", "/mcp"} {
		if _, err := (&Client{URL: u}).Connect(t.Context(), newEar()); err == nil {
			t.Errorf("%q was accepted", u)
		}
	}
	if name := (&Client{URL: "http://u:secret@h/mcp"}).Name(); strings.Contains(name, "secret") {
		t.Errorf("Name = %q", name)
	}
}

func TestUnreachable(t *testing.T) {
	s := scripted(t, func(*posted) {})
	conn := dial(t, s, Client{}, newEar())
	s.Close()
	_, err := conn.RoundTrip(t.Context(), modern(1, "x/y", ""))
	if err == nil || !strings.Contains(err.Error(), s.URL) {
		t.Errorf("error = %v", err)
	}
}

// Calls that run at a time do not wait for each other, and their connections
// are used again.
func TestConnectionsAreReused(t *testing.T) {
	var mu sync.Mutex
	remotes := map[string]int{}
	s := scripted(t, func(p *posted) {
		mu.Lock()
		remotes[p.RemoteAddr]++
		mu.Unlock()
		p.events(p.answer(`{}`))
	})
	conn := dial(t, s, Client{}, newEar())
	for i := range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := conn.RoundTrip(ctx, modern(int64(i), "x/y", "")); err != nil {
			t.Fatal(err)
		}
		cancel()
	}
	// The end of a stream may still be on its way when the next call begins.
	if len(remotes) > 10 {
		t.Errorf("20 calls, one after the other, took %d connections", len(remotes))
	}
}
