package streamable

import (
	"context"
	"net/http"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/httpserve"
	"github.com/parley-mcp/parley/internal/sse"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// reply is the Out of a stateless request.
type reply struct{ *httpserve.Response }

var _ era.Out = reply{}

// Message implements era.Out: it makes the response an event stream.
func (r reply) Message(_ context.Context, frame []byte) error { return r.Event(sse.Message("", frame)) }

// Answer implements era.Out: it writes a JSON object, or the last event if messages
// preceded it.
func (r reply) Answer(_ context.Context, frame []byte, failed *era.Failure) error {
	if failed != nil {
		r.Challenge(failed.Challenge)
	}
	if ok, err := r.Object(statusOf(failed), frame); ok {
		return err
	}
	return r.Event(sse.Message("", frame))
}

// statusOf returns the HTTP status for an answer.
//
// Spec: 2026-07-28 basic/transports/streamable-http#protocol-version-header.
func statusOf(failed *era.Failure) int {
	switch {
	case failed == nil:
		return http.StatusOK
	case failed.Forbidden:
		return http.StatusForbidden
	case failed.Malformed:
		return http.StatusBadRequest
	}
	switch failed.Code {
	case jsonrpc.CodeMethodNotFound:
		return http.StatusNotFound
	case jsonrpc.CodeParseError, jsonrpc.CodeInvalidRequest, mcp.CodeHeaderMismatch, mcp.CodeMissingCapability, mcp.CodeUnsupportedVersion:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
