package hostile_test

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/internal/sse"
)

// ssePeer is a client of HTTP+SSE: it posts like any HTTP client, and receives
// the answers on a stream that it opened before.
type ssePeer struct {
	*httpPeer
	down   net.Conn
	events *sse.Reader
}

func newSSEPeer(t *testing.T, web *httptest.Server, r route, revision string, fresh bool) *ssePeer {
	t.Helper()
	p := &ssePeer{httpPeer: &httpPeer{t: t, route: r, web: web, path: "/sse", fresh: revision}}
	p.listen()
	p.dial()
	if !fresh {
		p.open()
	}
	return p
}

// listen opens the stream and reads the endpoint that it names.
func (p *ssePeer) listen() {
	p.t.Helper()
	reader := p.another()
	p.down = reader.conn
	_ = p.down.SetDeadline(time.Now().Add(patience))
	_, _ = p.down.Write([]byte("GET /sse HTTP/1.1\r\nHost: " + p.web.Listener.Addr().String() + "\r\n\r\n"))
	resp, err := http.ReadResponse(reader.r, &http.Request{Method: http.MethodGet})
	if err != nil {
		p.t.Fatalf("the stream did not open: %v", err)
	}
	p.events = sse.NewReader(resp.Body, 1<<20)
	first, err := p.events.Next()
	if err != nil || first.Name != "endpoint" {
		p.t.Fatalf("the first event is %q %q, %v", first.Name, first.Data, err)
	}
	endpoint, err := url.Parse(string(first.Data))
	if err != nil {
		p.t.Fatal(err)
	}
	p.path, p.session = endpoint.RequestURI(), endpoint.Query().Get("sessionId")
}

// open opens the session, unless it is open.
func (p *ssePeer) open() {
	p.t.Helper()
	if p.fresh == "" {
		return
	}
	p.post(initialize(p.fresh))
	p.response()
	p.post(initialized)
	p.fresh = ""
}

// post posts a valid message.
func (p *ssePeer) post(message string) {
	p.t.Helper()
	if got := p.exchange(p.request(new(entry), message)); got.status != http.StatusAccepted {
		p.t.Errorf("POST %.300s: %+v", message, got)
	}
}

// heard returns the next message of the stream, or "" at its end.
func (p *ssePeer) heard() string {
	p.t.Helper()
	_ = p.down.SetReadDeadline(time.Now().Add(patience))
	e, err := p.events.Next()
	switch {
	case isTimeout(err):
		p.t.Error("the server did not answer")
	case err == nil && e.Name != "message":
		p.t.Errorf("an event of the type %q", e.Name)
	}
	return string(e.Data)
}

// response returns the next message that is neither a request nor a
// notification.
func (p *ssePeer) response() string {
	p.t.Helper()
	for {
		frame := p.heard()
		var m message
		if json.Unmarshal([]byte(frame), &m) != nil || m.Method == "" {
			return frame
		}
	}
}

func (p *ssePeer) send(e *entry) answered {
	p.t.Helper()
	if e.one("asks", p.route) != "" {
		p.post(question)
		q := questionID(p.t, p.heard())
		copied := &entry{fields: map[string][]string{}}
		for key, values := range e.fields {
			for _, v := range values {
				copied.fields[key] = append(copied.fields[key], strings.ReplaceAll(v, "«q»", q))
			}
		}
		delete(copied.fields, "asks")
		e = copied
	}
	got := p.httpPeer.send(e)
	if got.refused = got.status >= http.StatusBadRequest; got.closed || e.one("dies", p.route) != "" {
		p.redial()
	}
	got.closed = false // the stream is open
	if method := e.one("tells", p.route); method != "" {
		told(p.t, p.heard(), method)
	}
	if got.status == http.StatusAccepted && e.one("want", p.route) != "nothing" {
		got.frame = p.response()
	}
	return got
}

func (p *ssePeer) redial() {
	_ = p.conn.Close()
	p.dial()
}

// serves calls a tool. The response must be the next message that the server
// sends.
func (p *ssePeer) serves(t *testing.T) {
	t.Helper()
	p.t = t // a bystander is used by one test after the other
	p.open()
	p.post(good("good", p.route.era))
	if frame := p.response(); !strings.Contains(frame, `"id":"good"`) || !strings.Contains(frame, "fine") {
		t.Errorf("%v: a good request was answered by %.300s", p.route, frame)
	}
}

func (p *ssePeer) end() {
	_ = p.conn.Close()
	_ = p.down.Close()
}
