package mutant

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
)

// HTTP puts the faults between a client and what carries its requests.
func (f *Faulty) HTTP(base http.RoundTripper) http.RoundTripper {
	return &transport{wire: f.wire, base: base, aliases: map[string]string{}}
}

type transport struct {
	wire *wire
	base http.RoundTripper

	aliases map[string]string // from what the client knows as a session to what it is; guarded by the wire
}

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	out, err := t.request(req)
	if err != nil {
		return nil, err
	}
	resp, err := t.send(req, out)
	if err != nil {
		return nil, err
	}
	hang := t.hangs(out.asked, resp)
	if err := t.response(req.Context(), out.asked, resp, hang); err != nil { //nolint:contextcheck // it is that of the request
		return nil, err
	}
	t.head(false, out.asked, resp.Header, resp)
	return resp, nil
}

// response changes the messages of a response.
func (t *transport) response(ctx context.Context, asked *frame, resp *http.Response, hang bool) error {
	switch peer.MediaType(resp.Header) {
	case "text/event-stream":
		resp.Body = t.wire.newEvents(ctx, asked, resp.Body, hang)
	case "application/json":
		raw, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close() // it was read
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(raw)) > 0 {
			raw = bytes.Join(t.wire.pass(1, false, raw, asked), []byte("\n"))
		}
		resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
		resp.Header.Set("Content-Length", strconv.Itoa(len(raw)))
	}
	return nil
}

// heads are the switches for the head of a request or of a response that match.
// They name the method of the message that the request carries, or that of HTTP.
func (t *transport) heads(toServer bool, asked *frame, resp *http.Response, each func(n int, s *Switch)) {
	for n := range t.wire.mutant.Switches {
		s := &t.wire.mutant.Switches[n]
		if s.Kind != "http" || s.ToServer != toServer || s.Status != 0 && (resp == nil || resp.StatusCode != s.Status) {
			continue
		}
		as := s.ofRequest()
		if t.wire.matches(&as, asked, asked) && t.wire.due(n) {
			each(n, s)
		}
	}
}

// hangs reports whether the stream of a response is to go on for ever.
func (t *transport) hangs(asked *frame, resp *http.Response) bool {
	t.wire.mu.Lock()
	defer t.wire.mu.Unlock()
	for n := range t.wire.mutant.Switches {
		s := &t.wire.mutant.Switches[n]
		as := s.ofRequest()
		if s.Kind == "stream" && peer.MediaType(resp.Header) == "text/event-stream" && t.wire.matches(&as, asked, asked) && t.wire.due(n) {
			return true
		}
	}
	return false
}

// head changes a head, and returns how long it is to be kept.
func (t *transport) head(toServer bool, asked *frame, header http.Header, resp *http.Response) (delay time.Duration) {
	t.wire.mu.Lock()
	defer t.wire.mu.Unlock()
	t.heads(toServer, asked, resp, func(_ int, s *Switch) {
		for _, e := range s.Edits {
			if e.verb == "alias-session" {
				t.alias(header, e.text)
				continue
			}
			if e.verb == "delay" {
				delay, _ = time.ParseDuration(e.text) // it was checked
			}
			e.head(header, resp)
			if toServer {
				e.address(asked)
			}
		}
	})
	return delay
}

// alias gives a session another ID towards the client: a number that counts, or
// the old one with something in front.
func (t *transport) alias(header http.Header, how string) {
	id := header.Get("Mcp-Session-Id")
	if id == "" {
		return
	}
	alias := how + id
	if how == "count" {
		alias = strconv.Itoa(len(t.aliases) + 1)
	}
	t.aliases[alias] = id
	header.Set("Mcp-Session-Id", alias)
}

func (e edit) head(header http.Header, resp *http.Response) {
	switch e.verb {
	case "header", "without-header":
		maps.DeleteFunc(header, func(name string, _ []string) bool { return strings.EqualFold(name, e.path) })
		if e.verb == "header" {
			header.Set(e.path, e.text)
		}
	}
	if resp == nil {
		return
	}
	switch e.verb {
	case "status":
		code, _ := strconv.Atoi(e.text)
		resp.StatusCode, resp.Status = code, fmt.Sprintf("%d %s", code, http.StatusText(code))
	case "body":
		text := e.text
		if unquoted, err := strconv.Unquote(text); err == nil {
			text = unquoted
		}
		_ = resp.Body.Close() // another one takes its place
		resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
		header.Del("Content-Length")
	case "member", "without-member":
		e.document(resp)
	case "without-param":
		e.location(resp)
	case "cut":
		_ = resp.Body.Close() // nothing more is to come
		resp.Body = io.NopCloser(strings.NewReader(""))
	}
}
