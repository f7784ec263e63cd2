package serverprobe

import (
	"reflect"

	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

// mostTurns is how often a server may let the client's model use tools in one call
// until it is said to have no limit.
const mostTurns = 100

var samplingAnswers = []Probe{
	{
		Info: probe.Info{
			ID: "sampling/content-validated", Rows: []string{"26.client.sampling-034", "2511.client.sampling-029"},
			Does:    "Repeats calls that ask for a model, and answers with a block of text whose text is a number.",
			Accepts: "Anything but the result that a good answer has.",
			Mend:    "Validate the content of the client's answer before it is used.",
		},
		Run: runMalformed,
	},
	{
		Info: probe.Info{
			ID: "sampling/tools-end", Rows: []string{"26.client.sampling-039", "2511.client.sampling-034"},
			Does:    "Repeats a call that lets the client's model use tools, and uses one in each answer, up to a hundred times.",
			Accepts: "An end of the call before that.",
			Mend:    "Bound how often you ask again, for example with toolChoice none in the last round.",
			After:   []string{"sampling/results-match"},
		},
		Run: func(x *X) probe.Finding {
			tools := x.askers(question.offersTools, 1)
			if len(tools) == 0 {
				return probe.Unverified("no tool that may be called lets the client's model use tools")
			}
			p, err := x.contrary()
			if err != nil {
				return unreachable(err)
			}
			r, endless := p.finish(tools[0].params(), chosen(mcp.MethodSample, useForEver), mostTurns)
			switch {
			case endless:
				return probe.Fail(probe.Of(r.Sent, r.Response), "the server has asked %d times in one call, and goes on", mostTurns)
			case r.Response == nil:
				return unanswered(r)
			}
			return probe.Pass(probe.Of(r.Sent, r.Response)...)
		},
	},
}

// useForEver is the answer of a model that uses a tool as long as it is offered one.
func useForEver(q question) any {
	if uses := useFirstTool(q.Params); uses != nil {
		return uses
	}
	return friendly(q)
}

func runMalformed(x *X) probe.Finding {
	finding := probe.Unverified("no tool that may be called asks for a model")
	for _, d := range x.askers(ofMethod(mcp.MethodSample), mostTried) {
		p, err := x.contrary()
		if err != nil {
			return unreachable(err)
		}
		from := x.Log.Len()
		r, endless := p.finish(d.params(), chosen(mcp.MethodSample, func(question) any {
			return says(wrongNumber)
		}), mostUrging)
		asked := x.askedSince(p, from)
		switch {
		case asked == nil:
		case endless, r.Response != nil && !succeeded(r.Response):
			finding = probe.Pass(probe.Of(asked, r.Sent, r.Response)...)
		case r.Response == nil:
			return unanswered(r)
		case isUsed(d, r.Response, map[string]string{modelText: wrongNumber.String()}):
			return probe.Fail(probe.Of(asked, r.Sent, r.Response), "a number was used as the text that the client's model has said")
		case reflect.DeepEqual(outcome(d.Result), outcome(r.Response)):
			finding = probe.Unverified("what the client's model says does not show in the result")
		default:
			finding = probe.Unverified("the call has another result, and does not say that it failed")
		}
	}
	return finding
}
