package httpserve

import (
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/sse"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/internal/wire"
)

// ErrGone says that the client of a Response is gone.
var ErrGone = errors.New("the client is gone")

// Response writes the response of one HTTP request: a JSON object, or a stream of
// events from the first event on. A client that does not take a message in
// time is cut off.
type Response struct {
	w       http.ResponseWriter
	rc      http.ResponseController
	timeout time.Duration // of a write
	alive   time.Duration // between comments; not positive for none
	broken  func(error)   // is told once that writing failed
	seen    *tap.Request  // nil where nobody looks

	mu      sync.Mutex
	stream  bool
	closed  bool
	ticking *time.Timer
}

// NewResponse returns a Response. timeout is how long the client may take to accept a
// message; alive is the time between the comments of a quiet stream, not
// positive for none. broken is told once that writing failed.
func NewResponse(w http.ResponseWriter, timeout, alive time.Duration, broken func(error)) *Response {
	return &Response{w: w, rc: *http.NewResponseController(w), timeout: timeout, alive: alive, broken: broken, seen: requestOf(w)}
}

// open begins an event stream.
//
// Spec: 2026-07-28 basic/transports/streamable-http#receiving-messages.
func (p *Response) open() {
	h := p.w.Header()
	h.Set("Content-Type", sse.ContentType)
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	_ = p.rc.SetWriteDeadline(time.Time{}) // that of the server's WriteTimeout would end the stream; a writer without deadlines has none
	p.w.WriteHeader(http.StatusOK)
	p.stream = true
	if p.alive > 0 {
		p.ticking = time.AfterFunc(p.alive, p.comment)
	}
}

// Event writes an event, opening the stream if it is the first.
func (p *Response) Event(e sse.Event) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrGone
	}
	if !p.stream {
		p.open()
	}
	if e.Name == "" || e.Name == "message" {
		p.seen.Answer(e.Data, e.ID)
	}
	buffer := wire.NewBuffer()
	b := sse.Append(buffer.Room(), e)
	err := p.write(b)
	buffer.Reuse(b) // net/http has sent or copied it
	return err
}

// Start opens the stream before there is an event.
func (p *Response) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.stream {
		return nil
	}
	p.open()
	return p.write(sse.Comment)
}

// comment keeps a quiet stream open.
func (p *Response) comment() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	if p.write(sse.Comment) == nil {
		p.ticking.Reset(p.alive)
	}
}

func (p *Response) write(b []byte) error {
	_ = p.rc.SetWriteDeadline(time.Now().Add(p.timeout)) // a writer without deadlines has none
	_, err := p.w.Write(b)
	if err == nil {
		err = p.rc.Flush()
	}
	if err != nil {
		p.closed = true
		p.broken(err)
		return err
	}
	// On HTTP/2 a deadline that passes ends the stream, even when nothing is
	// being written.
	_ = p.rc.SetWriteDeadline(time.Time{})
	return nil
}

// last bounds what the server has yet to send when its handler has returned:
// what it buffers, and the end of a stream. After that it takes the deadline
// back itself.
func (p *Response) last() {
	_ = p.rc.SetWriteDeadline(time.Now().Add(p.timeout)) // a writer without deadlines has none
}

// Challenge sets WWW-Authenticate for the Object to come; "" sets nothing.
func (p *Response) Challenge(value string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if value != "" && !p.stream && !p.closed {
		p.w.Header().Set("WWW-Authenticate", value)
	}
}

// countedBytes is the size up to which net/http counts a response itself,
// instead of sending it in chunks.
const countedBytes = 2 << 10

// Object writes the one JSON object of the response. It reports false when a
// stream has begun, or the client is gone; err is that of writing.
func (p *Response) Object(status int, frame []byte) (ok bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stream || p.closed {
		return false, nil
	}
	p.closed = true
	p.w.Header().Set("Content-Type", "application/json")
	if len(frame) > countedBytes {
		p.w.Header().Set("Content-Length", strconv.Itoa(len(frame)))
	}
	p.last()
	p.w.WriteHeader(status)
	if _, err = p.w.Write(frame); err != nil {
		p.broken(err)
	}
	return true, err
}

// Cuttable reports whether Cut can end the response to r, which w writes.
func Cuttable(w http.ResponseWriter, r *http.Request) bool {
	if seen, shown := w.(*seenWriter); shown {
		w = seen.ResponseWriter
	}
	_, ok := w.(http.Hijacker)
	return ok && r.ProtoMajor == 1 && r.ProtoMinor > 0
}

// Cut ends a stream whose handler goes on, and the connection with it: it takes
// the connection from net/http and writes the last chunk by hand. A client sees the
// stream end in good order.
//
// So a request of a session can be served on the goroutine of net/http, though its
// stream may have to end before it. With a goroutine for each, a small call in a
// session over HTTP takes 5 to 9 % more processor time, 1.27 to 1.32 times the
// floor where 1.25 is the budget (measured 2026-11-22,
// docs/decisions/0008-hot-path.md). When it is wrong, the client sees its stream
// break off, and takes what it has for half of an answer: each event must have
// been flushed before, and the response must be one in chunks, as Cuttable says.
func (p *Response) Cut() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || !p.stream {
		return nil
	}
	p.closed = true
	conn, _, err := p.rc.Hijack()
	if err != nil {
		return err
	}
	_ = conn.SetWriteDeadline(time.Now().Add(p.timeout)) // without a deadline, closing does not wait either
	_, err = conn.Write([]byte("0\r\n\r\n"))             // the last chunk
	return errors.Join(err, conn.Close())
}

// Close ends the use of the response writer, which must not outlive the
// request. What was written stays.
func (p *Response) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ticking != nil {
		p.ticking.Stop()
	}
	if p.closed {
		return // an object, whose time runs already, or a failure
	}
	p.closed = true
	p.last()
}

// LimitRest bounds how long the server waits, once its handler has returned,
// for the rest of a body that was not read: that of a refused request. On
// HTTP/2 nothing is waited for.
func LimitRest(w http.ResponseWriter, r *http.Request, timeout time.Duration) {
	if r.ProtoMajor == 1 && r.Body != http.NoBody {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(timeout)) // a writer without deadlines has none
	}
}
