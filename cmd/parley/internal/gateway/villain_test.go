package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/parley-mcp/parley/internal/stream"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/streamable"
)

// limit bounds the messages that clients of villains take, so that tests of what is over
// it need not be large.
const limit = 256 << 10

// villain is a server that sends what it is told to, whatever that is.
type villain struct {
	back mcptest.Mode
	// does answers a message in place of what a good server does, and reports whether it
	// has.
	does func(m *heard, send func(frame string)) bool
	site *mcptest.Site
	work sync.WaitGroup

	mu   sync.Mutex
	last io.Writer // the newest connection of lines
}

// heard is a message that has reached a villain.
type heard struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Error  json.RawMessage `json:"error"`
	Params struct {
		Name   string `json:"name"`
		Cursor string `json:"cursor"`
		Meta   struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
}

// newVillain returns a villain, and the transport to it.
func newVillain(t *testing.T, back mcptest.Mode, does func(m *heard, send func(frame string)) bool) mcp.Transport {
	t.Helper()
	v := &villain{back: back, does: does}
	t.Cleanup(v.work.Wait)
	if !back.IsHTTP() {
		return v
	}
	v.site = mcptest.NewSite(v)
	t.Cleanup(v.site.Close) // before what it does is waited for
	return &streamable.Client{URL: v.site.URL, HTTP: v.site.Client, Logger: mcptest.Quiet(), NoSSEFallback: true, MaxMessageBytes: limit}
}

func (*villain) Name() string { return "villain" }

// Connect implements mcp.Transport.
func (v *villain) Connect(_ context.Context, r mcp.Receiver) (mcp.Conn, error) {
	near, far := net.Pipe()
	go v.lines(far) // ends with the connection
	return stream.Dial(stream.Lines(near, near, limit, near.Close), r, limit, nil, nil), nil
}

// say sends frames outside of any answer.
func (v *villain) say(frames string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, _ = io.WriteString(v.last, frames+"\n") // the client is gone
}

func (v *villain) lines(conn io.ReadWriter) {
	v.mu.Lock()
	v.last = conn
	v.mu.Unlock()
	var mu sync.Mutex
	send := func(frame string) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.WriteString(conn, frame+"\n") // the client is gone
	}
	in := bufio.NewReader(conn)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		v.work.Go(func() { v.answer(line, send) }) // ends before the test
	}
}

// ServeHTTP answers each request with a stream of events.
func (v *villain) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	switch {
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	case err != nil || !strings.Contains(string(body), `"method"`) || !strings.Contains(string(body), `"id"`):
		w.WriteHeader(http.StatusAccepted)
		return
	}
	v.work.Add(1)
	defer v.work.Done()
	w.Header().Set("Content-Type", "text/event-stream")
	v.answer(body, func(frame string) {
		_, _ = fmt.Fprintf(w, "data: %s\n\n", frame) // the client is gone
		_ = http.NewResponseController(w).Flush()
	})
	if strings.Contains(string(body), mcp.MethodListen) {
		<-r.Context().Done()
	}
}

// answer answers a message.
func (v *villain) answer(line []byte, send func(frame string)) {
	m := new(heard)
	if json.Unmarshal(line, m) != nil || v.does(m, send) || m.ID == nil || m.Method == "" {
		return
	}
	send(v.proper(m))
}

const able = `"capabilities":{"tools":{"listChanged":true},"resources":{},"prompts":{},"logging":{}}`

// proper is what a good server answers.
func (v *villain) proper(m *heard) string {
	switch m.Method {
	case mcp.MethodInitialize:
		return answer(m, `{"protocolVersion":"2025-11-25","serverInfo":{"name":"v","version":"1"},`+able+`}`)
	case mcp.MethodDiscover:
		return answer(m, `{"resultType":"complete","supportedVersions":["2026-07-28"],`+able+`,"ttlMs":0,"cacheScope":"private"}`)
	case mcp.MethodCallTool:
		return answer(m, `{"resultType":"complete","content":[{"type":"text","text":"fine"}]}`)
	case mcp.MethodListTools:
		return answer(m, `{"resultType":"complete","tools":[`+tool("read")+`,`+tool("write")+`],"ttlMs":0,"cacheScope":"private"}`)
	case mcp.MethodSetLevel, mcp.MethodPing:
		return answer(m, `{}`)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID)
}

func answer(m *heard, result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

func tool(name string) string {
	return fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name)
}
