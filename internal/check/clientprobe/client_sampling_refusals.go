package clientprobe

import (
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

var clientSamplingRefusals = []Probe{
	{
		Info: probe.Info{
			ID: "sampling/missing-result", Rows: []string{"26.client.sampling-016", "2511.client.sampling-026"},
			Does:    "Asks the client's model to go on with a conversation in which the result of a tool is missing.",
			Accepts: "The error -32602, or without a session no answer.",
			Mend:    "Refuse conversations in which a use of a tool has no result with -32602.",
		},
		Needs: []string{"sampling with tools"}, In: []string{scenarioBadAsks},
		Watch: watchRefused(-32602, func(a *asked) bool { return a.has("messages/1/content/1") && !a.has("messages/2/content/1") }),
	},
	{
		Info: probe.Info{
			ID: "sampling/mixed-results", Rows: []string{"2511.client.sampling-027"},
			Does:    "Asks the client's model to go on with a conversation in which the result of a tool stands beside a text.",
			Accepts: "The error -32602.",
			Mend:    "Refuse messages that mix results of tools with other content with -32602.",
		},
		Needs: []string{needsSession, "sampling with tools"}, In: []string{scenarioBadAsks},
		Watch: watchRefused(-32602, func(a *asked) bool { return a.has("messages/2/content/1/toolUseId") }),
	},
	{
		Info: probe.Info{
			ID: "sampling/malformed-content", Rows: []string{"26.client.sampling-034", "2511.client.sampling-029"},
			Does:    "Asks the client's model with an image that has no data.",
			Accepts: "Any error, or without a session no answer.",
			Mend:    "Validate the messages before they go to the model.",
		},
		In:    []string{scenarioBadAsks},
		Watch: watchRefused(0, func(a *asked) bool { return a.at("messages/0/content/type") == "image" }),
	},
}

func (a *asked) has(path string) bool {
	_, ok := peer.Get(any(a.Params), path)
	return ok
}

func (a *asked) at(path string) any {
	v, _ := peer.Get(any(a.Params), path)
	return v
}

// watchRefused wants questions to be refused: with a code, or with any for 0. In
// a stateless revision the client does not come again.
func watchRefused(code int, which func(*asked) bool) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		w.Nothing(probe.Unverified("the client was not asked, or did not answer"))
		for _, a := range x.asked(sample) {
			if !which(a) {
				continue
			}
			switch got := a.code(); {
			case a.result() != nil:
				w.FaultOf(probe.Of(a.Question, a.Answer), "the client's model goes on with a conversation that is wrong")
			case a.Answer != nil && a.Answer.IsError() && code != 0 && got != code:
				w.FaultOf(probe.Of(a.Question, a.Answer), "the refusal has the code %d, want %d", got, code)
			case a.Answer != nil && a.Answer.IsError():
				w.Saw(a.Answer)
			case x.Stateless && x.heardAfter(a.Question):
				w.Saw(a.Question)
			}
		}
	}
}

// code is that of an answer that is an error; 0 if there is none.
func (a *asked) code() int {
	if a.Answer == nil {
		return 0
	}
	code, _ := a.Answer.Code() // 0, if it has none
	return code
}

// heardAfter reports whether the client went on after a message, in the same
// conversation.
func (x *X) heardAfter(m *peer.Message) bool {
	for _, other := range x.After(m, nil) {
		if other.Conn == m.Conn {
			return true
		}
	}
	return false
}
