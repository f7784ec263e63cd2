package sse

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/httpserve"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/mcp"
)

// Options configure a Handler. The zero value is safe and complete.
type Options struct {
	mcp.ServeOptions

	// Hosts, Origins, Principal and TrustedProxies are as in streamable.Options.
	Hosts          []string
	Origins        []string
	Principal      func(r *http.Request) string
	TrustedProxies []string
	// MaxStreams bounds the open streams. 0 means 10,000.
	MaxStreams int
	// MaxPerClient, Rate and Burst are as in streamable.Options.
	MaxPerClient int
	Rate         float64
	Burst        int
	// MaxBytesInFlight is as in streamable.Options.
	MaxBytesInFlight int64
	// ReadTimeout is how long the body of a POST may take to arrive, and
	// WriteTimeout how long a client may take to accept one message. 0 means
	// 30 seconds.
	ReadTimeout, WriteTimeout time.Duration
	// KeepAlive is the time between the comments that keep a quiet stream open.
	// 0 means 15 seconds; negative means none.
	KeepAlive time.Duration
}

func (o *Options) withDefaults() Options {
	var d Options
	if o != nil {
		d = *o
	}
	d.ServeOptions = era.WithDefaults(&d.ServeOptions)
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

// Handler serves an mcp.Handler over HTTP+SSE, for clients of 2024-11-05. A GET
// opens the stream, whose first event tells the client where to POST its messages:
// the same path with a query. Mount it at a path of its own, such as /sse. It is
// safe for concurrent use.
//
// Spec: 2024-11-05 basic/transports#http-with-sse.
type Handler struct {
	handler mcp.Handler
	opts    Options
	guard   *httpserve.Guard
	proxies *httpserve.Proxies
	limits  *httpserve.Limits
	memory  *httpserve.Memory
	seen    *tap.Conn // for requests that belong to no stream
	calls   httpserve.Calls

	mu      sync.Mutex
	closed  bool
	streams map[string]*connection
	busy    sync.WaitGroup
}

var _ http.Handler = (*Handler)(nil)

// New returns a Handler. opts may be nil. It fails if h is nil or an option is
// invalid.
func New(h mcp.Handler, opts *Options) (*Handler, error) {
	if h == nil {
		return nil, errors.New("sse.New: the mcp.Handler is nil; pass a server, such as that of server.New")
	}
	o := opts.withDefaults()
	guard, err := httpserve.NewGuard(o.Hosts, o.Origins)
	if err != nil {
		return nil, err
	}
	proxies, err := httpserve.NewProxies(o.TrustedProxies)
	if err != nil {
		return nil, err
	}
	return &Handler{
		handler: h, opts: o, proxies: proxies, guard: guard,
		limits: httpserve.NewLimits(o.MaxPerClient, o.Rate, o.Burst), streams: map[string]*connection{},
		memory: httpserve.NewMemory(o.MaxBytesInFlight),
		seen:   tap.Serving(o.ServeOptions),
	}, nil
}

// Drain lets the requests in flight finish: it waits until the answers of all of them are
// on their streams, or until ctx ends and its cause is returned. Call it before Close,
// which cancels what is left. From now on new streams, and messages that are requests, are
// refused with 503; answers to the server's questions and cancellations still come in.
// Streams go on until Close.
func (h *Handler) Drain(ctx context.Context) error { return h.calls.Drain(ctx) }

// Close ends all streams and waits until their requests have ended, or until ctx
// ends and its cause is returned. Call Drain first to let requests finish. Streams can no
// longer be opened afterwards: the answer is 503.
func (h *Handler) Close(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	for _, c := range h.streams {
		c.end(era.ErrShutdown)
	}
	h.mu.Unlock()
	done := make(chan struct{})
	go func() { // ends with the last stream; all of them were just cancelled
		h.busy.Wait()
		h.memory.Close()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Sessions returns the number of open sessions: each client has a stream, and a session with it.
func (h *Handler) Sessions() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.streams)
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.opts.Tap != nil {
		w = httpserve.Show(w, r, h.connOf(r))
	}
	defer httpserve.LimitRest(w, r, h.opts.ReadTimeout)
	if h.guard.CORS(w, r) {
		return
	}
	if err := h.guard.Check(r); err != nil {
		h.opts.Logger.WarnContext(r.Context(), "request refused", "reason", err, "remote", r.RemoteAddr)
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	sender := httpserve.SenderOf(r, h.opts.Principal, h.proxies)
	client, retry := h.limits.Enter(&sender)
	if client == nil {
		w.Header().Set("Retry-After", retry)
		http.Error(w, "too many requests", http.StatusTooManyRequests)
		return
	}
	defer h.limits.Leave(client)
	switch r.Method {
	case http.MethodGet:
		h.open(w, r, sender)
	case http.MethodPost:
		h.post(w, r, sender)
	default:
		w.Header().Set("Allow", "GET, POST")
		http.Error(w, "the endpoint takes GET and POST", http.StatusMethodNotAllowed)
	}
}
