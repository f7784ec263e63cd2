package streamable

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/httpserve"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// connOf returns the tap's connection for a request: that of its session, or a new
// one, which the session keeps if the request opens one.
func (ss *sessions) connOf(r *http.Request) *tap.Conn {
	sender := httpserve.SenderOf(r, ss.h.opts.Principal, ss.h.proxies)
	if s := ss.lookup(fieldSession.get(r.Header), sender.Owner()); s != nil {
		return s.seen
	}
	return ss.h.seen.Another()
}

// find returns the session of a request, marked as in use, or answers the request
// with an error and returns nil. To anybody but the one who opened it, a session
// does not exist.
//
// Spec: 2025-11-25 basic/transports#session-management (2), (3).
func (ss *sessions) find(w http.ResponseWriter, r *http.Request, id jsonrpc.ID, sender era.Sender) *session {
	values := fieldSession.values(r.Header)
	if len(values) != 1 {
		ss.h.refuseMessage(w, http.StatusBadRequest, id, errSessionOnce)
		return nil
	}
	s := ss.lookup(values[0], sender.Owner())
	if s == nil || !s.use(r.Context()) {
		ss.gone(w, id)
		return nil
	}
	ss.table.used(s)
	return s
}

var errSessionOnce = jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "%s must be sent once; it comes with the answer to initialize", fieldSession)

func (ss *sessions) gone(w http.ResponseWriter, id jsonrpc.ID) {
	ss.h.refuseMessage(w, http.StatusNotFound, id, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "the session does not exist; open a new one with initialize"))
}

// post serves one message of a session.
func (ss *sessions) post(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message, hold *httpserve.Hold, sender era.Sender) {
	if m.Kind == jsonrpc.Request && m.Method == mcp.MethodInitialize && fieldSession.get(r.Header) == "" {
		ss.initialize(w, r, m, sender)
		return
	}
	if !ss.versionOK(w, r, answerable(m)) || !ss.opened(w, r, m) {
		ss.h.dropped(w, m, nil)
		return
	}
	s := ss.find(w, r, answerable(m), sender)
	if s == nil {
		ss.h.dropped(w, m, nil)
		return
	}
	defer s.release(r.Context())
	sender.SessionID = s.id
	if err := checkMirrors(r, m); err != nil {
		ss.h.refuseMessage(w, http.StatusBadRequest, m.ID, err)
		return
	}
	if m.Kind == jsonrpc.Request {
		s.serve(w, r, m, hold, sender)
		return
	}
	s.conversation.Receive(httpserve.Within(s.ctx, r.Context()), m, nil, &era.Delivery{Sender: sender})
	w.WriteHeader(http.StatusAccepted)
}

// malformed processes a message that could not be read: if it answers a question of
// the server, the question fails.
func (ss *sessions) malformed(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message, bad error, sender era.Sender) {
	if m.Kind == jsonrpc.Request {
		return
	}
	if s := ss.lookup(fieldSession.get(r.Header), sender.Owner()); s != nil {
		s.conversation.Malformed(r.Context(), m, bad)
		return
	}
	httpserve.ConnOf(w, ss.h.seen).Drop(mcp.Received, mcp.DropMalformed, m.Method, bad)
}

// checkMirrors checks the mirror headers that drafts of the stateless revision sent
// within a session.
func checkMirrors(r *http.Request, m *jsonrpc.Message) error {
	if m.Kind != jsonrpc.Request {
		return nil
	}
	err := error(nil)
	if fieldMethod.get(r.Header) != "" {
		err = checkMethod(r, m)
	}
	if err == nil && fieldName.get(r.Header) != "" {
		err = checkName(r, m)
	}
	if err == nil {
		return nil
	}
	return jsonrpc.Errorf(codeDraftMismatch, "%v", err)
}

// codeDraftMismatch is the code that the drafts used before -32020.
const codeDraftMismatch = -32001

func (ss *sessions) initialize(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message, sender era.Sender) {
	if !ss.h.calls.Begin() {
		ss.h.refuseLate(w, m.ID)
		return
	}
	defer ss.h.calls.End()
	s, err := ss.open(&sender, httpserve.ConnOf(w, ss.h.seen))
	if s == nil || !s.use(r.Context()) {
		w.Header().Set("Retry-After", "5")
		ss.h.refuseMessage(w, http.StatusServiceUnavailable, m.ID, err)
		return
	}
	defer s.release(r.Context())
	sender.SessionID = s.id
	fieldSession.set(w.Header(), s.id)
	out := &opening{w: w, session: s, response: ss.h.response(w, func(error) {})}
	defer out.response.Close()
	s.conversation.Receive(r.Context(), m, nil, &era.Delivery{Out: out, Sender: sender})
	if s.conversation.Facts() == nil {
		ss.end(s, era.ErrShutdown)
		return
	}
	ss.table.ready(s)
}

// opening is the Out of initialize. If initialize fails, it removes the session's
// identifier from the response.
type opening struct {
	w        http.ResponseWriter
	session  *session
	response *httpserve.Response
}

func (o *opening) Message(context.Context, []byte) error { return httpserve.ErrGone }

func (o *opening) Answer(_ context.Context, frame []byte, failed *era.Failure) error {
	if failed != nil {
		fieldSession.del(o.w.Header())
	} else {
		o.session.seen.SetSession(o.session.id)
	}
	_, err := o.response.Object(sessionStatus(failed), frame)
	return err
}

// sessionStatus returns the HTTP status for an answer within a session. An error is
// an answer like any other there, unless the request was forbidden or invalid.
func sessionStatus(failed *era.Failure) int {
	if failed != nil && failed.Forbidden {
		return http.StatusForbidden
	}
	if failed != nil && (failed.Code == jsonrpc.CodeInvalidRequest || failed.Code == jsonrpc.CodeParseError || failed.Code == mcp.CodeUnsupportedVersion) {
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// get serves a GET, which opens the standing stream or resumes one that the client
// lost.
//
// Spec: 2025-11-25 basic/transports#listening-for-messages-from-the-server.
func (ss *sessions) get(w http.ResponseWriter, r *http.Request, sender era.Sender) {
	if _, events := accepted(r.Header); !events {
		ss.h.refuse(w, http.StatusNotAcceptable, jsonrpc.CodeInvalidRequest, "Accept must list text/event-stream")
		return
	}
	if !ss.versionOK(w, r, jsonrpc.ID{}) {
		return
	}
	s := ss.find(w, r, jsonrpc.ID{}, sender)
	if s == nil {
		return
	}
	defer s.release(r.Context())
	resp := ss.h.response(w, func(error) {})
	defer resp.Close()
	st, left, err := s.resume(r, resp)
	switch {
	case errors.Is(err, errUnreadable):
		ss.h.refuse(w, http.StatusInternalServerError, jsonrpc.CodeInternalError, err.Error())
	case err != nil:
		ss.h.refuse(w, http.StatusBadRequest, jsonrpc.CodeInvalidRequest, err.Error())
	default:
		if st.standing {
			s.standing.add(st, resp)
			defer s.standing.remove(st, resp)
		}
		ctx, stop := era.UntilExpiry(r.Context(), sender.Authorization)
		defer stop()
		s.carry(r.WithContext(ctx), st, resp, left)
	}
}

// resume lets resp carry the stream that a GET asks for.
func (s *session) resume(r *http.Request, resp *httpserve.Response) (*stream, <-chan struct{}, error) {
	last := fieldLast.get(r.Header)
	if last == "" {
		return s.standing.listen(resp)
	}
	id, seq, err := parseEventID(last)
	if err != nil {
		return nil, nil, err
	}
	st := s.stream(id)
	if st == nil {
		return nil, nil, ErrForgotten
	}
	left, err := st.resume(resp, seq)
	return st, left, err
}

// delete ends a session at its client's request.
//
// Spec: 2025-11-25 basic/transports#session-management (5).
func (ss *sessions) delete(w http.ResponseWriter, r *http.Request, sender era.Sender) {
	if !ss.versionOK(w, r, jsonrpc.ID{}) {
		return
	}
	s := ss.find(w, r, jsonrpc.ID{}, sender)
	if s == nil {
		return
	}
	s.release(r.Context())
	ss.end(s, era.ErrCancelled)
	w.WriteHeader(http.StatusNoContent)
}

// batch serves an array of messages. The response is an array of answers, or 202 if
// the batch has no requests.
//
// Spec: 2025-03-26 basic/transports#sending-messages-to-the-server (4).
func (ss *sessions) batch(w http.ResponseWriter, r *http.Request, body []byte, hold *httpserve.Hold, sender era.Sender) {
	if !ss.versionOK(w, r, jsonrpc.ID{}) {
		return
	}
	s := ss.find(w, r, jsonrpc.ID{}, sender)
	if s == nil {
		return
	}
	defer s.release(r.Context())
	b, err := s.conversation.Batch(body)
	if err != nil {
		ss.h.refuseMessage(w, http.StatusBadRequest, jsonrpc.ID{}, err)
		return
	}
	sender.SessionID = s.id
	s.serveBatch(w, r, b, hold, sender)
}

func (s *session) serveBatch(w http.ResponseWriter, r *http.Request, b *era.Batch, hold *httpserve.Hold, sender era.Sender) {
	if b.Quiet() {
		s.serveQuiet(w, r, b, sender)
		return
	}
	st := s.beginCall(w, jsonrpc.ID{})
	if st == nil {
		return
	}
	resp := s.owner.h.response(w, func(error) {})
	defer resp.Close()
	resp.OnQuiet(st.begin)
	left := st.attach(resp)
	hold.Keep()
	ctx := httpserve.Within(s.ctx, r.Context())
	go func() { // ends with the batch, which close cancels and waits for
		defer hold.Release()
		s.runBatch(ctx, b, st, sender)
	}()
	s.carry(r, st, resp, left)
}

// serveQuiet serves a batch without requests.
func (s *session) serveQuiet(w http.ResponseWriter, r *http.Request, b *era.Batch, sender era.Sender) {
	st, ok := s.begin()
	if !ok {
		s.owner.gone(w, jsonrpc.ID{})
		return
	}
	s.runBatch(httpserve.Within(s.ctx, r.Context()), b, st, sender)
	w.WriteHeader(http.StatusAccepted)
}

// runBatch serves the messages of a batch, its requests concurrently, and returns
// when all are served.
func (s *session) runBatch(ctx context.Context, b *era.Batch, st *stream, sender era.Sender) {
	defer s.settle(st)
	var wg sync.WaitGroup
	defer wg.Wait()
	b.Serve(ctx, &era.Delivery{Out: requestOut{st}, Sender: sender, Start: func(r *era.Request) bool { //nolint:contextcheck // a request has its own context, made when it was admitted
		wg.Go(func() { r.Serve(sender) })
		return true
	}})
}
