// Package jsonrpc is JSON-RPC 2.0 as the Model Context Protocol uses it:
// messages with exact IDs, a strict decoder that reads a frame once, an encoder,
// and batches. It knows no method and does no I/O.
//
//	request, err := jsonrpc.NewRequest(jsonrpc.IntID(1), "tools/call", params)
//	frame, err := jsonrpc.Append(nil, request)
//	…
//	var decoder jsonrpc.Decoder
//	answer, err := decoder.Decode(received)
//
// The example of this package is the whole of that.
//
// Spec: 2026-07-28 basic#messages.
package jsonrpc

import (
	"encoding/json"

	"github.com/parley-mcp/parley/internal/access"
	"github.com/parley-mcp/parley/internal/wire"
)

// Kind says what a message is.
type Kind int

// The kinds of messages.
const (
	Request      Kind = iota // has a method and an ID
	Notification             // has a method and no ID
	Response                 // has a result or an error
)

// Message is one JSON-RPC message. The raw members of one that was decoded are
// parts of its frame, which must not be changed while the message is in use.
type Message struct {
	Kind Kind
	// ID is zero for a notification, and for a response to a frame whose ID
	// could not be read.
	ID ID
	// Method is "" for a response.
	Method string
	// Params is the params object as sent, or nil.
	Params json.RawMessage
	// Meta is the _meta object inside Params, or nil.
	Meta json.RawMessage
	// Result and Error are the content of a response; one of them is set.
	Result json.RawMessage
	Error  *Error

	// notes are what the decoder noted of Params.
	notes access.Notes
	// encoded says that Params or Result were encoded here, and need not be
	// checked again to be sent.
	encoded wire.Encoded
}

// NewRequest returns a request. params must encode to a JSON object, or be nil;
// it fails when they have no JSON form.
func NewRequest(id ID, method string, params any) (*Message, error) {
	m, err := NewNotification(method, params)
	if err != nil {
		return nil, err
	}
	m.Kind, m.ID = Request, id
	return m, nil
}

// NewNotification returns a notification. params must encode to a JSON object,
// or be nil; it fails when they have no JSON form.
func NewNotification(method string, params any) (*Message, error) {
	m := &Message{Kind: Notification, Method: method}
	if params == nil {
		return m, nil
	}
	raw, encoded, err := wire.MarshalEncoded(params)
	if err != nil {
		return nil, err
	}
	if string(raw) != "null" {
		m.Params, m.encoded = raw, encoded
	}
	return m, nil
}

// NewResult returns the response that answers id with a result. It fails when
// the result has no JSON form.
func NewResult(id ID, result any) (*Message, error) {
	raw, encoded, err := wire.MarshalEncoded(result)
	if err != nil {
		return nil, err
	}
	return &Message{Kind: Response, ID: id, Result: raw, encoded: encoded}, nil
}

// NewError returns the response that answers id with an error. A zero id
// stands for a request whose ID could not be read.
func NewError(id ID, err *Error) *Message {
	return &Message{Kind: Response, ID: id, Error: err}
}
