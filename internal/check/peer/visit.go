package peer

import (
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Visit is an HTTP request that a peer makes of the checker, and what it is
// answered: the counterpart of what a Conn over HTTP sends. The methods that
// answer may be called concurrently; what comes after the end goes nowhere.
type Visit struct {
	Exchange *Exchange
	// Message is what the body carries, or nil if there is none.
	Message *Message
	// Naming changes the names of the headers that go back, if set. It must be set
	// before anything is answered.
	Naming func(string) string

	log *Log
	w   http.ResponseWriter
	r   *http.Request

	mu    sync.Mutex
	begun bool // the head was sent
	ended bool
}

// Receive reads a request and logs it. place says to which connection of the
// log it belongs.
func Receive(log *Log, w http.ResponseWriter, r *http.Request, place func(body []byte) int) *Visit {
	limit := log.limits.Message
	raw, err := io.ReadAll(io.LimitReader(r.Body, int64(limit)+1))
	number := place(raw)
	e := &Exchange{
		Conn: number, Method: r.Method, URL: "http://" + r.Host + r.URL.RequestURI(), Header: r.Header.Clone(),
		Incoming: true, Err: err,
	}
	v := &Visit{Exchange: e, log: log, w: w, r: r}
	if len(raw) > 0 {
		e.Body = raw
	}
	log.Begin(e)
	if len(raw) > 0 && r.Method == http.MethodPost {
		v.Message = &Message{Conn: number, Raw: raw, Exchange: e}
		log.Add(v.Message)
	}
	return v
}

// Gone returns a channel that is closed when the peer has closed the connection,
// or the exchange has ended.
func (v *Visit) Gone() <-chan struct{} { return v.r.Context().Done() }

// Header is a header of the request, or "".
func (v *Visit) Header(name string) string { return v.r.Header.Get(name) }

// Path is the path of the request.
func (v *Visit) Path() string { return v.r.URL.Path }

// Query is a parameter of the request's URL, or "".
func (v *Visit) Query(name string) string { return v.r.URL.Query().Get(name) }

// Respond answers with a whole body. If message is set, the body is one.
func (v *Visit) Respond(status int, header http.Header, body []byte, message bool) *Message {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.begun || v.ended {
		return nil
	}
	v.head(status, header)
	var m *Message
	if message {
		m = &Message{Conn: v.Exchange.Conn, Sent: true, Raw: body, Exchange: v.Exchange}
		v.log.Add(m)
	}
	v.log.Update(func() { v.Exchange.Text = body })
	v.w.WriteHeader(status)
	_, _ = v.w.Write(body) // a peer that has gone shows in the log
	return m
}

// Stream begins an event stream, if none was begun.
func (v *Visit) Stream(header http.Header) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.stream(header)
}

func (v *Visit) stream(header http.Header) {
	if v.begun || v.ended {
		return
	}
	h := http.Header{"Content-Type": {"text/event-stream"}, "Cache-Control": {"no-store"}}
	maps.Copy(h, header)
	v.head(http.StatusOK, h)
	v.w.WriteHeader(http.StatusOK)
	v.flush()
}

// head logs the head of the response and sets its headers.
func (v *Visit) head(status int, header http.Header) {
	v.begun = true
	maps.Copy(v.w.Header(), header)
	v.rename(v.w.Header())
	v.log.Update(func() { v.Exchange.Status, v.Exchange.ResponseHeader = status, v.w.Header().Clone() })
}

// rename gives headers the names that are wanted. net/http writes names as they
// are, but adds a type of content where it does not find one.
func (v *Visit) rename(header http.Header) {
	if v.Naming == nil {
		return
	}
	for name, values := range maps.Clone(header) {
		delete(header, name)
		header[v.Naming(name)] = values
	}
	if _, ok := header["Content-Type"]; !ok {
		header["Content-Type"] = nil
	}
}

// Event sends an event, and begins the stream if that was not done. If message
// is set, its data is one.
func (v *Visit) Event(e *Event, message bool) *Message {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ended {
		return nil
	}
	v.stream(nil)
	var m *Message
	if message {
		m = &Message{Conn: v.Exchange.Conn, Sent: true, Raw: e.Data, Exchange: v.Exchange, Event: e}
		v.log.Add(m)
	}
	v.log.Update(func() { v.Exchange.Events = append(v.Exchange.Events, e) })
	var b strings.Builder
	for _, field := range []struct {
		name, value string
		there       bool
	}{{"event", e.Name, e.Name != ""}, {"id", e.ID, e.HasID || e.ID != ""}, {"retry", e.Retry, e.Retry != ""}} {
		if field.there {
			b.WriteString(field.name + ": " + field.value + "\n")
		}
	}
	if e.HasData || len(e.Data) > 0 {
		b.WriteString("data: " + strings.ReplaceAll(string(e.Data), "\n", "\ndata: ") + "\n")
	}
	v.write(b.String() + "\n")
	return m
}

// Comment sends lines that carry nothing.
func (v *Visit) Comment(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.ended {
		v.stream(nil)
		v.write(": " + text + "\n\n")
	}
}

func (v *Visit) write(text string) {
	_, _ = io.WriteString(v.w, text) // a peer that has gone shows in the log
	v.flush()
}

func (v *Visit) flush() { _ = http.NewResponseController(v.w).Flush() }

// Cut breaks the connection off, in the middle of whatever it carries.
func (v *Visit) Cut() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ended {
		return
	}
	v.end()
	v.log.Update(func() { v.Exchange.Aborted = true })
	if conn, _, err := http.NewResponseController(v.w).Hijack(); err == nil {
		_ = conn.Close() // it is broken off anyway
	}
}

// End logs that the exchange has ended. The handler returns after it.
func (v *Visit) End() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.ended {
		v.end()
	}
}

func (v *Visit) end() {
	v.ended = true
	left := v.r.Context().Err() != nil
	v.log.Update(func() {
		v.Exchange.Done, v.Exchange.Ended, v.Exchange.Left = true, time.Since(v.log.begun), left
	})
}
