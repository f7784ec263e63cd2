package era

import (
	"errors"

	"github.com/parley-mcp/parley/jsonrpc"
)

// localError is the error of a function of this side that was to answer a question.
// Even if it came from another peer, as in a gateway, it must not pass for an answer
// of the peer that was called: errors.As finds no *jsonrpc.Error in it.
//
// Spec: 2026-07-28 basic#error-codes.
type localError struct{ err error }

func local(err error) error { return &localError{err} }

func (e *localError) Error() string { return e.err.Error() }

// Is implements errors.Is.
func (e *localError) Is(target error) bool { return errors.Is(e.err, target) }

// As implements errors.As.
func (e *localError) As(target any) bool {
	if _, peers := target.(**jsonrpc.Error); peers {
		return false
	}
	return errors.As(e.err, target)
}
