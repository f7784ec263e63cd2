package mcp

import (
	"log/slog"
	"time"
)

// ServeOptions are what every transport that serves a Handler takes. The zero
// value is safe and complete.
type ServeOptions struct {
	// Logger receives reports of refused messages, failed handlers and lost
	// clients. nil means slog.Default().
	Logger *slog.Logger
	// MaxMessageBytes bounds one received message. 0 means 16 MiB.
	MaxMessageBytes int
	// MaxDepth bounds the nesting of a received message. 0 means 128.
	MaxDepth int
	// MaxInFlight bounds the requests of one connection that are served at a
	// time; more are refused. 0 means 1024.
	MaxInFlight int
	// StateKeys seal what a stateless exchange carries through the client
	// between its rounds: 32 bytes each; the first seals, all open. Nodes that
	// serve the same clients need the same keys. nil means one random key for
	// this process.
	StateKeys [][]byte
	// StateTTL is how long a client may take to answer in the stateless era. 0
	// means 15 minutes.
	StateTTL time.Duration
	// AnswerTimeout is how long the client of a session may take to answer a
	// question: people fill in forms, and models think. Then the question is
	// withdrawn, and its handler gets an error that wraps
	// context.DeadlineExceeded; with a context of its own, a handler can wait
	// for less. 0 means 15 minutes.
	AnswerTimeout time.Duration
	// AskAsTasks puts elicitation and sampling to clients of 2025-11-25 as tasks, where
	// they offer that: the client acknowledges the question at once and is asked for
	// the answer later, so that no request stays open meanwhile. Handlers notice no
	// difference. Tasks are experimental in that revision; the default is to ask
	// plainly.
	AskAsTasks bool
	// MaxRounds bounds how often one exchange may ask. 0 means 16.
	MaxRounds int
	// ChangeWindow is how long changes are gathered before clients are
	// notified, counted from the first change. 0 means 10 milliseconds.
	ChangeWindow time.Duration
	// DrainTimeout is how long requests may go on after the client closed the
	// connection. 0 means 1 second.
	DrainTimeout time.Duration
	// Tap observes what travels, on every connection. nil is nobody.
	Tap Tap
	// Drops counts the messages that were dropped, by reason. nil means
	// ProcessDrops().
	Drops *Drops
}
