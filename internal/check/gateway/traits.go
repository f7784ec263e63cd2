package gateway

import (
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/internal/revision"
)

// trait is something that a gateway keeps as it is.
type trait struct {
	id       string
	text     string
	citation string
	mend     string
	run      func(*pair) probe.Finding
}

// traits are what is compared, besides the rows of the specification. Their IDs
// begin with gateway.
func traits() []trait {
	return []trait{
		{"gateway.definitions", "Tools, prompts, resources and templates keep every member of their definitions, but for names and URIs.", "server/tools", "Pass definitions on as you got them, with members that you do not know.", definitions},
		{"gateway.results", "Results keep every member, also unknown ones, and the order of their content.", "server/tools#tool-result", "Pass results on as the bytes they are.", results},
		{"gateway.numbers", "Numbers keep their digits, also those that do not fit into a double.", "basic/index#messages", "Do not decode numbers on the way, or decode them without rounding.", digits},
		{"gateway.errors", "Errors keep their code, message and data.", "basic/index#error-responses", "Pass the error of the server on, not one of your own.", failures},
		{"gateway.requests", "What a client sends reaches the server whole: arguments, and keys of _meta that are not the protocol's.", "basic/index#meta", "Pass arguments and unknown keys of _meta on as they are.", requests},
		{"gateway.progress", "Progress arrives whole, in order, and with the token of the client.", "basic/patterns/progress", "Map tokens of progress one to one, and keep the order.", progress},
		{"gateway.in-time", "Progress arrives while the work goes on, not with the result.", "basic/patterns/progress", "Do not collect notifications: pass each on at once.", inTime},
		{"gateway.logs", "Log messages arrive whole, and in order.", "server/utilities/logging", "Pass log messages of a request on, in the stream of its answer.", logs},
		{"gateway.questions", "Questions of the server reach the client whole, and its answers reach the server.", "basic/patterns/mrtr", "Pass elicitation, sampling and roots on in the era of the client.", questions},
		{"gateway.cancellation", "A cancelled request is cancelled at the server, too.", "basic/patterns/cancellation", "Cancel the request behind as soon as the client has cancelled its own.", cancellation},
		{"gateway.updates", "Changes of resources and lists are told to those who subscribed.", "basic/patterns/subscriptions", "Hold a subscription behind for those of your clients.", updates},
		{"gateway.cache-hints", "Nothing may be kept for longer, or by more people, than the server says.", "server/utilities/caching", "Pass ttlMs and cacheScope on, or make them stricter.", cacheHints},
		{"gateway.completion", "Completions are those of the server.", "server/utilities/completion", "Pass completion on.", completion},
		{"gateway.two-clients", "Two clients that use the same IDs and tokens at once get what is theirs.", "basic/index#statelessness", "Give requests IDs and tokens of your own behind, and map them back.", twoClients},
	}
}

// verdict makes the verdict of a trait. A gateway that does not keep one has
// failed, as with a MUST.
func (t *trait) verdict(f probe.Finding) verdict.Verdict {
	v := verdict.Verdict{
		Row: t.id, Level: "MUST", Text: t.text, Citation: newest() + " " + t.citation, Probe: t.id,
		Outcome: f.Outcome, Why: f.Why,
	}
	if f.Outcome == verdict.Fail {
		v.Mend, v.Evidence = t.mend, probe.Evidence(f.Blamed)
	}
	return v
}

// both points at what came on the two ways.
func both(near, far *peer.Message, pointer string) []probe.Blame {
	return []probe.Blame{{Message: near, Pointer: pointer}, {Message: far, Pointer: pointer}}
}

// gather is a finding in the making: the first fault counts, and pass is only
// said if something was compared.
type gather struct {
	compared int
	failed   *probe.Finding
	nothing  string
}

func (g *gather) fault(blamed []probe.Blame, format string, args ...any) {
	if g.failed == nil {
		f := probe.Fail(blamed, format, args...)
		g.failed = &f
	}
}

func (g *gather) finding() probe.Finding {
	switch {
	case g.failed != nil:
		return *g.failed
	case g.compared == 0:
		return probe.Unverified("%s", g.nothing)
	default:
		return probe.Pass()
	}
}

// newest is the revision that the traits cite.
func newest() string {
	all := revision.All()
	return all[len(all)-1].Revision.String()
}
