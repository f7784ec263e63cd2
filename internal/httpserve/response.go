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

// Response writes the response to one HTTP request: one JSON object, or an event
// stream, which the first event begins. A client that does not accept a message
// in time is cut off. Response is safe for concurrent use.
type Response struct {
	w       http.ResponseWriter
	rc      http.ResponseController
	timeout time.Duration // of a write
	alive   time.Duration // between comments; zero or negative means none
	broken  func(error)   // called once, when writing fails
	seen    *tap.Request  // nil without a tap

	mu      sync.Mutex
	stream  bool
	closed  bool
	quiet   func() // opens the stream when nothing was written for a while; nil is Start
	ticking *time.Timer
}

// NewResponse returns a Response. timeout is how long the client may take to
// accept a message. alive is the time between the comments on a quiet stream; zero
// or negative means none. A response that has not begun by then becomes a stream, so
// that the connection of a long request stays open as well. broken is called once,
// when writing fails.
func NewResponse(w http.ResponseWriter, timeout, alive time.Duration, broken func(error)) *Response {
	resp := &Response{w: w, rc: *http.NewResponseController(w), timeout: timeout, alive: alive, broken: broken, seen: requestOf(w)}
	if alive > 0 {
		resp.mu.Lock()
		defer resp.mu.Unlock()
		resp.ticking = time.AfterFunc(alive, resp.comment)
	}
	return resp
}

// OnQuiet sets what opens the stream if nothing was written for a while. It must call
// Start or Event, and do nothing if the response is over.
func (resp *Response) OnQuiet(open func()) {
	resp.mu.Lock()
	defer resp.mu.Unlock()
	resp.quiet = open
}

// open begins an event stream.
//
// Spec: 2026-07-28 basic/transports/streamable-http#receiving-messages.
func (resp *Response) open() {
	h := resp.w.Header()
	h.Set("Content-Type", sse.ContentType)
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	_ = resp.rc.SetWriteDeadline(time.Time{}) // http.Server.WriteTimeout would end the stream; not every writer supports deadlines
	resp.w.WriteHeader(http.StatusOK)
	resp.stream = true
	if resp.ticking != nil {
		resp.ticking.Reset(resp.alive)
	}
}

// Event writes an event, opening the stream if it is the first.
func (resp *Response) Event(e sse.Event) error {
	resp.mu.Lock()
	defer resp.mu.Unlock()
	if resp.closed {
		return ErrGone
	}
	if !resp.stream {
		resp.open()
	}
	if e.Name == "" || e.Name == "message" {
		resp.seen.Answer(e.Data, e.ID)
	}
	buffer := wire.NewBuffer()
	b := sse.Append(buffer.Room(), e)
	err := resp.write(b)
	buffer.Reuse(b) // net/http has sent or copied it
	return err
}

// Start opens the stream before there is an event, by a comment. It does nothing
// if the stream is open or the Response closed.
func (resp *Response) Start() error {
	resp.mu.Lock()
	defer resp.mu.Unlock()
	if resp.closed || resp.stream {
		return nil
	}
	resp.open()
	return resp.write(sse.Comment)
}

// comment keeps a quiet stream open, or opens it.
func (resp *Response) comment() {
	resp.mu.Lock()
	if !resp.stream && !resp.closed {
		quiet := resp.quiet
		resp.mu.Unlock()
		if quiet == nil {
			_ = resp.Start() // it does not matter if the client is gone
			return
		}
		quiet()
		return
	}
	defer resp.mu.Unlock()
	if resp.closed {
		return
	}
	if resp.write(sse.Comment) == nil {
		resp.ticking.Reset(resp.alive)
	}
}

func (resp *Response) write(b []byte) error {
	_ = resp.rc.SetWriteDeadline(time.Now().Add(resp.timeout)) // not every writer supports deadlines
	_, err := resp.w.Write(b)
	if err == nil {
		err = resp.rc.Flush()
	}
	if err != nil {
		resp.closed = true
		resp.broken(err)
		return err
	}
	// On HTTP/2 a deadline ends the stream when it passes, even if nothing is
	// being written.
	_ = resp.rc.SetWriteDeadline(time.Time{})
	return nil
}

// last sets the deadline for what net/http still has to send after the handler
// returns: its buffer, and the end of a stream. net/http then resets the deadline
// itself.
func (resp *Response) last() {
	_ = resp.rc.SetWriteDeadline(time.Now().Add(resp.timeout)) // not every writer supports deadlines
}

// Challenge sets the header WWW-Authenticate, unless value is "" or the response
// has begun.
func (resp *Response) Challenge(value string) {
	resp.mu.Lock()
	defer resp.mu.Unlock()
	if value != "" && !resp.stream && !resp.closed {
		resp.w.Header().Set("WWW-Authenticate", value)
	}
}

// countedBytes is the size up to which net/http sets Content-Length itself,
// instead of sending the response in chunks.
const countedBytes = 2 << 10

// Object writes the response as one JSON object. It reports false, and writes
// nothing, when a stream has begun or the client is gone; err is the error of the
// write.
func (resp *Response) Object(status int, frame []byte) (ok bool, err error) {
	resp.mu.Lock()
	defer resp.mu.Unlock()
	if resp.stream || resp.closed {
		return false, nil
	}
	resp.closed = true
	resp.w.Header().Set("Content-Type", "application/json")
	if len(frame) > countedBytes {
		resp.w.Header().Set("Content-Length", strconv.Itoa(len(frame)))
	}
	resp.last()
	resp.w.WriteHeader(status)
	if _, err = resp.w.Write(frame); err != nil {
		resp.broken(err)
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

// Cut ends the stream, and its connection, while the handler goes on: it hijacks
// the connection from net/http and writes the last chunk itself. The client sees
// the stream end cleanly.
//
// This lets a request of a session be served on net/http's goroutine, although its
// stream may have to end before the request does. With a goroutine for each
// request instead, a small call in a session over HTTP takes 5 to 9 % more
// processor time, 1.27 to 1.32 times the floor where 1.25 is the budget (measured
// 2026-11-22, docs/decisions/0008-hot-path.md). A bug here makes the client see its
// stream break off, and take what it has for half of an answer: every event must
// have been flushed before, and the response must be chunked, as Cuttable requires.
func (resp *Response) Cut() error {
	resp.mu.Lock()
	defer resp.mu.Unlock()
	if resp.closed || !resp.stream {
		return nil
	}
	resp.closed = true
	conn, _, err := resp.rc.Hijack()
	if err != nil {
		return err
	}
	_ = conn.SetWriteDeadline(time.Now().Add(resp.timeout)) // if there is no deadline, closing does not wait either
	_, err = conn.Write([]byte("0\r\n\r\n"))                // the last chunk
	return errors.Join(err, conn.Close())
}

// Close ends the use of the http.ResponseWriter, which must not be used after its
// handler has returned.
func (resp *Response) Close() {
	resp.mu.Lock()
	defer resp.mu.Unlock()
	if resp.ticking != nil {
		resp.ticking.Stop()
	}
	if resp.closed {
		return // an object, whose deadline is set, or a failure
	}
	resp.closed = true
	resp.last()
}

// LimitRest bounds how long net/http waits for the rest of an unread body, such as
// that of a refused request, after the handler has returned. On HTTP/2 it does not
// wait.
func LimitRest(w http.ResponseWriter, r *http.Request, timeout time.Duration) {
	if r.ProtoMajor == 1 && r.Body != http.NoBody {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(timeout)) // not every writer supports deadlines
	}
}
