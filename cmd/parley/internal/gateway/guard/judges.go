package guard

import (
	"context"

	"github.com/parley-mcp/parley/mcp"
)

// Introducer is a guard that decides whether a client may read what a server says of itself.
type Introducer interface {
	Guard
	// Introduces reports whether the instructions of a backend may be among those that a
	// peer gets in a view; "" is the whole. It may be called concurrently.
	Introduces(ctx context.Context, peer *mcp.Peer, view, backend string) bool
}

// Introducers returns those of some guards that are one.
func Introducers(guards []Guard) []Introducer { return those[Introducer](guards) }

// Observer is a guard that only looks at what becomes of exchanges.
type Observer interface {
	Guard
	// Observes does nothing.
	Observes()
}

// Judges returns those of some guards that judge also what is a part of an exchange: all but
// those that observe, admit or record exchanges, each once as a whole.
func Judges(guards []Guard) (list []Guard) {
	for _, g := range guards {
		switch inner(g).(type) {
		case Observer, Admitter, Recorder:
		default:
			list = append(list, g)
		}
	}
	return list
}
