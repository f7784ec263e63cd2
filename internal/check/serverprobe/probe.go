package serverprobe

import (
	"slices"

	"github.com/parley-mcp/parley/internal/check/probe"
)

// Probe is a rule that servers are judged by. It has either Run or Watch.
type Probe struct {
	probe.Info
	// Needs are what the server or the conversation must have, or the rule does
	// not apply: see needs.go.
	Needs []string
	// Greets is set if it makes its own handshake: it is run even if the server
	// has refused one in a revision that it claims.
	Greets bool
	// Run sends something, and says what it found.
	Run func(*X) probe.Finding
	// Watch looks at all that was said, once everything else has run.
	Watch func(*X, *probe.Watch)
}

// turn orders probes: those that send, those that look, general ones.
func (p *Probe) turn() int {
	switch {
	case p.General:
		return 2
	case p.Watch != nil:
		return 1
	default:
		return 0
	}
}

// All returns all probes.
func All() []*Probe {
	var all []*Probe
	for _, page := range pages {
		for n := range page {
			all = append(all, &page[n])
		}
	}
	return all
}

// pages are the probes, file by file.
var pages = slices.Concat([][]Probe{
	patterns,
	httpEndpoint, httpHeaders, httpParams, httpVersion, httpStateless, httpStreams, httpStanding,
	httpSessions, httpResume, httpBatches, httpSSE, httpAccess, authorization,
}, basePages, featurePages)
