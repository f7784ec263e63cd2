package record

import (
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// Exchange is a request with its response and all that belongs to it. What it led to
// (questions, rounds, repetitions, requests about its task) are exchanges of their
// own, whose Parent it is.
type Exchange struct {
	// Number counts the exchanges of a recording, from 1.
	Number uint64
	// Parent is the exchange that this one belongs to, or 0, and Why says how.
	Parent uint64
	Why    Why
	// Inferred says that the server did not name the parent, but only one request
	// qualifies.
	Inferred bool
	// Method is that of the message, or of the HTTP request if it has no message.
	Method, Subject, ID string
	// Asker is who sent the request.
	Asker      mcp.Side
	Connection uint64
	// Stream says that it is an HTTP request without a message.
	Stream bool
	// Aside says that the client has nothing to do with it: see Recorder.Aside.
	Aside bool
	// First and Last are the numbers of its first and its last frame, Request and
	// Answer those of its messages, 0 for none.
	First, Last, Request, Answer uint64
	Frames                       int
	Started, Ended               time.Time // Ended is zero until there is an outcome
	State                        ExchangeState
	Status                       int   // of HTTP, the last one
	Code                         int64 // of the error, if it failed

	token, session string
	print          uint64
	may            bool // its method may ask
}

// Why says what an exchange has to do with its parent.
type Why string

// What exchanges have to do with their parents.
const (
	Question Why = "question" // the server asks, while it serves the parent
	Round    Why = "round"    // the request again, with the input that was required
	Repeat   Why = "repeat"   // the request again, after it was refused
	OfTask   Why = "task"     // about the task that the parent has become
	Resumed  Why = "resumed"  // the rest of the parent's stream
)

// ExchangeState is how far an exchange has come.
type ExchangeState string

// The states of exchanges.
const (
	Open      ExchangeState = "open"
	Done      ExchangeState = "done"
	Input     ExchangeState = "input_required"
	Failed    ExchangeState = "error"
	Refused   ExchangeState = "refused" // by the status of HTTP alone
	Cancelled ExchangeState = "cancelled"
	GivenUp   ExchangeState = "given-up"
	Lost      ExchangeState = "lost" // with its connection
)

// over ends an exchange, unless it has a better reason already.
func (x *Exchange) over(state ExchangeState, at time.Time) {
	x.State, x.Ended = state, at
}

// Took is the time from the beginning to the outcome, 0 while there is none.
func (x *Exchange) Took() time.Duration {
	if x.Ended.IsZero() {
		return 0
	}
	return x.Ended.Sub(x.Started)
}
