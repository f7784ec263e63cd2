package serverprobe

import (
	"fmt"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

// What a probe may need. Besides these, a need is the path of a capability,
// such as tools or resources/subscribe.
const (
	needsSession   = "session"   // a revision with sessions
	needsStateless = "stateless" // one without
	needsHTTP      = "http"      // Streamable HTTP
	needsSSE       = "http+sse"  // the transport of the first revision
	needsStdio     = "stdio"     // an ordered connection
	needsTool      = "tool"      // a tool that may be called
	needsStress    = "stress"    // the user allows large and many messages
)

// lacks says what of the needs is missing.
func (x *X) lacks(needs []string) (probe.Finding, bool) {
	for _, need := range needs {
		switch need {
		case needsSession, needsStateless:
			if x.Stateless != (need == needsStateless) {
				return probe.NotApplicable("the revision is of the other era"), true
			}
		case needsHTTP, needsSSE, needsStdio:
			if x.Transport != need {
				return probe.NotApplicable("the server is spoken to over %s", x.Transport), true
			}
		case needsTool:
			if f, missing := x.lacksTool(); missing {
				return f, true
			}
		case needsStress:
			if !x.opts.Stress {
				return probe.Unverified("it takes large or many messages: allow them with --stress"), true
			}
		default:
			if v, ok := peer.Get(x.Offer.Capabilities, need); !ok || v == false {
				return probe.NotApplicable("%s", fmt.Sprintf("the server does not declare the capability %s", need)), true
			}
		}
	}
	return probe.Finding{}, false
}

func (x *X) lacksTool() (probe.Finding, bool) {
	switch {
	case len(x.Offer.Tools) == 0:
		return probe.NotApplicable("the server offers no tools"), true
	case len(x.Offer.Callable) == 0 && x.common.anySlow():
		return probe.Unverified("no tool that may be called answered in time: see --patience, --allow NAME"), true
	case len(x.Offer.Callable) == 0:
		return probe.Unverified("no tool says that it only reads: allow one with --allow NAME"), true
	}
	return probe.Finding{}, false
}
