package hostile_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/parley-mcp/parley/internal/stream"
	"github.com/parley-mcp/parley/mcp"
)

// villain is a server that behaves correctly, except in the one call that its
// case is about. It is both a transport in memory and an http.Handler.
type villain struct {
	t       *testing.T
	route   route
	entry   *entry
	replies chan string // what the client answered
	ended   chan struct{}
	end     sync.Once
	running sync.WaitGroup

	mu     sync.Mutex
	stream *standing // over HTTP+SSE only
	host   string    // as its client addresses it
}

func villainFor(t *testing.T, r route, e *entry) *villain {
	t.Helper()
	copied := &entry{file: e.file, name: e.name, fields: e.fields}
	return &villain{t: t, route: r, entry: copied, replies: make(chan string, 1024), ended: make(chan struct{})}
}

// enough ends floods.
func (v *villain) enough() { v.end.Do(func() { close(v.ended) }) }

// asked is a message of the client.
type asked struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name string `json:"name"`
	} `json:"params"`
}

// mine reports whether a message is the call that the case is about.
func (v *villain) mine(m *asked) bool {
	return m.Method == v.entry.called(v.route) && (m.Method != mcp.MethodCallTool || m.Params.Name == "attack")
}

const everything = `"capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true},"completions":{},"logging":{}}`

// proper returns the correct answer to a message.
func (v *villain) proper(m *asked) string {
	result := "{}"
	switch m.Method {
	case mcp.MethodInitialize:
		result = `{"protocolVersion":"2025-11-25","serverInfo":{"name":"v","version":"1"},` + everything + `}`
	case mcp.MethodDiscover:
		result = `{"supportedVersions":["2026-07-28"],` + everything + `,"ttlMs":0,"cacheScope":"private"}`
	case mcp.MethodCallTool:
		result = `{"content":[{"type":"text","text":"fine"}]}`
	case mcp.MethodListTools:
		result = `{"tools":[],"ttlMs":0,"cacheScope":"private"}`
	case mcp.MethodListResources:
		result = `{"resources":[],"ttlMs":0,"cacheScope":"private"}`
	case mcp.MethodListTemplates:
		result = `{"resourceTemplates":[],"ttlMs":0,"cacheScope":"private"}`
	case mcp.MethodListPrompts:
		result = `{"prompts":[],"ttlMs":0,"cacheScope":"private"}`
	case mcp.MethodReadResource:
		result = `{"contents":[],"ttlMs":0,"cacheScope":"private"}`
	case mcp.MethodGetPrompt:
		result = `{"messages":[]}`
	case mcp.MethodComplete:
		result = `{"completion":{"values":[]}}`
	}
	if v.route.era == "stateless" {
		result = strings.Replace("{"+`"resultType":"complete",`+result[1:], ",}", "}", 1)
	}
	if v.route.era == "session" && m.Method == mcp.MethodDiscover {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// frames are the messages with which the case answers.
func (v *villain) frames(m *asked) (list []string) {
	for _, f := range v.entry.all("send", v.route) {
		list = append(list, v.expand(f, m))
	}
	if result := v.entry.one("result", v.route); result != "" {
		return append(list, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, v.typed(v.expand(result, m))))
	}
	if v.entry.one("answer", v.route) != "no" {
		list = append(list, v.proper(m))
	}
	return list
}

// typed adds the resultType that every result of the stateless era has.
func (v *villain) typed(result string) string {
	if v.route.era == "session" || strings.Contains(result, "resultType") || !strings.HasPrefix(result, "{") {
		return result
	}
	return strings.Replace(`{"resultType":"complete",`+result[1:], ",}", "}", 1)
}

func (v *villain) expand(value string, m *asked) string {
	names := moment(v.route)
	v.mu.Lock()
	names["id"], names["host"] = string(m.ID), v.host
	v.mu.Unlock()
	return expand(v.t, value, names)
}

// Name implements mcp.Transport.
func (v *villain) Name() string { return "villain" }

// Connect implements mcp.Transport: lines over pipes.
func (v *villain) Connect(_ context.Context, receiver mcp.Receiver) (mcp.Conn, error) {
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	closeAll := func() error {
		for _, c := range []io.Closer{fromClient, toServer, fromServer, toClient} {
			_ = c.Close() // closing a pipe does not fail
		}
		return nil
	}
	v.running.Go(func() { v.serve(fromClient, toClient) }) // ends with the connection
	return stream.Dial(stream.Lines(fromServer, toServer, maxBytes, closeAll), receiver, maxBytes, nil, nil), nil
}

func (v *villain) serve(r io.Reader, w io.Writer) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		var m asked
		switch err := json.Unmarshal([]byte(line), &m); {
		case strings.HasPrefix(line, "["): // the answers to a batch
			v.replies <- line
		case err != nil:
			v.t.Errorf("the client sent %.300q: %v", line, err)
		case m.Method == "":
			v.replies <- line
		case m.ID == nil:
		case v.mine(&m):
			v.attackOn(w, &m)
		default:
			_, _ = io.WriteString(w, v.proper(&m)+"\n")
		}
	}
}

// attackOn sends the case over lines.
func (v *villain) attackOn(w io.Writer, m *asked) {
	if part := v.entry.one("endless", v.route); part != "" {
		v.running.Go(func() { v.flood(w, v.expand(part, m)) }) // ends with the connection
		return
	}
	for _, f := range v.frames(m) {
		if _, err := io.WriteString(w, f+"\n"); err != nil {
			return
		}
	}
}

// flood writes until the client or the test ends it.
func (v *villain) flood(w io.Writer, part string) {
	flusher, _ := w.(http.Flusher)
	for {
		select {
		case <-v.ended:
			return
		default:
		}
		if _, err := io.WriteString(w, part); err != nil {
			return
		}
		if flusher != nil {
			flusher.Flush()
		}
	}
}

// ServeHTTP implements http.Handler.
func (v *villain) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if v.route.transport == "sse" {
		v.serveSSE(w, r)
		return
	}
	if r.Method != http.MethodPost {
		if r.Method == http.MethodGet && v.entry.called(v.route) == "GET" {
			v.attackOver(w, &asked{})
			return
		}
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	var m asked
	switch err := json.Unmarshal(body, &m); {
	case strings.HasPrefix(string(body), "["): // the answers to a batch
		v.hear(body)
		w.WriteHeader(http.StatusAccepted)
	case err != nil:
		v.t.Errorf("the client sent %.300q: %v", body, err)
	case m.Method == "":
		v.hear(body)
		w.WriteHeader(http.StatusAccepted)
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	case v.mine(&m):
		v.attackOver(w, &m)
	default:
		if m.Method == mcp.MethodInitialize {
			w.Header().Set("Mcp-Session-Id", "s-1")
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, v.proper(&m))
	}
}

// attackOver sends the case as an HTTP response.
func (v *villain) attackOver(w http.ResponseWriter, m *asked) {
	if raw := v.entry.one("http", v.route); raw != "" {
		v.raw(w, raw, m)
		return
	}
	if v.entry.one("as", v.route) == "json" {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, v.frames(m)[0])
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if s := v.entry.one("stream", v.route); s != "" {
		_, _ = io.WriteString(w, v.expand(s, m)+"\n\n")
	}
	if part := v.entry.one("endless", v.route); part != "" {
		v.flood(w, v.expand(part, m))
		return
	}
	for _, f := range v.frames(m) {
		if _, err := fmt.Fprintf(w, "data: %s\n\n", f); err != nil {
			return
		}
	}
	if v.entry.one("answer", v.route) == "no" && v.entry.one("result", v.route) == "" && v.entry.one("hangs", v.route) != "" {
		w.(http.Flusher).Flush()
		<-v.ended
	}
}

// raw writes a response byte by byte. The first empty line separates head and
// body.
func (v *villain) raw(w http.ResponseWriter, raw string, m *asked) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		v.t.Errorf("hijack: %v", err)
		return
	}
	defer func() { _ = conn.Close() }()
	head, body, _ := strings.Cut(raw, "\n\n")
	head = strings.TrimSuffix(head, "\n")
	if !strings.Contains(head, "Upgrade") { // no other call must use this connection
		status, rest, _ := strings.Cut(head, "\n")
		head = strings.TrimSuffix(status+"\nConnection: close\n"+rest, "\n")
	}
	_, _ = io.WriteString(conn, strings.ReplaceAll(v.expand(head, m), "\n", "\r\n")+"\r\n\r\n")
	body = v.expand(body, m)
	if part := v.entry.one("endless", v.route); part != "" {
		v.flood(conn, v.expand(part, m))
	}
	_, _ = io.WriteString(conn, body)
	if v.entry.one("hangs", v.route) != "" {
		<-v.ended
	}
}
