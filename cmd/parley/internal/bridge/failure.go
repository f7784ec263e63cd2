package bridge

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/streamable"
)

// failure turns an error of the other side into what the client is told. Errors of
// the protocol pass as they are; those of the connection say that it is the bridge
// which failed.
func (b *Bridge) failure(ctx context.Context, x *mcp.Exchange, err error) error {
	var (
		ask        *mcp.InputRequired
		rpc        *jsonrpc.Error
		missing    *mcp.MissingCapabilityError
		invalid    *mcp.InvalidParamsError
		undeclared *client.NotDeclaredError
		task       *client.TaskError
	)
	unsent := isUnsent(err)
	switch {
	case ctx.Err() != nil: // the client does not want the answer any more
		return err
	case errors.As(err, &rpc) && rpc.Code == mcp.CodeMissingCapability:
		return missingCapability(rpc)
	case rpc != nil && x.Method == mcp.MethodReadResource && isAbsent(rpc):
		return &mcp.ResourceNotFoundError{URI: subject(x)}
	case errors.As(err, &ask):
		if words := unvisitable(x, ask); words != nil {
			return words
		}
		return err
	case errors.As(err, &rpc), errors.As(err, &missing), errors.As(err, &invalid):
		return err
	case errors.As(err, &task):
		return jsonrpc.Errorf(jsonrpc.CodeInternalError, "%s", b.opts.Words(task.Err))
	case errors.As(err, &undeclared):
		return &mcp.MethodNotFoundError{Method: undeclared.Method}
	case errors.Is(err, mcp.ErrResourceNotFound), errors.Is(err, context.Canceled) && !unsent: // it is connecting that may be given up for others
		return err
	}
	level := slog.LevelError
	if b.opts.OnDemand { // who has opened it expects that, and says how the server is
		level = slog.LevelDebug
	}
	b.opts.Logger.Log(ctx, level, "not passed on", "error", err)
	return &UnansweredError{Err: err, Unsent: unsent, words: b.opts.Words(err)}
}

// failureOn is failure for a request that was to be passed on through a connection.
func (b *Bridge) failureOn(ctx context.Context, l *link, x *mcp.Exchange, err error) error {
	err = b.failure(ctx, x, err)
	if unanswered, ok := errors.AsType[*UnansweredError](err); ok {
		unanswered.Via = l.client
	}
	return err
}

// OwnError says that it is the bridge itself that does not pass a request on, and says why.
type OwnError struct{ err error }

// Error implements error.
func (e *OwnError) Error() string { return e.err.Error() }

// Unwrap returns the reason.
func (e *OwnError) Unwrap() error { return e.err }

// UnansweredError says that the other server has not answered a request: it could not be
// reached, or the connection was lost, or it took too long.
type UnansweredError struct {
	Err error
	// Unsent says that the server has not seen the request, so that it can be sent again.
	Unsent bool
	// Via is the connection that the request was to go through; nil if there was none.
	Via *client.Client

	words string // what clients are told of Err
}

// Error says that it is not the bridge that failed.
func (e *UnansweredError) Error() string {
	return "the server behind the bridge: " + cmp.Or(e.words, e.Err.Error())
}

// Unwrap returns what the client is told first.
func (e *UnansweredError) Unwrap() []error {
	return []error{jsonrpc.Errorf(jsonrpc.CodeInternalError, "%s", e.Error()), e.Err}
}

// unsentError is why a request was not sent.
type unsentError struct{ err error }

func (e *unsentError) Error() string { return e.err.Error() }
func (e *unsentError) Unwrap() error { return e.err }

func isUnsent(err error) bool {
	_, ok := errors.AsType[*unsentError](err)
	return ok
}

// refused makes an error of sending a request an unsentError, if there was nobody to send
// it to. Only the error of the request itself tells: that of following its answer may look
// the same.
func refused(err error) error {
	if Refused(err) {
		return &unsentError{err}
	}
	return err
}

// Refused reports whether an error says that nobody was there to take a request, or to
// take it to the server: no connection could be made.
func Refused(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && errors.Is(err, mcp.ErrUnavailable) && (op.Op == "dial" || op.Op == "proxyconnect")
}

// turnedAway reports whether a request got no further than to whoever stands before the
// server, if there is anybody.
func turnedAway(err error) bool {
	status, ok := errors.AsType[*streamable.HTTPError](err)
	return Refused(err) || ok && status.Status >= http.StatusInternalServerError
}

// isAbsent reports whether an error of resources/read says that there is no such
// resource: by its own code, or by one that has other uses, with the URI.
//
// Spec: 2025-11-25 server/resources#error-handling.
// Spec: 2026-07-28 server/resources#error-handling.
func isAbsent(rpc *jsonrpc.Error) bool {
	if rpc.Code == mcp.CodeResourceNotFoundOld {
		return true
	}
	uri, ok := wire.Text(wire.Find(rpc.Data, "uri"))
	return ok && uri != "" && rpc.Code == jsonrpc.CodeInvalidParams
}

// subject is the URI that an exchange is about.
func subject(x *mcp.Exchange) string {
	uri, _ := wire.Text(wire.Find(x.Params, "uri"))
	return uri
}

// missingCapability turns the error of a server without sessions into one that has a
// form in every revision.
//
// Spec: 2026-07-28 basic#meta.
func missingCapability(rpc *jsonrpc.Error) error {
	var data struct {
		Required mcp.ClientCapabilities `json:"requiredCapabilities"`
	}
	if err := wire.Unmarshal(rpc.Data, &data); err != nil {
		return rpc
	}
	return &mcp.MissingCapabilityError{Required: data.Required}
}
