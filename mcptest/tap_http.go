package mcptest

import (
	"bytes"
	"io"
	"mime"
	"net/http"

	"github.com/parley-mcp/parley/internal/sse"
)

// tappedHTTP passes the frames that HTTP carries to a tap: the bodies of
// requests, and of responses those that are JSON, or the events of a stream.
// The tap sees them as they are on the wire, whatever client and server make of
// them.
type tappedHTTP struct {
	http.RoundTripper
	tap func(fromClient bool, frame []byte)
}

func (f *tappedHTTP) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Method == http.MethodPost {
		body, err := io.ReadAll(r.Body)
		_ = r.Body.Close() // it was read
		if err != nil {
			return nil, err
		}
		f.tap(true, body)
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	resp, err := f.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	switch kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind {
	case "application/json":
		resp.Body = &tappedBody{ReadCloser: resp.Body, tap: f.tap}
	case sse.ContentType:
		resp.Body = &tappedEvents{ReadCloser: resp.Body, tap: f.tap}
	}
	return resp, nil
}

// tappedBody passes a body to a tap when its end has been read.
type tappedBody struct {
	io.ReadCloser
	tap  func(fromClient bool, frame []byte)
	read []byte
}

func (b *tappedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read = append(b.read, p[:n]...)
	if err == io.EOF && len(b.read) > 0 {
		b.tap(false, bytes.TrimSpace(b.read))
		b.read = nil
	}
	return n, err
}

// tappedEvents passes each message of a stream to a tap before its reader gets
// the message's last byte.
type tappedEvents struct {
	io.ReadCloser
	tap  func(fromClient bool, frame []byte)
	read []byte // of an event that is not complete yet
}

func (b *tappedEvents) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read = append(b.read, p[:n]...)
	for {
		// The servers of this module end lines with a newline.
		event, rest, whole := bytes.Cut(b.read, []byte("\n\n"))
		if !whole {
			return n, err
		}
		b.show(append(bytes.Clone(event), "\n\n"...))
		b.read = rest
	}
}

// show passes what an event carries to the tap, if it is a message.
func (b *tappedEvents) show(event []byte) {
	r := sse.NewReader(bytes.NewReader(event), maxFrame)
	defer r.Release()
	e, err := r.Next()
	if err == nil && len(e.Data) > 0 && (e.Name == "" || e.Name == "message") {
		b.tap(false, e.Data)
	}
}
