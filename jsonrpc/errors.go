package jsonrpc

import (
	"encoding/json"
	"errors"
	"fmt"
)

// The codes that JSON-RPC 2.0 defines.
//
// Spec: 2026-07-28 basic#error-codes.
const (
	CodeParseError     = -32700 // the frame is not JSON
	CodeInvalidRequest = -32600 // the JSON is not a message that may be sent here
	CodeMethodNotFound = -32601 // no such method, or its capability was not declared
	CodeInvalidParams  = -32602 // the params do not fit the method
	CodeInternalError  = -32603 // the receiver failed
)

// Error is the error member of a response: what a peer said, or what this side
// is going to say. Use errors.As to get at the code.
type Error struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
	// Data is any JSON value with more about the error, or nil.
	Data json.RawMessage `json:"data,omitzero"`
}

// Errorf returns an Error with a formatted message and no data.
func Errorf(code int64, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Error returns the message with the code.
func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// Is reports whether target is an Error with the same code.
func (e *Error) Is(target error) bool {
	var t *Error
	return errors.As(target, &t) && t.Code == e.Code
}

// ErrClosed says that a call ended because its connection did.
var ErrClosed = errors.New("connection closed")
