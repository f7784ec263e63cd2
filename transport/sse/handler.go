package sse

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/httpserve"
	"github.com/parley-mcp/parley/internal/sse"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Options configure a Handler. The zero value is safe and complete.
type Options struct {
	mcp.ServeOptions

	// Hosts, Origins and Principal are as in streamable.Options.
	Hosts     []string
	Origins   []string
	Principal func(r *http.Request) string
	// MaxStreams bounds the open streams. 0 means 10,000.
	MaxStreams int
	// MaxPerClient, Rate and Burst are as in streamable.Options.
	MaxPerClient int
	Rate         float64
	Burst        int
	// ReadTimeout is how long the body of a POST may take to arrive, and
	// WriteTimeout how long a client may take to accept one message. 0 means
	// 30 seconds.
	ReadTimeout, WriteTimeout time.Duration
	// KeepAlive is the time between comments on a quiet stream. 0 means 15
	// seconds; negative means none.
	KeepAlive time.Duration
}

func (o *Options) withDefaults() Options {
	var d Options
	if o != nil {
		d = *o
	}
	d.ServeOptions = d.WithDefaults()
	if d.MaxStreams == 0 {
		d.MaxStreams = 10_000
	}
	if d.MaxPerClient == 0 {
		d.MaxPerClient = 1000
	}
	for _, t := range []*time.Duration{&d.ReadTimeout, &d.WriteTimeout} {
		if *t == 0 {
			*t = 30 * time.Second
		}
	}
	if d.KeepAlive == 0 {
		d.KeepAlive = 15 * time.Second
	}
	return d
}

// Handler serves an mcp.Handler over HTTP with SSE, for clients of 2024-11-05:
// GET opens the stream, and tells the client where to POST its messages, which
// is the same path with a query. Mount it at a path of its own, such as /sse.
// It is safe for concurrent use.
//
// Spec: 2024-11-05 basic/transports#http-with-sse.
type Handler struct {
	handler mcp.Handler
	opts    Options
	decoder *jsonrpc.Decoder
	guard   *httpserve.Guard
	limits  *httpserve.Limits

	mu      sync.Mutex
	closed  bool
	streams map[string]*conversation
	busy    sync.WaitGroup
}

var _ http.Handler = (*Handler)(nil)

// New returns a Handler. opts may be nil. It fails when an option is wrong.
func New(h mcp.Handler, opts *Options) (*Handler, error) {
	o := opts.withDefaults()
	guard, err := httpserve.NewGuard(o.Hosts, o.Origins)
	if err != nil {
		return nil, err
	}
	return &Handler{
		handler: h, opts: o, decoder: era.Decoder(o.ServeOptions), guard: guard,
		limits: httpserve.NewLimits(o.MaxPerClient, o.Rate, o.Burst), streams: map[string]*conversation{},
	}, nil
}

// Close ends all streams and waits until their requests have ended, or ctx
// has. Requests that come later are refused with 503.
func (h *Handler) Close(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	for _, c := range h.streams {
		c.end(era.ErrShutdown)
	}
	h.mu.Unlock()
	done := make(chan struct{})
	go func() { // ends with the last stream, all of which were just ended
		h.busy.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer httpserve.LimitRest(w, r, h.opts.ReadTimeout)
	if err := h.guard.Check(r); err != nil {
		h.opts.Logger.WarnContext(r.Context(), "request refused", "reason", err, "remote", r.RemoteAddr)
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	via := httpserve.Sender(r, h.opts.Principal)
	client, retry := h.limits.Enter(r, via.Principal)
	if client == nil {
		w.Header().Set("Retry-After", retry)
		http.Error(w, "too many requests", http.StatusTooManyRequests)
		return
	}
	defer h.limits.Leave(client)
	switch r.Method {
	case http.MethodGet:
		h.open(w, r, via)
	case http.MethodPost:
		h.post(w, r, via) //nolint:contextcheck // a message belongs to its stream, not to the POST that brings it
	default:
		w.Header().Set("Allow", "GET, POST")
		http.Error(w, "the endpoint takes GET and POST", http.StatusMethodNotAllowed)
	}
}

// conversation is one client: a session, and the stream that carries it.
type conversation struct {
	id        string
	principal string
	pen       *httpserve.Pen
	session   *era.Session
	inflight  era.InFlight
	ctx       context.Context //nolint:containedctx // the stream's life: ended with it
	end       context.CancelCauseFunc

	mu       sync.Mutex
	ending   bool
	requests sync.WaitGroup
	until    time.Time   // when the newest authorization ends
	expiry   *time.Timer // nil without an end
}

var _ era.Out = (*conversation)(nil)

// Message writes a notification or a request.
func (c *conversation) Message(_ context.Context, frame []byte) error {
	return c.pen.Event(sse.Event{Name: "message", Data: frame})
}

// Answer writes a response.
func (c *conversation) Answer(ctx context.Context, frame []byte, _ *era.Failure) error {
	return c.Message(ctx, frame)
}

// open serves a stream until its client leaves.
func (h *Handler) open(w http.ResponseWriter, r *http.Request, via era.Via) {
	c := h.begin(r, via.Principal)
	if c == nil {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "no more streams can be opened now", http.StatusServiceUnavailable)
		return
	}
	defer h.finish(c)
	c.pen = httpserve.NewPen(w, h.opts.WriteTimeout, h.opts.KeepAlive, func(error) { c.end(era.ErrCancelled) })
	defer c.pen.Close()
	c.session = era.NewSession(h.handler, h.opts.ServeOptions, c)
	c.renew(via.Authorization)
	endpoint := *r.URL
	endpoint.Scheme, endpoint.Host, endpoint.RawQuery = "", "", "sessionId="+c.id
	h.publish(c)
	if c.pen.Event(sse.Event{Name: "endpoint", Data: []byte(endpoint.String())}) == nil {
		<-c.ctx.Done()
	}
	c.drain()
}

func (h *Handler) begin(r *http.Request, principal string) *conversation {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails
	c := &conversation{id: hex.EncodeToString(id), principal: principal}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || len(h.streams) >= h.opts.MaxStreams {
		return nil
	}
	c.ctx, c.end = context.WithCancelCause(context.WithoutCancel(r.Context()))
	context.AfterFunc(r.Context(), func() { c.end(era.ErrCancelled) })
	h.busy.Add(1)
	return c
}

// publish makes a conversation known to POST.
func (h *Handler) publish(c *conversation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.streams[c.id] = c
	if h.closed {
		c.end(era.ErrShutdown)
	}
}

func (h *Handler) finish(c *conversation) {
	c.end(era.ErrShutdown)
	h.mu.Lock()
	delete(h.streams, c.id)
	h.mu.Unlock()
	h.busy.Done()
}

// drain ends what is being served and waits for it.
func (c *conversation) drain() {
	c.mu.Lock()
	c.ending = true
	if c.expiry != nil {
		c.expiry.Stop()
	}
	c.mu.Unlock()
	c.inflight.CancelAll(context.Cause(c.ctx))
	c.session.Close(jsonrpc.ErrClosed)
	c.requests.Wait()
}

// renew lets the stream go on as long as an authorization of its client. The
// client cannot open the stream anew without losing what is under way, but it
// shows with each message that it has a token that is still good.
func (c *conversation) renew(a *mcp.Authorization) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case a == nil || a.Expires.IsZero() || !a.Expires.After(c.until) || c.ending:
	case c.expiry == nil:
		c.until, c.expiry = a.Expires, time.AfterFunc(time.Until(a.Expires), func() { c.end(era.ErrExpired) })
	default:
		c.until = a.Expires
		c.expiry.Reset(time.Until(a.Expires))
	}
}

// post takes one message; its answer comes on the stream.
func (h *Handler) post(w http.ResponseWriter, r *http.Request, via era.Via) {
	h.mu.Lock()
	c := h.streams[r.URL.Query().Get("sessionId")]
	h.mu.Unlock()
	if c == nil || c.principal != via.Principal {
		http.Error(w, "no such stream; open one with GET", http.StatusNotFound)
		return
	}
	c.renew(via.Authorization)
	types := r.Header.Values("Content-Type") // two are none, as over Streamable HTTP
	if kind, _, err := mime.ParseMediaType(strings.Join(types, ",")); err != nil || kind != "application/json" || len(types) != 1 {
		http.Error(w, "Content-Type must be application/json", http.StatusUnsupportedMediaType)
		return
	}
	body, status := h.body(w, r)
	if status != 0 {
		http.Error(w, http.StatusText(status), status)
		return
	}
	m, err := h.decoder.Decode(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !h.take(c, m, via) {
		http.Error(w, "the stream has ended", http.StatusNotFound)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, "Accepted") // a client that is gone does not matter
}

func (h *Handler) body(w http.ResponseWriter, r *http.Request) ([]byte, int) {
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(h.opts.ReadTimeout)) // a writer without deadlines has none
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(h.opts.MaxMessageBytes)))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return nil, http.StatusRequestEntityTooLarge
	case err != nil:
		return nil, http.StatusBadRequest
	}
	_ = rc.SetReadDeadline(time.Time{})
	return body, 0
}

// take serves a message; requests run on a goroutine of their own, which ends
// with the stream at the latest. It reports false when the stream has ended.
func (h *Handler) take(c *conversation, m *jsonrpc.Message, via era.Via) bool {
	if !c.enter() {
		return false
	}
	via.SessionID = c.id
	if m.Kind != jsonrpc.Request || era.Inline(m) {
		defer c.requests.Done()
		if m.Kind != jsonrpc.Notification || !c.inflight.Notice(m) {
			c.session.Receive(c.ctx, m, c, via)
		}
		return true
	}
	ctx, err := c.inflight.Add(c.ctx, m, h.opts.MaxInFlight)
	if err != nil {
		defer c.requests.Done()
		h.refuse(c, m.ID, err)
		return true
	}
	out := c.inflight.Settling(m.ID, c)
	go func() { // ends with the request; drain cancels it and waits
		defer c.requests.Done()
		defer out.Forget()
		c.session.Receive(ctx, m, out, via)
	}()
	return true
}

func (c *conversation) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ending {
		c.requests.Add(1)
	}
	return !c.ending
}

func (h *Handler) refuse(c *conversation, id jsonrpc.ID, err error) {
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) {
		rpc = jsonrpc.Errorf(jsonrpc.CodeInternalError, "internal error")
	}
	if frame, err := jsonrpc.Append(nil, jsonrpc.NewError(id, rpc)); err == nil {
		_ = c.Message(c.ctx, frame) // a client that is gone shows in the next write
	}
}
