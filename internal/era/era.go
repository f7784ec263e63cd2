// Package era implements the two eras of the protocol. Up to 2025-11-25 a client
// opens a session and both sides send requests (Session, SessionClient). From
// 2026-07-28 on every request stands alone (Stateless, StatelessClient). The
// package knows neither features nor transports: it turns messages into exchanges
// for an mcp.Handler, and what the handler returns into messages.
//
// The two fronts share no base type, but have the same shape: Receive serves one
// message, writes its answer and everything that precedes it to an Out, and
// returns.
package era

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/access"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Out takes the messages that answer one received message, in order. Frames are
// valid only during the call. Methods may block while the peer reads slowly.
type Out interface {
	// Message takes a notification or a request that precedes the answer.
	Message(ctx context.Context, frame []byte) error
	// Answer takes the response; nothing follows it. failed is nil when the
	// response is a result.
	Answer(ctx context.Context, frame []byte, failed *Failure) error
}

// Failure is the error of a response.
type Failure struct {
	*jsonrpc.Error
	// Malformed says that the request was refused before a handler saw it.
	Malformed bool
	// Forbidden says that the sender is not allowed to do this. Challenge is the
	// value of WWW-Authenticate that says how to get permission; it may be "".
	Forbidden bool
	Challenge string
}

// Dropper is an Out that must be told when no answer will come.
type Dropper interface {
	// Dropped says that the request was cancelled and has no answer.
	Dropped()
}

// Waiter is an Out that must be told when a request waits for its client.
type Waiter interface {
	// Waits says that a question was sent and its answer is awaited.
	Waits()
}

// Sender is what a transport knows about who sent a message.
type Sender struct {
	// Principal is the identity that the transport authenticated, or "".
	Principal string
	// Authorization is what is known about the principal, or nil.
	Authorization *mcp.Authorization
	// Source is where the message comes from; see mcp.Peer.Source.
	Source string
	// SessionID is the session's identifier, or "".
	SessionID string
	// Mirrored, Header and Detach become the fields of the exchange with these
	// names; they may be nil.
	Mirrored func(name string) (value string, ok bool, err error)
	Header   func(name string) []string
	Detach   func(retry time.Duration) error
	// Seen observes the connection that the message came on.
	Seen *tap.Conn
}

// Owner returns whom the sessions and states of this sender belong to.
func (s *Sender) Owner() string { return owner(s.Principal, s.Authorization) }

// owner returns whom sessions and states belong to: a principal and, where a user
// acts by way of an OAuth client, that client.
//
// Spec: 2026-07-28 client/elicitation#security-considerations (1).
func owner(principal string, a *mcp.Authorization) string {
	if a == nil || a.Subject == "" || a.ClientID == "" {
		return principal
	}
	return principal + " client " + a.ClientID
}

// peer returns what is known of the sender before its message is read.
func (s *Sender) peer() mcp.Peer {
	return mcp.Peer{Principal: s.Principal, Authorization: s.Authorization, Source: s.Source}
}

// The reasons for which an exchange is cancelled, as causes of its context.
var (
	// ErrCancelled: the client sent notifications/cancelled, or closed the
	// request's stream. There is no answer. If the client gave a reason, that is
	// the text of the cause, so that a gateway can pass it on.
	ErrCancelled = errors.New("cancelled by the client")
	// ErrCancelRequest: the client sent the older $/cancelRequest, and waits
	// for an answer.
	ErrCancelRequest = errors.New("request cancelled")
	// ErrShutdown: the server is going away.
	ErrShutdown = errors.New("the server is shutting down")
	// ErrExpired: the authorization that the exchange was opened with has
	// expired. The client has to come back with a new one.
	ErrExpired = errors.New("the authorization has expired")
)

// cancelled returns an ErrCancelled with the client's reason, if it gave one.
func cancelled(reason string) error {
	if reason == "" {
		return ErrCancelled
	}
	return &cancelledError{reason}
}

type cancelledError struct{ reason string }

func (e *cancelledError) Error() string        { return e.reason }
func (e *cancelledError) Is(target error) bool { return target == ErrCancelled }

// codeRequestCancelled answers a request that was cancelled by $/cancelRequest,
// which some clients adopted from the Language Server Protocol.
const codeRequestCancelled = -32800

// Cancelled returns the error that answers a request which $/cancelRequest
// has cancelled.
func Cancelled() *jsonrpc.Error { return jsonrpc.Errorf(codeRequestCancelled, "Request cancelled") }

// VersionOf returns the protocol version that a message names, as raw JSON, or
// nil if it names none.
func VersionOf(m *jsonrpc.Message) json.RawMessage { return wire.Find(m.Meta, mcp.MetaProtocolVersion) }

// IsStateless answers the one question that decides a message's era: does it
// carry a protocol version of its own? Presence counts, not the value.
//
// Spec: 2026-07-28 basic/versioning#backward-compatibility-with-initialization-based-versions.
func IsStateless(m *jsonrpc.Message) bool { return VersionOf(m) != nil }

// Decoder returns a decoder for the frames that servers receive.
func Decoder(o mcp.ServeOptions) *jsonrpc.Decoder {
	d := &jsonrpc.Decoder{MaxBytes: o.MaxMessageBytes, MaxDepth: o.MaxDepth}
	access.SetRules(d, rules())
	return d
}

// rules are derived from the methods that clients send. Params members that
// differ only in case from a reserved name are refused: those names say what is
// called, on what, and on whose behalf.
var rules = sync.OnceValue(func() *access.Rules {
	r := &access.Rules{Methods: map[string]string{}, Reserved: map[string]string{}, Retry: map[string]bool{memberResponses: true, memberState: true}}
	reserve := func(name string) { r.Reserved[strings.ToLower(name)] = name }
	for _, name := range []string{"_meta", memberResponses, memberState} {
		reserve(name)
	}
	for _, m := range mcp.Methods() {
		if m.FromServer {
			continue
		}
		r.Methods[m.Name] = m.Name
		if params := m.NewParams(); params != nil {
			for _, field := range reflect.VisibleFields(reflect.TypeOf(params).Elem()) {
				name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
				reserve(name)
			}
		}
	}
	return r
})

// The params members of a request that answers earlier questions.
//
// Spec: 2026-07-28 basic/patterns/mrtr#client-requirements-basic-workflow.
const (
	memberResponses = "inputResponses"
	memberState     = "requestState"
)

// descriptorOf returns the descriptor of a method that clients send, or nil for a
// method that the protocol does not define. The error says why the request cannot
// be served: the revision lacks the method, or a member of its params differs only
// in case from a name of the protocol. Two parsers that disagree on which member
// counts are a smuggling hole.
func descriptorOf(m *jsonrpc.Message, f *revision.Facts) (*mcp.Method, error) {
	d := mcp.MethodNamed(m.Method)
	if d == nil {
		return nil, nil //nolint:nilnil // a custom method
	}
	if !f.Has(m.Method) || d.FromServer || d.Notification {
		return nil, fmt.Errorf("in %s: %w", f.Revision, &mcp.MethodNotFoundError{Method: m.Method})
	}
	if variant := access.NotesOf(m).CaseVariant; variant != "" {
		return nil, mcp.InvalidParams("params member %q differs only in case from a name of the protocol", variant)
	}
	return d, nil
}

// CanAsk reports whether the client of an exchange can be asked something by way of
// it: in a session by any, otherwise only where the answer may be a question.
func CanAsk(x *mcp.Exchange) bool {
	return mayAsk(x.Method) || !revision.Of(x.Peer.Revision).Stateless
}

// mayAsk reports whether a method may ask the client for input.
func mayAsk(method string) bool {
	d := mcp.MethodNamed(method)
	return d != nil && d.MayAsk
}
