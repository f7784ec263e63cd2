package gateway

import (
	"cmp"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/internal/revision"
)

// trait is something that a gateway keeps as it is.
type trait struct {
	id       string
	level    string // "" means MUST
	text     string
	citation string
	mend     string
	run      func(*pair) probe.Finding
}

// traits are what is compared, besides the rows of the specification. Their IDs
// begin with gateway.
func traits() []trait {
	return []trait{
		{id: "gateway.definitions", text: "Tools, prompts, resources and templates keep every member of their definitions, but for names and URIs.", citation: "server/tools", mend: "Pass definitions on as you got them, with members that you do not know.", run: definitions},
		{id: "gateway.results", text: "Results keep every member, also unknown ones, and the order of their content.", citation: "server/tools#tool-result", mend: "Pass results on as the bytes they are.", run: results},
		{id: "gateway.numbers", text: "Numbers keep their digits, also those that do not fit into a double.", citation: "basic/index#messages", mend: "Do not decode numbers on the way, or decode them without rounding.", run: digits},
		{id: "gateway.errors", text: "Errors keep their code, message and data.", citation: "basic/index#error-responses", mend: "Pass the error of the server on, not one of your own.", run: failures},
		{id: "gateway.requests", text: "What a client sends reaches the server whole: arguments, and keys of _meta that are not the protocol's.", citation: "basic/index#meta", mend: "Pass arguments and unknown keys of _meta on as they are.", run: requests},
		{id: "gateway.progress", text: "Progress arrives unchanged and in order, with the token of the client, and the last of it always.", citation: "basic/patterns/progress", mend: "Map tokens of progress one to one, and keep the order.", run: progress},
		{id: "gateway.all-progress", level: "SHOULD", text: "All progress arrives, also what is outdated soon.", citation: "basic/patterns/progress", mend: "Leave out progress only while the client does not read.", run: allProgress},
		{id: "gateway.in-time", text: "Progress arrives while the work goes on, not with the result.", citation: "basic/patterns/progress", mend: "Do not collect notifications: pass each on at once.", run: inTime},
		{id: "gateway.logs", text: "Log messages arrive whole, and in order.", citation: "server/utilities/logging", mend: "Pass log messages of a request on, in the stream of its answer.", run: logs},
		{id: "gateway.questions", text: "Questions of the server reach the client whole, and its answers reach the server.", citation: "basic/patterns/mrtr", mend: "Pass elicitation, sampling and roots on in the era of the client.", run: questions},
		{id: "gateway.cancellation", text: "A cancelled request is cancelled at the server, too.", citation: "basic/patterns/cancellation", mend: "Cancel the request behind as soon as the client has cancelled its own.", run: cancellation},
		{id: "gateway.updates", text: "Changes of resources and lists are told to those who subscribed.", citation: "basic/patterns/subscriptions", mend: "Hold a subscription behind for those of your clients.", run: updates},
		{id: "gateway.cache-hints", text: "Nothing may be kept for longer, or by more people, than the server says.", citation: "server/utilities/caching", mend: "Pass ttlMs and cacheScope on, or make them stricter.", run: cacheHints},
		{id: "gateway.completion", text: "Completions are those of the server.", citation: "server/utilities/completion", mend: "Pass completion on.", run: completion},
		{id: "gateway.two-clients", text: "Two clients that use the same IDs and tokens at once get what is theirs.", citation: "basic/index#statelessness", mend: "Give requests IDs and tokens of your own behind, and map them back.", run: twoClients},
	}
}

// verdict makes the verdict of a trait.
func (t *trait) verdict(f probe.Finding) verdict.Verdict {
	v := verdict.Verdict{
		Row: t.id, Level: cmp.Or(t.level, "MUST"), Text: t.text, Citation: newest() + " " + t.citation, Probe: t.id,
		Outcome: f.Outcome, Why: f.Why,
	}
	if f.Outcome == verdict.Fail {
		v.Mend, v.Evidence = t.mend, probe.Evidence(f.Blamed)
		if !v.Must() {
			v.Outcome = verdict.Warn
		}
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
