// Package plain has errors that the clients of a gateway may read as they are. All others
// are for whoever runs it: they quote what a server has written for its own log, and say
// where it is, with what is secret there.
package plain

import (
	"errors"
	"fmt"

	"github.com/parley-mcp/parley/jsonrpc"
)

// Error is an error that clients may read.
type Error struct {
	text string
	kind error
}

// New returns an error that says a text.
func New(text string) *Error { return &Error{text: text} }

// Errorf returns an error that says a text, and is of a kind, whose text comes first; nil is
// none.
func Errorf(kind error, format string, args ...any) *Error {
	text := fmt.Sprintf(format, args...)
	if kind != nil {
		text = kind.Error() + ": " + text
	}
	return &Error{text, kind}
}

// Error implements error.
func (e *Error) Error() string { return e.text }

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.kind }

// Words returns what clients may read of an error: what a server has answered by itself, or
// the text of an Error; "" if it has nothing of the kind.
func Words(err error) string {
	if rpc, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return rpc.Message
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.text
	}
	return ""
}
