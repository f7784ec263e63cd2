// Package streamable is the Streamable HTTP transport: a server as an
// http.Handler, and a client. One URL serves every revision that has the
// transport at once; which one a request speaks is decided request by request.
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
	"github.com/parley-mcp/parley/internal/revision"
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
	limits    *httpserve.Limits
	sessions  *sessions
	seen      *tap.Conn // of what is on no connection of its own

	ctx      context.Context //nolint:containedctx // the handler's life: ended by Close
	down     context.CancelCauseFunc
	mu       sync.Mutex // guards adding to busy against Close, and requests
	busy     sync.WaitGroup
	requests map[*era.Context]struct{} // stateless ones that are being served
}

var _ http.Handler = (*Handler)(nil)

// New returns a Handler. opts may be nil. It fails when an option is wrong.
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
	s := &Handler{handler: h, opts: o, decoder: era.Decoder(o.ServeOptions), stateless: stateless, guard: g, limits: httpserve.NewLimits(o.MaxPerClient, o.Rate, o.Burst)}
	s.ctx, s.down = context.WithCancelCause(context.Background())
	s.requests = map[*era.Context]struct{}{}
	s.sessions, s.seen = newSessions(s), tap.Serving(o.ServeOptions)
	return s, nil
}

// Close ends every stream and session in good order and waits until all
// requests are answered, or ctx ends. Requests that come later are refused
// with 503. It does not close network listeners: call it before, or from,
// http.Server.RegisterOnShutdown.
func (h *Handler) Close(ctx context.Context) error {
	h.mu.Lock()
	h.down(era.ErrShutdown)
	for c := range h.requests {
		c.End(era.ErrShutdown)
	}
	h.mu.Unlock()
	done := make(chan struct{})
	go func() { // ends with the last request, all of which are cancelled
		h.sessions.close()
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

// Sessions returns how many sessions there are.
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
		h.refuse(w, http.StatusServiceUnavailable, jsonrpc.CodeInternalError, "the server is shutting down")
		return
	}
	defer h.busy.Done()
	sender, client := h.admit(w, r)
	if client == nil {
		return
	}
	defer h.limits.Leave(client)
	if r.Method == http.MethodPost {
		h.post(w, r, sender) //nolint:contextcheck // what a session serves outlives the request that brings it
		return
	}
	h.visit(w, r, sender)
}

// admit says who sends a request, and counts it in. It returns nil, and has
// answered the request, if that may not be.
func (h *Handler) admit(w http.ResponseWriter, r *http.Request) (era.Sender, *httpserve.Client) {
	if err := h.guard.Check(r); err != nil {
		h.opts.Logger.WarnContext(r.Context(), "request refused", "reason", err, "remote", r.RemoteAddr)
		h.refuse(w, http.StatusForbidden, jsonrpc.CodeInvalidRequest, err.Error())
		return era.Sender{}, nil
	}
	sender := httpserve.SenderOf(r, h.opts.Principal)
	client, retry := h.limits.Enter(r, sender.Principal)
	if client == nil {
		w.Header().Set("Retry-After", retry)
		h.refuse(w, http.StatusTooManyRequests, jsonrpc.CodeInternalError, "too many requests; come back after "+retry+" s")
	}
	return sender, client
}

// visit serves what brings no message: it is about a session.
func (h *Handler) visit(w http.ResponseWriter, r *http.Request, sender era.Sender) {
	hasSessions := len(revision.Session(h.handler.Describe(r.Context(), nil).Revisions)) > 0
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
	body, status, err := h.body(w, r)
	if err != nil {
		h.refuse(w, status, jsonrpc.CodeInvalidRequest, err.Error())
		return
	}
	if jsonrpc.IsBatch(body) {
		h.sessions.batch(w, r, body, sender)
		return
	}
	m, err := h.decoder.Decode(body)
	if err != nil {
		h.sessions.malformed(w, r, m, err, sender)
		h.refuseMessage(w, http.StatusBadRequest, answerable(m), err)
		return
	}
	version := era.VersionOf(m)
	if version != nil || ofNoSession(r) {
		h.serveStateless(w, r, m, version, sender)
		return
	}
	h.sessions.post(w, r, m, sender)
}

// answerable returns the ID under which a message that could not be read may be
// answered. That of a response is the server's own.
func answerable(m *jsonrpc.Message) jsonrpc.ID {
	if m.Kind == jsonrpc.Response {
		return jsonrpc.ID{}
	}
	return m.ID
}

// ofNoSession reports whether a header names no session revision. It is a second
// witness: such a request is refused in the words of its era even when its body
// lacks what it needs.
func ofNoSession(r *http.Request) bool {
	version := fieldVersion.get(r.Header)
	return version != "" && !isSession(version) && fieldSession.get(r.Header) == ""
}

func isSession(version string) bool {
	r, ok := mcp.ParseRevision(version)
	return ok && !era.StatelessRevision(r)
}

// acceptable checks what the client sends and takes.
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

// body reads the request's body, within its bounds of size and time.
func (h *Handler) body(w http.ResponseWriter, r *http.Request) ([]byte, int, error) {
	body, err := httpserve.Body(w, r, int64(h.opts.MaxMessageBytes), h.opts.ReadTimeout)
	switch {
	case errors.Is(err, httpserve.ErrLong):
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("the body is over the limit of %d bytes", h.opts.MaxMessageBytes)
	case err != nil:
		return nil, http.StatusBadRequest, errors.New("the body did not arrive whole")
	}
	return body, 0, nil
}

// dropped says of a message whose request is refused that it is not served.
// One that waits for an answer has that in the refusal.
func (h *Handler) dropped(w http.ResponseWriter, m *jsonrpc.Message, err error) {
	if m.Kind != jsonrpc.Request {
		httpserve.ConnOf(w, h.seen).Drop(mcp.Received, mcp.DropRefused, m.Method, err)
	}
}

// refuse answers a request whose message is not known.
func (h *Handler) refuse(w http.ResponseWriter, status int, code int64, reason string) {
	h.refuseMessage(w, status, jsonrpc.ID{}, jsonrpc.Errorf(code, "%s", reason))
}

// refuseMessage answers with an error, which has no id member where there is
// no ID.
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
	_, _ = w.Write(frame) // a client that is gone does not matter
}
