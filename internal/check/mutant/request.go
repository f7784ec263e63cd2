package mutant

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
)

// outgoing is what becomes of a request.
type outgoing struct {
	asked *frame // the message as it was
	// bodies go in place of the message, each in a request of its own. main is the
	// number of what the message became, -1 if it is left out.
	bodies [][]byte
	main   int
}

// address is where and how a request goes.
type address struct {
	refusal int // the status with which it is kept from the server
	url, as string
	more    []string // further requests before it
	params  []edit   // of its URL or its form
}

// request changes what goes to the server.
func (t *transport) request(req *http.Request) (*outgoing, error) {
	out := &outgoing{asked: &frame{kind: "http", method: req.Method, conn: 1, verb: req.Method, header: req.Header.Clone(), url: req.URL}}
	if req.Body != nil {
		raw, err := io.ReadAll(req.Body)
		_ = req.Body.Close() // it was read
		if err != nil {
			return nil, err
		}
		out.bodies, out.asked.body = [][]byte{raw}, raw
		if len(raw) > 0 {
			out.message(t.wire, raw)
		}
	}
	select {
	case <-time.NewTimer(t.head(true, out.asked, req.Header, nil)).C:
	case <-req.Context().Done():
	}
	if to := out.asked.address; to.url != "" {
		if u, err := req.URL.Parse(to.url); err == nil {
			req.URL, req.Host = u, u.Host
		}
	}
	out.parameters(req)
	if out.asked.address.as != "" {
		req.Method = out.asked.address.as
	}
	t.wire.mu.Lock()
	defer t.wire.mu.Unlock()
	if id, ok := t.aliases[req.Header.Get("Mcp-Session-Id")]; ok {
		req.Header.Set("Mcp-Session-Id", id)
	}
	return out, nil
}

// message changes the message of a request.
func (o *outgoing) message(w *wire, raw []byte) {
	w.mu.Lock()
	if f := w.read(1, true, raw); f != nil {
		f.verb, f.header, f.url, f.body = o.asked.verb, o.asked.header, o.asked.url, raw
		o.asked = f
	}
	w.mu.Unlock()
	o.bodies, o.main = w.exchange(1, true, raw, o.asked)
}

// send makes the request, and those that were added before and after it.
func (t *transport) send(req *http.Request, out *outgoing) (*http.Response, error) {
	before, after := out.bodies, [][]byte(nil)
	if out.bodies != nil && out.main >= 0 {
		before, after = out.bodies[:out.main], out.bodies[out.main+1:]
	}
	for _, body := range before {
		t.extra(req, body)
	}
	for _, words := range out.asked.address.more {
		t.also(req, words)
	}
	if status := out.asked.address.refusal; status != 0 || out.main < 0 {
		return refuse(req, max(status, http.StatusAccepted)), nil
	}
	if out.bodies != nil {
		setBody(req, out.bodies[out.main])
	}
	resp, err := t.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	for _, body := range after {
		t.extra(req, body)
	}
	return resp, nil
}

func setBody(req *http.Request, body []byte) {
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
}

// extra sends one more message as a client would: in a request of its own, whose
// answer nobody reads.
func (t *transport) extra(req *http.Request, body []byte) {
	more := req.Clone(req.Context())
	setBody(more, body)
	v, _ := peer.Decode(body) // what is no JSON has no method
	method, _ := peer.Get(v, "method")
	for name := range more.Header {
		if name == "Mcp-Name" || strings.HasPrefix(name, "Mcp-Param-") {
			more.Header.Del(name)
		}
	}
	if name, ok := method.(string); ok && more.Header.Get("Mcp-Method") != "" {
		more.Header.Set("Mcp-Method", name)
	}
	t.forget(more)
}

// also makes one more request without a body: METHOD URL [HEADER VALUE].
func (t *transport) also(req *http.Request, words string) {
	fields := strings.Fields(words)
	to, err := req.URL.Parse(fields[1])
	if err != nil {
		return
	}
	more := req.Clone(req.Context())
	more.Method, more.URL, more.Host, more.Body, more.ContentLength = fields[0], to, to.Host, nil, 0
	if len(fields) > 3 {
		more.Header.Set(fields[2], strings.Join(fields[3:], " "))
	}
	t.forget(more)
}

func (t *transport) forget(req *http.Request) {
	if resp, err := t.base.RoundTrip(req); err == nil {
		_ = resp.Body.Close() // nobody reads it
	}
}

// refuse is what a client gets for a request that never went out.
func refuse(req *http.Request, status int) *http.Response {
	return &http.Response{
		StatusCode: status, Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: req,
	}
}

// address changes where and how a request goes.
func (e edit) address(asked *frame) {
	switch e.verb {
	case "status":
		asked.address.refusal, _ = strconv.Atoi(e.text)
	case "url":
		asked.address.url = e.text
	case "param", "without-param":
		asked.address.params = append(asked.address.params, e)
	case "as":
		asked.address.as = e.text
	case "request":
		asked.address.more = append(asked.address.more, e.text)
	}
}
