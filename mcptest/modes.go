package mcptest

import (
	"os"
	"slices"

	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/mcp"
)

// How a client reaches a server in this process.
const (
	Memory = "memory" // each message is handed over as a whole
	Lines  = "lines"  // messages are lines of a byte stream, as on standard streams
	HTTP   = "http"   // Streamable HTTP
	SSE    = "sse"    // HTTP+SSE, the transport of 2024-11-05
)

// Mode is one way for a client to reach a server.
type Mode struct {
	Revision mcp.Revision
	// Transport is Memory, Lines, HTTP or SSE; "" means Memory.
	Transport string

	skip string // why RunModes skips it, or ""
}

// String returns the mode's name, as it appears in the names of tests.
func (m Mode) String() string { return m.Transport + "/" + m.Revision.String() }

// IsHTTP reports whether the mode uses HTTP, in either transport.
func (m Mode) IsHTTP() bool { return m.Transport == HTTP || m.Transport == SSE }

// Modes returns the matrix: each transport with the oldest and the newest
// revision of each era that has the transport. If PARLEY_TEST_ALL=1 is set in
// the environment, it is AllModes.
func Modes() []Mode { return matrix(os.Getenv("PARLEY_TEST_ALL") != "") }

// AllModes returns each transport with every revision that has it, oldest
// first.
func AllModes() []Mode { return matrix(true) }

func matrix(all bool) []Mode {
	var modes []Mode
	for _, transport := range []string{Memory, Lines, HTTP, SSE} {
		for _, era := range [][]mcp.Revision{revision.Session(nil), revision.Stateless(nil)} {
			era = slices.DeleteFunc(era, func(r mcp.Revision) bool { return !carries(transport, r) })
			slices.Reverse(era) // oldest first
			if len(era) > 2 && !all {
				era = []mcp.Revision{era[0], era[len(era)-1]}
			}
			for _, r := range era {
				modes = append(modes, Mode{Revision: r, Transport: transport})
			}
		}
	}
	return modes
}

// carries reports whether a revision has a transport: one of the two over HTTP
// replaced the other.
//
// Spec: 2025-03-26 changelog (major 2).
func carries(transport string, r mcp.Revision) bool {
	switch transport {
	case HTTP:
		return revision.Of(r).StreamableHTTP
	case SSE:
		return !revision.Of(r).StreamableHTTP
	}
	return true
}

// Skip returns modes, marked so that RunModes skips those for which which
// reports true, and says why: a test that makes no sense everywhere still shows
// where it was not run.
//
//	modes := mcptest.Skip(mcptest.Modes(), "there are no standing streams", mcptest.Mode.IsHTTP)
func Skip(modes []Mode, why string, which func(Mode) bool) []Mode {
	modes = slices.Clone(modes)
	for i, m := range modes {
		if which(m) {
			modes[i].skip = why
		}
	}
	return modes
}
