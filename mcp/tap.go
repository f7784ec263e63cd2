package mcp

import "time"

// Tap observes what travels on the connections of a server or a client, and
// what should have travelled and was dropped. It is set in ServeOptions.Tap
// and in the Options of package client, and sees every transport; where it is
// nil, nothing of this is done.
//
// It is called with each event when that happens, and holds up the message: it
// must return soon, and must not use the connection. It is called concurrently
// for different connections, for the two directions of one, and over HTTP for
// each request. What one side sends on a connection of frames, or on one
// stream over HTTP, it sees in the order in which it goes out: a frame is
// seen as sent before it is written, and as received when it was read, before
// anything is made of it. A frame that turns out not to be written is seen
// again, as dropped.
//
// Events hold what travelled as it is: arguments and results, and over HTTP
// Authorization, Cookie and Mcp-Session-Id. Whoever shows or keeps them masks
// what is secret.
type Tap func(e TapEvent)

// TapEvent is what a Tap sees: a frame; over HTTP, the beginning of a request or
// a response, which has no frame; or a message that was dropped.
type TapEvent struct {
	Time time.Time
	// Side is the one that observes, and Direction is as that sees it.
	Side      Side
	Direction Direction
	// Connection is the same for everything on one connection, and different
	// for any other of this process, also on the other side. On a server over
	// HTTP, where connections of the network mean nothing, a session is one,
	// and so is a request that belongs to none; a client has one connection
	// from its transport's Connect on.
	Connection uint64
	// Session identifies the session over HTTP, or is "" while there is none.
	Session string
	// HTTP is set for what travels over HTTP.
	HTTP *TapHTTP
	// Frame is the message, or array of messages, as it travels: a line, the body
	// of a request or of a response that is JSON, or the data of an event.
	// It may be malformed. It is valid only during the call, and must not be
	// changed. For a dropped message it is nil where it was never encoded.
	Frame []byte

	// Dropped is why a message was not delivered, or not passed on; 0 for what
	// travelled. Method is then its method, or, of an answer, that of its
	// request, where that is known; Count is how many there were, where they are
	// only known by their number, and otherwise 1; and Err, which may be nil,
	// says more.
	Dropped DropReason
	Method  string
	Count   uint64
	Err     error
}

// TapHTTP is the HTTP request or response that a frame is part of.
type TapHTTP struct {
	// Request is the same for a request and its response, with all their
	// frames, and different for any other of this process.
	Request uint64
	// Method is that of the request.
	Method string
	// Status is that of the response, 0 in a request.
	Status int
	// Header is that of the request, or of the response. What is added beneath
	// the transport is not in it. It is valid only during the call, and must
	// not be changed.
	Header map[string][]string
	// EventID identifies an event of a stream that can be resumed; in a request,
	// it is the last one that the client has.
	EventID string
}

// Side is one of the two sides of a connection.
type Side uint8

// The sides.
const (
	ClientSide Side = iota + 1
	ServerSide
)

// String returns "client" or "server".
func (s Side) String() string { return [...]string{"", "client", "server"}[s%3] }

// MarshalText returns the name.
func (s Side) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Direction is which way a message goes, as the side sees it that observes.
type Direction uint8

// The directions.
const (
	Sent Direction = iota + 1
	Received
)

// String returns "sent" or "received".
func (d Direction) String() string { return [...]string{"", "sent", "received"}[d%3] }

// MarshalText returns the name.
func (d Direction) MarshalText() ([]byte, error) { return []byte(d.String()), nil }
