package mcp

import (
	"errors"
	"fmt"

	"github.com/parley-mcp/parley/internal/wire"
)

// The protocol's own error codes, in addition to those of JSON-RPC.
//
// Spec: 2026-07-28 basic#error-codes.
const (
	CodeHeaderMismatch      = -32020
	CodeMissingCapability   = -32021
	CodeUnsupportedVersion  = -32022
	CodeResourceNotFoundOld = -32002 // until 2025-11-25; -32602 after
	CodeURLElicitation      = -32042 // 2025-11-25 only
)

// ErrResourceNotFound says that no resource has the URI. Its number on the
// wire depends on the revision.
//
// Spec: 2026-07-28 server/resources#error-handling.
var ErrResourceNotFound = errors.New("resource not found")

// ErrSessionGone says that the server no longer knows the session of a request:
// it has ended the session or was restarted. The request was refused without
// being processed. A client opens a new session, which shares no state with the
// old one.
//
// Spec: 2025-11-25 basic/transports#session-management (4).
var ErrSessionGone = errors.New("the server no longer knows the session")

// ResourceNotFoundError is ErrResourceNotFound with the URI.
type ResourceNotFoundError struct{ URI string }

// Error names the URI.
func (e *ResourceNotFoundError) Error() string { return fmt.Sprintf("resource not found: %s", e.URI) }

// Is makes errors.Is(err, ErrResourceNotFound) true.
func (e *ResourceNotFoundError) Is(target error) bool { return target == ErrResourceNotFound }

// InvalidParamsError says that the params of a request are not valid.
type InvalidParamsError struct{ Reason string }

// InvalidParams returns an InvalidParamsError with a formatted reason.
func InvalidParams(format string, args ...any) *InvalidParamsError {
	return &InvalidParamsError{fmt.Sprintf(format, args...)}
}

// Error returns the reason.
func (e *InvalidParamsError) Error() string { return e.Reason }

// MethodNotFoundError says that a method does not exist, or that the feature
// it belongs to was not declared.
type MethodNotFoundError struct{ Method string }

// Error names the method.
func (e *MethodNotFoundError) Error() string { return fmt.Sprintf("method not found: %s", e.Method) }

// HeaderMismatchError says that a header of an HTTP request contradicts the
// body.
//
// Spec: 2026-07-28 basic/transports/streamable-http#server-validation.
type HeaderMismatchError struct{ Reason string }

// Error returns the reason.
func (e *HeaderMismatchError) Error() string { return "Header mismatch: " + e.Reason }

// ErrUnauthorized says that the server demands credentials that this side does not
// have and could not obtain. Repeating the request does not help.
var ErrUnauthorized = errors.New("not authorized")

// ErrUnavailable says that a server could not be reached, or cannot serve requests at
// the moment: over HTTP, a connection that failed or a status such as 503 or 429.
// It says nothing about the request, which may be repeated later, or about the
// revisions that the server speaks.
var ErrUnavailable = errors.New("the server is not available")

// ErrNoRevision says that a client and a server have no revision of the protocol in
// common, as far as the client is allowed to choose.
var ErrNoRevision = errors.New("no revision in common")

// ErrNotMCP says that what answered is no MCP server: a site for people, for example.
var ErrNotMCP = errors.New("this is not an MCP server")

// ForbiddenError says that the sender of a request may not do this. Over HTTP
// the response is a 403, unless something was already sent in response.
//
// Spec: 2026-07-28 basic/authorization#runtime-insufficient-scope-errors.
type ForbiddenError struct {
	// Reason is shown to the client.
	Reason string
	// Challenge is the WWW-Authenticate header of the answer, or "".
	Challenge string
}

// Error returns the reason.
func (e *ForbiddenError) Error() string { return "Forbidden: " + e.Reason }

// MissingCapabilityError says that a question needs a capability that the
// client has not declared.
//
// Spec: 2026-07-28 basic#meta.
type MissingCapabilityError struct {
	// Required is the minimum that the client would have to declare.
	Required ClientCapabilities
	// Feature is the same in words, for example "elicitation (form)". "" stands for
	// Required as JSON.
	Feature string
}

// Error names the feature.
func (e *MissingCapabilityError) Error() string {
	feature := e.Feature
	if feature == "" {
		required, err := wire.Marshal(e.Required)
		if err != nil { // an extension's settings are no JSON
			required = []byte("that is required")
		}
		feature = string(required)
	}
	return "the client has not declared the capability " + feature
}
