// Package mcp is the vocabulary of the Model Context Protocol and the seam
// between what a server offers and how a client reaches it. The types serve
// every released revision; what a revision lacks is left out on its wire.
//
// A server and its client mostly need the words:
//
//	srv := server.New(mcp.Implementation{Name: "clock", Version: "1.0.0"}, nil)
//	server.AddTool(srv, mcp.Tool{Name: "time", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, now)
//
// The documentation of package server begins with a whole program.
//
// The seam is one exchange: a transport makes an Exchange of each request and
// gives it to a Handler. Package server builds handlers out of tools,
// resources and prompts; package client calls the servers of others. The example
// of Handler is a whole server without package server.
package mcp

import (
	"context"
	"encoding/json"
	"time"

	"github.com/parley-mcp/parley/jsonrpc"
)

// Handler is a server as transports see it. Its methods may be called
// concurrently.
type Handler interface {
	// Serve answers one exchange. The result is a value with a JSON form: a
	// pointer to the result type of the method, or the JSON to be sent
	// (json.RawMessage), which keeps members and numbers that this package does
	// not know. It is not changed and may be shared. An exchange that
	// subscribes is answered with a *Watching; see Exchange.Watch. For a
	// notification the result is ignored, and an error is only logged. Serve
	// must return soon after ctx ends.
	Serve(ctx context.Context, x *Exchange) (result any, err error)
	// Describe says what the server is and offers to a peer, now. It may depend
	// on the peer's Principal and Authorization; the other fields need not be
	// known yet. A nil peer asks for what holds for everybody. Describe is
	// called with every request, so it must be quick. The result may be shared:
	// the caller must not change it.
	Describe(ctx context.Context, peer *Peer) *Description
}

// ServeFunc is the type of Handler.Serve, which middleware wraps.
type ServeFunc func(ctx context.Context, x *Exchange) (any, error)

// Description is what a server says of itself.
type Description struct {
	Info         Implementation
	Capabilities ServerCapabilities
	// Instructions tell a model how to use the server; optional.
	Instructions string
	// Revisions are the revisions to speak; nil means all. They are the same
	// for every peer.
	Revisions []Revision
	// Cache is how long clients may reuse the answer to server/discover.
	Cache CacheFields
	// CrashOnPanic asks transports to let a panic in Serve end the process,
	// instead of failing the one request. It is the same for every peer.
	CrashOnPanic bool
	// OnSession, if set, is called when a client has opened a session, before anything
	// else of it is served. ctx ends when OnSession returns; Session.OnEnd says when the
	// session does.
	OnSession func(ctx context.Context, s *Session)
}

// Exchange is one request, or one notification, with all that belongs to
// answering it. It is valid until Serve has returned.
type Exchange struct {
	// ID is zero for a notification, and Method names either.
	ID     jsonrpc.ID
	Method string
	// Params is the params object exactly as sent, or nil.
	Params json.RawMessage
	// Meta is the _meta object of Params exactly as sent, or nil.
	Meta          json.RawMessage
	ProgressToken ProgressToken
	Trace         Trace
	Peer          Peer
	// Session is the session that the exchange belongs to. It is nil in 2026-07-28, which
	// has no sessions, and in calls that are or may become tasks, which outlive them.
	Session *Session
	// Back is the way back to the client while the exchange runs.
	Back Backchannel
	// Answers are the client's answers to the questions of a hand-made
	// InputRequired, and State is its state; both nil at first.
	Answers map[string]json.RawMessage
	State   json.RawMessage
	// Task is set if the client can take a task in place of the result, which is
	// then a *CreateTaskResult; nil if not.
	Task *TaskOffer
	// Mirrored returns the value of the header Mcp-Param-NAME, decoded, that
	// mirrors a parameter; ok is false when it is absent. Mirrored is nil
	// where there are no headers.
	//
	// Spec: 2026-07-28 basic/transports/streamable-http#custom-headers-from-tool-parameters.
	Mirrored func(name string) (value string, ok bool, err error)
	// Header returns the values of a header of the HTTP request that brought the
	// exchange, in any spelling of its name. It is nil on transports without headers.
	// A verified Authorization header is not among them. The values are the client's
	// own word, except for those that a trusted proxy replaces.
	Header func(name string) []string
	// Detach ends the stream of an exchange in a session while the exchange
	// goes on: the client reconnects for the rest after retry. It is nil where
	// that is not possible.
	//
	// Spec: 2025-11-25 basic/transports#sending-messages-to-the-server (6).
	Detach func(retry time.Duration) error
	// Watch is set for an exchange that subscribes to changes, and nil for all
	// others. Method is then MethodListen, MethodSubscribe, NoteInitialized for the
	// list changes that a session is notified of without asking, or MethodGetTask
	// for the status of a task that the client of a session was given. Serve
	// must return a *Watching without delay: the connection may not be read in
	// the meantime.
	Watch *Watch

	observer dropObserver
}

// dropObserver is the connection of an exchange, which the era knows.
type dropObserver interface {
	Drop(direction Direction, reason DropReason, method string, err error)
}

// Drop counts a notification that a handler does not send, or, where reason is
// one of those for what came in, the one that it was given and nobody takes. It
// is seen in ServeOptions.Drops and by ServeOptions.Tap. err says more and may
// be nil.
func (x *Exchange) Drop(reason DropReason, method string, err error) {
	if x.observer == nil {
		ProcessDrops().Add(reason, 1)
		return
	}
	direction := Sent
	if reason < DropNotWanted {
		direction = Received
	}
	x.observer.Drop(direction, reason, method, err)
}

// Peer is the sender of an exchange. In the stateless era it is derived from
// the request alone.
type Peer struct {
	// Revision is the revision that the exchange is made in.
	Revision Revision
	// Info and Capabilities are what the client says of itself. Nothing should
	// be permitted because of Info.
	Info         Implementation
	Capabilities ClientCapabilities
	// Principal is who the transport authenticated, or "".
	Principal string
	// Authorization is what is known of the principal, or nil when nobody was
	// authenticated or not by a token.
	Authorization *Authorization
	// Source is where the exchange comes from, as well as the transport can
	// tell: over HTTP the client's address, of which IPv6 counts by the /64; on
	// other transports a name for the connection. Limits count by it where
	// there is no Principal. Several clients may share an address, so nothing
	// else should depend on it.
	Source string
	// SessionID identifies the session, or is "" when there is none.
	SessionID string
}

// Backchannel reaches the client of an exchange.
type Backchannel interface {
	// Notify sends a notification before the answer, in order. It may block
	// while the client reads slowly, and fails when the client is gone or the
	// exchange is over. Params that are a json.RawMessage are taken to come
	// from another server: the reserved keys of _meta are left out, and
	// progress gets this exchange's token. Progress and log messages that the
	// client has not asked for are dropped without an error.
	Notify(ctx context.Context, method string, params any) error
	// LogEnabled reports whether the client wants log messages of this level
	// for this exchange.
	LogEnabled(level LoggingLevel) bool
	// Input puts questions to the client and returns its answers in the same
	// order. Where a question cannot be asked in place, the error is an
	// *InputRequired to be returned from Serve, which then runs again. If the
	// client has not declared the capability for a question, the error is a
	// *MissingCapabilityError.
	Input(ctx context.Context, questions ...InputRequest) ([]json.RawMessage, error)
	// Once runs f and returns its result; when the exchange runs again, it
	// returns the same result without running f.
	Once(ctx context.Context, key string, f func(context.Context) (json.RawMessage, error)) (json.RawMessage, error)
}
