package web

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/parley-mcp/parley/internal/wire"
)

// Error is a failure as the page is told of it.
type Error struct {
	// Status is the HTTP status.
	Status int `json:"-"`
	// Code names the kind of failure, for programs.
	Code string `json:"code"`
	// Message says what is wrong, and Hint what to do about it.
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Field is the member of the request that is wrong, if it is one.
	Field string `json:"field,omitempty"`
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Errorf returns an error with this status and code.
func Errorf(status int, code, format string, args ...any) *Error {
	return &Error{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

// asError returns an error as the page is told of it.
func asError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Status: http.StatusInternalServerError, Code: "failed", Message: err.Error()}
}

func writeError(w http.ResponseWriter, err error) {
	e := asError(err)
	writeJSON(w, e.Status, map[string]*Error{"error": e})
}

// writeJSON writes an answer of the API. A client that is gone does not matter.
func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := wire.Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":{"code":"failed","message":"the answer cannot be written as JSON"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
