// Package streamable is the Streamable HTTP transport: a server as an
// http.Handler, and a client. One URL serves every revision that has the
// transport; the revision is determined for each request. Package httpserver makes a
// whole HTTP server of the handler, in one call.
//
//	h, err := streamable.New(srv, nil)
//	…
//	mux.Handle("/mcp", h)
//	…
//	c, err := client.Connect(ctx, &streamable.Client{URL: "https://example.com/mcp"}, nil)
//
// Spec: 2026-07-28 basic/transports/streamable-http.
// Spec: 2025-11-25 basic/transports#streamable-http.
package streamable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/httpserve"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Handler serves an mcp.Handler over HTTP. It is safe for concurrent use, and
// can be mounted at any path; that path is the MCP endpoint.
type Handler struct {
	handler   mcp.Handler
	opts      Options
	decoder   *jsonrpc.Decoder
	stateless *era.Stateless
	guard     *httpserve.Guard
	proxies   *httpserve.Proxies
	limits    *httpserve.Limits
	memory    *httpserve.Memory
	sessions  *sessions
	seen      *tap.Conn // for requests that belong to no session

	ctx      context.Context //nolint:containedctx // the handler's lifetime: cancelled by Close
	down     context.CancelCauseFunc
	mu       sync.Mutex // guards adding to busy against Close, and requests
	busy     sync.WaitGroup
	requests map[*era.Context]bool // stateless ones in flight, and whether they count as calls

	calls httpserve.Calls // requests in flight, of both eras, that end by themselves
}

var _ http.Handler = (*Handler)(nil)

// New returns a Handler. opts may be nil. It fails if h is nil or an option is
// invalid.
func New(h mcp.Handler, opts *Options) (*Handler, error) {
	o := opts.withDefaults()
	stateless, err := era.NewStateless(h, o.ServeOptions)
	if err != nil {
		return nil, err
	}
	g, err := httpserve.NewGuard(o.Hosts, o.Origins)
	if err != nil {
		return nil, err
	}
	proxies, err := httpserve.NewProxies(o.TrustedProxies)
	if err != nil {
		return nil, err
	}
	s := &Handler{handler: h, opts: o, proxies: proxies, decoder: era.Decoder(o.ServeOptions), stateless: stateless, guard: g, limits: httpserve.NewLimits(o.MaxPerClient, o.Rate, o.Burst), memory: httpserve.NewMemory(o.MaxBytesInFlight)}
	s.ctx, s.down = context.WithCancelCause(context.Background())
	s.requests = map[*era.Context]bool{}
	s.sessions, s.seen = newSessions(s), tap.Serving(o.ServeOptions)
	return s, nil
}

// Close ends everything: it cancels all requests, whose clients get an error as their
// answer, ends every stream and session, and waits until all requests are answered, or
// until ctx ends and its cause is returned. Call Drain first to let requests finish.
// What comes later is refused with 503. Close does not close network listeners: call
// it before http.Server.Shutdown, or register it with RegisterOnShutdown.
func (h *Handler) Close(ctx context.Context) error {
	h.mu.Lock()
	h.down(era.ErrShutdown)
	for c := range h.requests {
		c.End(era.ErrShutdown)
	}
	h.mu.Unlock()
	done := make(chan struct{})
	go func() { // ends with the last request; all of them are cancelled
		h.sessions.close()
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

// Sessions returns the number of open sessions.
func (h *Handler) Sessions() int { return h.sessions.len() }

func (h *Handler) response(w http.ResponseWriter, broken func(error)) *httpserve.Response {
	return httpserve.NewResponse(w, h.opts.WriteTimeout, h.opts.KeepAlive, broken)
}

func (h *Handler) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil {
		return false
	}
	h.busy.Add(1)
	return true
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.opts.Tap != nil {
		w = httpserve.Show(w, r, h.sessions.connOf(r))
	}
	defer httpserve.LimitRest(w, r, h.opts.ReadTimeout)
	if !h.enter() {
		h.refuseMessage(w, http.StatusServiceUnavailable, jsonrpc.ID{}, errEnding)
		return
	}
	defer h.busy.Done()
	if h.guard.CORS(w, r) {
		return
	}
	sender, client := h.admit(w, r)
	if client == nil {
		return
	}
	defer h.limits.Leave(client)
	if r.Method == http.MethodPost {
		h.post(w, r, sender)
		return
	}
	h.visit(w, r, sender)
}

// admit checks who sends a request, and counts it as in flight. If the request is
// refused, admit answers it and returns a nil Client.
func (h *Handler) admit(w http.ResponseWriter, r *http.Request) (era.Sender, *httpserve.Client) {
	if err := h.guard.Check(r); err != nil {
		h.opts.Logger.WarnContext(r.Context(), "request refused", "reason", err, "remote", r.RemoteAddr)
		h.refuse(w, http.StatusForbidden, jsonrpc.CodeInvalidRequest, err.Error())
		return era.Sender{}, nil
	}
	sender := httpserve.SenderOf(r, h.opts.Principal, h.proxies)
	client, retry := h.limits.Enter(&sender)
	if client == nil {
		w.Header().Set("Retry-After", retry)
		h.refuse(w, http.StatusTooManyRequests, jsonrpc.CodeInternalError, "too many requests; come back after "+retry+" s")
	}
	return sender, client
}

// visit serves a request that carries no message, and so concerns a session.
func (h *Handler) visit(w http.ResponseWriter, r *http.Request, sender era.Sender) {
	hasSessions := h.hasSessions(r.Context())
	switch {
	case r.Method == http.MethodGet && hasSessions:
		h.sessions.get(w, r, sender)
	case r.Method == http.MethodDelete && hasSessions:
		h.sessions.delete(w, r, sender)
	default:
		// Spec: 2026-07-28 basic/transports/streamable-http#earlier-streamable-http-revisions.
		allow := "POST"
		if hasSessions {
			allow = "GET, POST, DELETE"
		}
		w.Header().Set("Allow", allow)
		h.refuse(w, http.StatusMethodNotAllowed, jsonrpc.CodeInvalidRequest, "the endpoint takes "+allow)
	}
}

func (h *Handler) post(w http.ResponseWriter, r *http.Request, sender era.Sender) {
	if status, err := acceptable(r); err != nil {
		h.refuse(w, status, jsonrpc.CodeInvalidRequest, err.Error())
		return
	}
	body, hold, status, err := h.body(w, r, &sender)
	if err != nil {
		h.refuse(w, status, jsonrpc.CodeInvalidRequest, err.Error())
		return
	}
	defer hold.Release()
	if jsonrpc.IsBatch(body) && h.hasSessions(r.Context()) {
		h.sessions.batch(w, r, body, hold, sender)
		return
	}
	m, err := h.decoder.Decode(body)
	if err != nil {
		h.sessions.malformed(w, r, m, err, sender)
		h.refuseMessage(w, http.StatusBadRequest, answerable(m), err)
		return
	}
	version := era.VersionOf(m)
	if version != nil || ofNoSession(r) || !h.hasSessions(r.Context()) {
		h.serveStateless(w, r, m, version, sender) //nolint:contextcheck // its context also ends with the handler
		return
	}
	h.sessions.post(w, r, m, hold, sender)
}

// answerable returns the ID with which a malformed message may be answered. The ID
// of a response was assigned by the server, so a client could not match it.
func answerable(m *jsonrpc.Message) jsonrpc.ID {
	if m.Kind == jsonrpc.Response {
		return jsonrpc.ID{}
	}
	return m.ID
}

// acceptable checks the Content-Type and the Accept header of a POST.
//
// Spec: 2026-07-28 basic/transports/streamable-http#sending-messages (2).
func acceptable(r *http.Request) (int, error) {
	if err := httpserve.CheckType(r); err != nil {
		return http.StatusUnsupportedMediaType, err
	}
	if object, events := accepted(r.Header); !object || !events {
		return http.StatusNotAcceptable, errors.New("the Accept header must list application/json and text/event-stream")
	}
	return 0, nil
}

// body reads the request's body. An error comes with the status to refuse it by.
func (h *Handler) body(w http.ResponseWriter, r *http.Request, from *era.Sender) ([]byte, *httpserve.Hold, int, error) {
	body, hold, err := httpserve.Body(w, r, from, h.memory, int64(h.opts.MaxMessageBytes), h.opts.ReadTimeout)
	switch {
	case errors.Is(err, httpserve.ErrLong):
		return nil, nil, http.StatusRequestEntityTooLarge, fmt.Errorf("the body is over the limit of %d bytes", h.opts.MaxMessageBytes)
	case errors.Is(err, httpserve.ErrBusy):
		w.Header().Set("Retry-After", "1")
		return nil, nil, http.StatusServiceUnavailable, err
	case err != nil:
		return nil, nil, http.StatusBadRequest, errors.New("the body did not arrive completely")
	}
	return body, hold, 0, nil
}

// dropped counts the message of a refused POST as dropped, unless it is a request,
// which the refusal answers.
func (h *Handler) dropped(w http.ResponseWriter, m *jsonrpc.Message, err error) {
	if m.Kind != jsonrpc.Request {
		httpserve.ConnOf(w, h.seen).Drop(mcp.Received, mcp.DropRefused, m.Method, err)
	}
}

// refuse answers an HTTP request with an error that has no ID.
func (h *Handler) refuse(w http.ResponseWriter, status int, code int64, reason string) {
	h.refuseMessage(w, status, jsonrpc.ID{}, jsonrpc.Errorf(code, "%s", reason))
}

// refuseMessage answers an HTTP request with an error, which has no id member if id
// is zero.
func (h *Handler) refuseMessage(w http.ResponseWriter, status int, id jsonrpc.ID, err error) {
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) {
		rpc = jsonrpc.Errorf(jsonrpc.CodeInternalError, "internal error")
	}
	var frame json.RawMessage
	if id.IsZero() {
		frame, err = jsonrpc.AppendNoID(nil, rpc)
	} else {
		frame, err = jsonrpc.Append(nil, jsonrpc.NewError(id, rpc))
	}
	if err != nil {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(frame) //nolint:gosec // JSON, which no browser takes for a page; it does not matter if the client is gone
}
