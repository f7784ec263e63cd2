package mcp

import "time"

// Tap observes the traffic on the connections of a server or a client, and the
// messages that were dropped instead of being sent or passed on. It is set in
// ServeOptions.Tap and in the Options of package client, and works with every
// transport. If it is nil, nothing is observed, at no cost.
// It is called with each event as it happens, and delays the message: it must
// return soon, and must not use the connection. It is called concurrently for
// different connections, for the two directions of one connection, and over
// HTTP for each request. What one side sends on a connection of frames, or on
// one stream over HTTP, the tap of that side sees in the order of sending: a
// frame is seen as sent before it is written, and as received after it was read
// and before it is processed. A frame that turns out not to be written is seen
// again, as dropped.
//
// Events hold the traffic as it is: arguments and results, and over HTTP the
// headers Authorization, Cookie and Mcp-Session-Id. Code that shows or stores
// them must mask what is secret.
type Tap func(e TapEvent)

// TapEvent is what a Tap sees: a frame; over HTTP, the beginning of a request or
// a response, which has no frame; or a dropped message.
type TapEvent struct {
	Time time.Time
	// Side is the observing side, and Direction is from its point of view.
	Side      Side
	Direction Direction
	// Connection is the same for everything on one connection, and different
	// for every other connection of this process, including the other side's.
	// On a server over HTTP, where network connections have no meaning, each
	// session counts as one, and so does each request outside of a session. A
	// client has one connection from each Connect of its transport.
	Connection uint64
	// Session identifies the session over HTTP, or is "" while there is none.
	Session string
	// HTTP is set for traffic over HTTP.
	HTTP *TapHTTP
	// Frame is the message, or array of messages, exactly as sent: a line, the
	// body of a request or of a JSON response, or the data of an event. It may be
	// malformed. It is valid only during the call, and must not be changed. For a
	// dropped message it is nil if the message was never encoded.
	Frame []byte

	// Dropped is why a message was dropped; 0 for traffic. Method is then the
	// method of the message or, for a response, of its request, if known. Count
	// is the number of messages, if only their number is known, and otherwise 1.
	// Err, which may be nil, says more.
	Dropped DropReason
	Method  string
	Count   uint64
	Err     error
}

// TapHTTP is the HTTP request or response that a frame is part of.
type TapHTTP struct {
	// Request is the same for a request and its response, with all their
	// frames, and different for every other request of this process.
	Request uint64
	// Method is the method of the request.
	Method string
	// Status is the status of the response, 0 in a request.
	Status int
	// Header is the header of the request or of the response, without what is
	// added beneath the transport. It is valid only during the call, and must
	// not be changed.
	Header map[string][]string
	// EventID identifies an event of a resumable stream; in a request, it is the
	// last one that the client has.
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

// Direction is the direction of a message from the observing side.
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
