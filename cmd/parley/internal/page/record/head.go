package record

import (
	"strings"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// Kind is what a frame is.
type Kind string

// The kinds of frames.
const (
	Request      Kind = "request"
	Notification Kind = "notification"
	Result       Kind = "result"
	Failure      Kind = "error"
	Batch        Kind = "batch"     // several messages, in 2025-03-26
	Malformed    Kind = "malformed" // it could not be read
	HTTP         Kind = "http"      // the beginning of an HTTP request or response
	Dropped      Kind = "dropped"   // a message that was not sent or not passed on
)

// Kinds returns all kinds.
func Kinds() []Kind {
	return []Kind{Request, Notification, Result, Failure, Batch, Malformed, HTTP, Dropped}
}

// Messages returns the kinds of frames that are messages.
func Messages() []Kind { return []Kind{Request, Notification, Result, Failure, Batch, Malformed} }

// Head is what the index knows of a frame.
type Head struct {
	// Number counts all frames of a recording, from 1.
	Number uint64
	Time   time.Time
	// Direction is from the client's point of view.
	Direction mcp.Direction
	Kind      Kind
	// Method is that of the message or, for a response, of its request; for HTTP
	// the method of the HTTP request.
	Method string
	// ID is the JSON text of the message's ID, or "".
	ID string
	// Subject is what the request is about: the name of a tool, a URI.
	Subject string
	// Size is the length of the frame in bytes.
	Size int
	// Exchange is the number of the exchange that the frame belongs to, or 0.
	Exchange uint64
	// Took is the time from the request to this response.
	Took time.Duration
	// Status is that of an HTTP response, and HTTP the number of the request and
	// its response, or 0.
	Status int
	HTTP   uint64
	// Event is the ID of the event that brought the frame or, of an HTTP request, the
	// last one that the client has.
	Event string
	// Replayed says that the server sent the event again: one with its ID had come before.
	Replayed bool
	// Aside says that the frame is no part of what the client does: see Recorder.Aside.
	Aside bool
	// Connection is one of those that the client made, one after the other.
	Connection uint64
	// Session identifies the session over HTTP, or is "".
	Session string
	// Messages is how many messages the frame has.
	Messages int
	// Dropped is why the message was dropped, or 0.
	Dropped mcp.DropReason
}

// maxName bounds the texts that the index keeps of a message. The frame has the rest.
const maxName = 128

func short(s string) string {
	if len(s) <= maxName {
		return strings.Clone(s)
	}
	return strings.ToValidUTF8(s[:maxName], "") + "…"
}

// describe returns the head of an event, without what only the other frames tell.
func describe(e mcp.TapEvent) (Head, []note) {
	h := Head{Time: e.Time, Direction: e.Direction, Connection: e.Connection, Session: e.Session, Dropped: e.Dropped}
	if e.HTTP != nil {
		h.HTTP, h.Status, h.Event = e.HTTP.Request, e.HTTP.Status, short(e.HTTP.EventID)
	}
	if e.Frame == nil && e.Dropped == 0 {
		h.Kind = HTTP
		if e.HTTP != nil {
			h.Method = short(e.HTTP.Method)
		}
		return h, nil
	}
	notes := notesOf(e.Frame)
	h.Messages = len(notes)
	switch {
	case e.Dropped != 0:
		h.Kind, h.Method = Dropped, short(e.Method)
	case len(notes) == 0:
		h.Kind = Malformed
	case len(notes) == 1:
		h.Kind = notes[0].kind
	default:
		h.Kind = Batch
	}
	if len(notes) > 0 {
		n := notes[0]
		h.ID, h.Subject = n.id, n.subject
		if h.Method == "" {
			h.Method = n.method
		}
	}
	return h, notes
}
