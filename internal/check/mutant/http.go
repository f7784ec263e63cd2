package mutant

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
)

// HTTP puts the faults between a client and what carries its requests.
func (f *Faulty) HTTP(base http.RoundTripper) http.RoundTripper {
	return &transport{f.wire, base}
}

type transport struct {
	wire *wire
	base http.RoundTripper
}

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	asked, err := t.request(req)
	if err != nil {
		return nil, err
	}
	resp, err := t.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if err := t.response(resp); err != nil {
		return nil, err
	}
	t.head(false, asked, resp.Header, resp)
	return resp, nil
}

// request changes what goes to the server, and returns the message as it was.
func (t *transport) request(req *http.Request) (*frame, error) {
	asked := &frame{kind: "http", method: req.Method, conn: 1}
	if req.Body != nil {
		raw, err := io.ReadAll(req.Body)
		_ = req.Body.Close() // it was read
		if err != nil {
			return nil, err
		}
		t.wire.mu.Lock()
		if f := t.wire.read(1, true, raw); f != nil && len(raw) > 0 {
			asked = f
		}
		t.wire.mu.Unlock()
		// Only one message fits into a request: further ones are left out.
		if len(raw) > 0 {
			raw = append(t.wire.pass(1, true, raw), nil)[0]
		}
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	}
	t.head(true, asked, req.Header, nil)
	return asked, nil
}

// response changes the messages of a response.
func (t *transport) response(resp *http.Response) error {
	switch peer.MediaType(resp.Header) {
	case "text/event-stream":
		resp.Body = newEvents(t.wire, resp.Body)
	case "application/json":
		raw, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close() // it was read
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(raw)) > 0 {
			raw = bytes.Join(t.wire.pass(1, false, raw), []byte("\n"))
		}
		resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
		resp.Header.Set("Content-Length", strconv.Itoa(len(raw)))
	}
	return nil
}

// head changes the head of a request or of a response. Its switches name the
// method of the message that the request carries, or that of HTTP.
func (t *transport) head(toServer bool, asked *frame, header http.Header, resp *http.Response) {
	t.wire.mu.Lock()
	defer t.wire.mu.Unlock()
	for n := range t.wire.mutant.Switches {
		s := &t.wire.mutant.Switches[n]
		if s.Kind != "http" || s.ToServer != toServer || t.wire.used[n] {
			continue
		}
		as := Switch{Kind: "any", Method: s.Method, Where: s.Where, After: s.After}
		if !t.wire.matches(&as, asked) {
			continue
		}
		t.wire.fired = true
		t.wire.used[n] = s.Once
		for _, e := range s.Edits {
			e.head(header, resp)
		}
	}
}

func (e edit) head(header http.Header, resp *http.Response) {
	switch e.verb {
	case "header":
		header.Set(e.path, e.text)
	case "without-header":
		header.Del(e.path)
	}
	if resp == nil {
		return
	}
	switch e.verb {
	case "status":
		code, _ := strconv.Atoi(e.text)
		resp.StatusCode, resp.Status = code, fmt.Sprintf("%d %s", code, http.StatusText(code))
	case "body":
		_ = resp.Body.Close() // another one takes its place
		resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(e.text)), int64(len(e.text))
		header.Del("Content-Length")
	case "cut":
		_ = resp.Body.Close() // nothing more is to come
		resp.Body = io.NopCloser(strings.NewReader(""))
	}
}

// events changes the messages of an event stream.
type events struct {
	*io.PipeReader

	body io.ReadCloser
	done chan struct{}
}

func newEvents(w *wire, body io.ReadCloser) io.ReadCloser {
	r, to := io.Pipe()
	e := &events{PipeReader: r, body: body, done: make(chan struct{})}
	go func() { // ends with the stream
		defer close(e.done)
		_ = to.CloseWithError(e.copy(w, to)) // never fails
	}()
	return e
}

// copy passes events on. Only the data is changed: all that stands before it in
// an event stays there.
func (e *events) copy(w *wire, to io.Writer) error {
	return peer.RawEvents(e.body, func(lines []string, data []byte) error {
		if len(data) == 0 || data[0] != '{' {
			_, err := io.WriteString(to, strings.Join(lines, "\n")+"\n\n")
			return err
		}
		head := ""
		for _, line := range lines {
			if !strings.HasPrefix(line, "data:") {
				head += line + "\n"
			}
		}
		for _, raw := range w.pass(1, false, data) {
			text := head + "data: " + strings.ReplaceAll(string(raw), "\n", "\ndata: ") + "\n\n"
			if _, err := io.WriteString(to, text); err != nil {
				return err
			}
		}
		return nil
	})
}

func (e *events) Close() error {
	_ = e.PipeReader.Close() // never fails
	err := e.body.Close()
	<-e.done
	return err
}
