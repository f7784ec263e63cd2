package hostile_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/internal/sse"
)

// httpPeer is a client that writes its HTTP itself.
type httpPeer struct {
	t       *testing.T
	route   route
	web     *httptest.Server
	path    string
	conn    net.Conn
	r       *bufio.Reader
	session string
	version string
	fresh   string // the revision of a session that is still to be opened
	state   string // of the question that the last message before a case made the server ask
}

func newHTTPPeer(t *testing.T, web *httptest.Server, r route, revision string, fresh bool) *httpPeer {
	t.Helper()
	p := &httpPeer{t: t, route: r, web: web, path: "/mcp"}
	p.dial()
	if r.era == "stateless" {
		p.version = "2026-07-28"
	}
	p.fresh = revision
	if !fresh {
		p.open()
	}
	return p
}

// open opens the session, unless it is open or there is none.
func (p *httpPeer) open() {
	p.t.Helper()
	if p.fresh == "" || p.session != "" || p.route.era == "stateless" {
		return
	}
	if got := p.exchange(p.request(new(entry), initialize(p.fresh))); got.status != http.StatusOK {
		p.t.Errorf("initialize: %+v", got)
	}
	p.version, p.fresh = p.fresh, ""
	p.exchange(p.request(new(entry), initialized))
}

func (p *httpPeer) dial() {
	p.t.Helper()
	conn, err := net.Dial("tcp", p.web.Listener.Addr().String())
	if err != nil {
		p.t.Fatal(err)
	}
	p.conn, p.r = conn, bufio.NewReader(conn)
}

// another returns the same client with a new connection.
func (p *httpPeer) another() *httpPeer {
	p.t.Helper()
	other := &httpPeer{t: p.t, route: p.route, web: p.web, path: p.path, session: p.session, version: p.version}
	other.dial()
	return other
}

// request returns the bytes of a POST with a body, changed as the case
// requires.
func (p *httpPeer) request(e *entry, body string) string {
	method := e.one("method", p.route)
	if method == "" {
		method = http.MethodPost
	}
	header := [][2]string{
		{"Host", p.web.Listener.Addr().String()}, {"Content-Type", "application/json"}, {"Accept", "application/json, text/event-stream"},
	}
	header = append(header, p.headersOf(body)...)
	length := e.one("length", p.route)
	if length == "" {
		length = fmt.Sprint(len(body))
	}
	header = append(header, [2]string{"Content-Length", length})
	header = p.changed(e, header)
	var b strings.Builder
	path := p.path
	if own := e.one("path", p.route); own != "" {
		path = p.expand(own)
	}
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", method, path)
	for _, h := range header {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	return b.String() + "\r\n" + body
}

// headersOf returns the headers that mirror a body.
func (p *httpPeer) headersOf(body string) (header [][2]string) {
	if p.version != "" {
		header = append(header, [2]string{"MCP-Protocol-Version", p.version})
	}
	if p.session != "" && p.route.transport == "http" {
		header = append(header, [2]string{"Mcp-Session-Id", p.session})
	}
	if p.route.era == "session" {
		return header
	}
	var m struct {
		Method string `json:"method"`
		Params struct {
			Name json.RawMessage `json:"name"`
			URI  json.RawMessage `json:"uri"`
			Task json.RawMessage `json:"taskId"`
		} `json:"params"`
	}
	m.Method = "tools/list"
	_ = json.Unmarshal([]byte(body), &m) // as far as it can be read
	header = append(header, [2]string{"Mcp-Method", m.Method})
	for _, raw := range []json.RawMessage{m.Params.Name, m.Params.URI, m.Params.Task} {
		var name string
		if json.Unmarshal(raw, &name) == nil && name != "" {
			return append(header, [2]string{"Mcp-Name", name})
		}
	}
	return header
}

// changed applies a case's own headers.
func (p *httpPeer) changed(e *entry, header [][2]string) [][2]string {
	var own [][2]string
	drop := e.all("drop", p.route)
	for _, line := range e.all("header", p.route) {
		name, value, _ := strings.Cut(p.expand(line), ":")
		own = append(own, [2]string{name, strings.TrimPrefix(value, " ")})
		drop = append(drop, name)
	}
	header = slices.DeleteFunc(header, func(h [2]string) bool {
		return slices.ContainsFunc(drop, func(d string) bool { return strings.EqualFold(d, h[0]) })
	})
	return append(header, own...)
}

func (p *httpPeer) expand(value string) string {
	names := moment(p.route)
	names["session"], names["host"], names["path"], names["state"] = p.session, p.web.Listener.Addr().String(), p.path, p.state
	return expand(p.t, value, names)
}

func (p *httpPeer) send(e *entry) answered {
	p.t.Helper()
	for _, m := range e.all("before", p.route) {
		p.state = stateIn(p.exchange(p.request(new(entry), p.expand(m))).frame)
	}
	if raw := e.one("raw", p.route); raw != "" {
		head, body, _ := strings.Cut(raw, "\n\n")
		return p.exchange(strings.ReplaceAll(p.expand(head), "\n", "\r\n") + "\r\n\r\n" + p.expand(body))
	}
	if e.one("asks", p.route) != "" {
		return p.reply(e)
	}
	messages := e.all("send", p.route)
	if len(messages) == 0 {
		messages = []string{""}
	}
	var got answered
	for _, m := range messages {
		got = p.exchange(p.request(e, p.expand(m)))
	}
	return got
}

// reply makes a call that asks a question, answers it over another connection
// as the case requires, and returns the reaction to the call.
func (p *httpPeer) reply(e *entry) answered {
	p.t.Helper()
	_ = p.conn.SetDeadline(time.Now().Add(patience))
	_, _ = io.WriteString(p.conn, p.request(new(entry), question))
	resp, err := http.ReadResponse(p.r, &http.Request{Method: http.MethodPost})
	if err != nil {
		p.t.Fatalf("the call has no response: %v", err)
	}
	defer func() { _ = resp.Body.Close() }()
	events := sse.NewReader(resp.Body, 1<<20)
	asked, err := events.Next()
	for err == nil && len(asked.Data) == 0 { // it only says how to resume
		asked, err = events.Next()
	}
	q := questionID(p.t, string(asked.Data))
	other := p.another()
	defer other.end()
	for _, m := range e.all("send", p.route) {
		other.exchange(other.request(e, p.expand(strings.ReplaceAll(m, "«q»", q))))
	}
	if method := e.one("tells", p.route); method != "" {
		event, _ := events.Next() // a stream that has ended sent nothing
		told(p.t, string(event.Data), method)
	}
	for {
		event, err := events.Next()
		if err != nil {
			return answered{status: resp.StatusCode}
		}
		var m message
		if json.Unmarshal(event.Data, &m) == nil && m.Method == "" {
			return answered{status: resp.StatusCode, frame: string(event.Data)}
		}
	}
}

// exchange writes a request, and reads the response up to the answer in it.
func (p *httpPeer) exchange(request string) answered {
	p.t.Helper()
	_ = p.conn.SetDeadline(time.Now().Add(patience))
	go func(w io.Writer) { // ends with the connection; a server may answer before it has read everything
		_, _ = io.WriteString(w, request)
	}(p.conn)
	method, _, _ := strings.Cut(request, " ")
	resp, err := http.ReadResponse(p.r, &http.Request{Method: method})
	if err != nil {
		if isTimeout(err) {
			p.t.Error("the server did not answer")
		}
		return answered{closed: true}
	}
	defer func() { _ = resp.Body.Close() }()
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		p.session = id
	}
	got := answered{status: resp.StatusCode, closed: resp.Close}
	if resp.Header.Get("Content-Type") == sse.ContentType {
		got.frame, got.closed = firstResponse(resp.Body), true
		_ = p.conn.Close() // the rest of the stream prevents reuse
		return got
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Errorf("body: %v", err)
	}
	if resp.Header.Get("Content-Type") == "application/json" {
		got.frame = string(bytes.TrimSpace(body))
	}
	return got
}

func isTimeout(err error) bool {
	timeout, ok := err.(net.Error) //nolint:errorlint // as net/http returns it
	return ok && timeout.Timeout()
}

// firstResponse returns the first message of a stream that is a response, or
// the endpoint that the stream names.
func firstResponse(body io.Reader) string {
	events := sse.NewReader(body, 1<<20)
	for {
		e, err := events.Next()
		if err != nil {
			return ""
		}
		var m message
		if e.Name == "endpoint" || json.Unmarshal(e.Data, &m) == nil && m.Method == "" {
			return string(e.Data)
		}
	}
}

func (p *httpPeer) serves(t *testing.T) {
	t.Helper()
	p.t = t // a bystander is used by one test after the other
	p.open()
	got := p.exchange(p.request(new(entry), good("good", p.route.era)))
	if got.closed { // a stream prevented reuse, or the server closed it
		p.end()
		p.dial()
	}
	if got.status != http.StatusOK || !strings.Contains(got.frame, "fine") {
		p.t.Errorf("%v: a good request was answered by %d %.300s", p.route, got.status, got.frame)
	}
}

func (p *httpPeer) end() { _ = p.conn.Close() }
