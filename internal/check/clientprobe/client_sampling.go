package clientprobe

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

const sample = "sampling/createMessage"

var clientSampling = []Probe{
	{
		Info: probe.Info{
			ID: "sampling/declared", Rows: []string{"26.client.sampling-010", "2511.client.sampling-007", "2511.architecture-004"},
			Does:    "Compares what the client declares with what it answers: in a session for all of it, and without one for each request.",
			Accepts: "The capability sampling wherever a model is asked, on every request of a client that has it.",
			Mend:    "Declare the capability sampling.",
		},
		Watch: declared("sampling", sample),
	},
	{
		Info: probe.Info{
			ID: "sampling/tools-declared", Rows: []string{"26.client.sampling-009", "26.client.sampling-007", "2511.client.sampling-005", "26.schema-007", "2511.client.sampling-010", "2511.client.sampling-011"},
			Does:    "Asks the client's model with tools, and with a toolChoice alone, whether or not that is declared.",
			Accepts: "An answer if the capability sampling.tools is declared, and an error or none otherwise.",
			Mend:    "Declare sampling.tools, or refuse requests with tools.",
		},
		Needs: []string{"sampling with tools"},
		Watch: func(x *X, w *probe.Watch) {
			for _, a := range x.asked(sample) {
				if !a.has("tools") && !a.has("toolChoice") || a.Answer == nil {
					continue
				}
				w.Saw(a.Answer)
				if a.result() != nil && !declares(x.declaredFor(a.Answer), "sampling/tools") && declares(x.declaredFor(a.Answer), "sampling") {
					w.FaultOf(probe.Of(a.Question, a.Answer), "the client answers a request with tools, and has not declared sampling.tools")
				}
			}
			w.Nothing(noAnswer("with tools"))
		},
	},
	{
		Info: probe.Info{
			ID: "sampling/result-members", Rows: []string{"26.client.sampling-030", "2511.client.sampling-014"},
			Does:    "Looks for role, content and model in the messages of the client's model.",
			Accepts: "All three.",
			Mend:    "Answer with role, content and model.",
		},
		Watch: eachResult(sample, func(w *probe.Watch, a *asked) {
			if a.isTask() || a.lacksAll("role", "content", "model") {
				return // it is no result of the kind, which is another rule
			}
			w.Saw(a.Answer)
			for _, name := range []string{"role", "content", "model"} {
				if _, ok := a.get(name); !ok {
					w.Fault(a.Answer, "/"+a.At, "the message has no %s", name)
				}
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "sampling/content-types", Rows: []string{"2503.client.sampling-001"},
			Does:    "Looks at the type of the content of messages of the client's model.",
			Accepts: "text, image or audio.",
		},
		Watch: eachResult(sample, func(w *probe.Watch, a *asked) {
			kind, ok := a.get("content/type")
			if !ok {
				return
			}
			w.Saw(a.Answer)
			if text, _ := kind.(string); !slices.Contains([]string{"text", "image", "audio"}, text) {
				w.Fault(a.Answer, "/"+a.At+"/content/type", "the content is of the type %s", peer.Encode(kind))
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "sampling/tool-required", Rows: []string{"26.client.sampling-017", "2511.client.sampling-017"},
			Does:    `Asks the client's model with tools and the choice "required".`,
			Accepts: "The use of a tool, or a message that was cut off.",
			Mend:    "Pass toolChoice on to the model.",
		},
		Needs: []string{"sampling with tools"}, In: []string{scenarioAsks},
		Watch: watchToolChoice("required", func(w *probe.Watch, a *asked, uses bool) {
			if !uses && a.text("stopReason") != "maxTokens" {
				w.FaultOf(probe.Of(a.Question, a.Answer), "the message uses no tool, which was required")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "sampling/tool-forbidden", Rows: []string{"26.client.sampling-018", "2511.client.sampling-018"},
			Does:    `Asks the client's model with tools and the choice "none".`,
			Accepts: "A message that uses no tool.",
			Mend:    "Pass toolChoice on to the model.",
		},
		Needs: []string{"sampling with tools"}, In: []string{scenarioAsks},
		Watch: watchToolChoice("none", func(w *probe.Watch, a *asked, uses bool) {
			if uses {
				w.FaultOf(probe.Of(a.Question, a.Answer), "the message uses a tool, which was ruled out")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "sampling/max-tokens", Rows: []string{"26.client.sampling-028"},
			Does:    "Asks the client's model for five tokens at most, and measures the text.",
			Accepts: "A text that five tokens can hold: 128 bytes each, which is more than the vocabularies of models have.",
			Mend:    "Pass maxTokens on to the model.",
		},
		In:    []string{scenarioAsks},
		Watch: watchMaxTokens,
	},
}

// lacksAll reports whether a result has none of some members.
func (a *asked) lacksAll(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { _, ok := a.get(name); return ok })
}

// isTask reports whether the question was taken as a task.
func (a *asked) isTask() bool {
	_, ok := a.get("task")
	return ok
}

// blocks are the blocks of a message, of which one may stand alone.
func (a *asked) blocks() list {
	content, _ := a.get("content")
	if many, ok := content.(list); ok {
		return many
	}
	return list{content}
}

func watchToolChoice(mode string, look func(w *probe.Watch, a *asked, uses bool)) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		w.Nothing(probe.NotApplicable("the client does not declare sampling.tools, or its model was not asked"))
		for _, a := range x.asked(sample) {
			if chosen, _ := peer.Get(any(a.Params), "toolChoice/mode"); chosen != mode || a.result() == nil || a.lacksAll("content") {
				continue
			}
			w.Saw(a.Answer)
			uses := slices.ContainsFunc(a.blocks(), func(v any) bool {
				kind, _ := peer.Get(v, "type")
				return kind == "tool_use"
			})
			look(w, a, uses)
		}
	}
}

// mostOfToken is how long a token can be, in bytes, with much to spare.
const mostOfToken = 128

func watchMaxTokens(x *X, w *probe.Watch) {
	w.Nothing(noAnswer("for its model"))
	for _, a := range x.asked(sample) {
		if a.result() == nil || a.lacksAll("content") {
			continue
		}
		n, _ := a.Params["maxTokens"].(json.Number)
		most, err := strconv.Atoi(n.String())
		if err != nil {
			continue
		}
		w.Saw(a.Answer)
		size := 0
		for _, block := range a.blocks() {
			v, _ := peer.Get(block, "text")
			text, _ := v.(string)
			size += len(text)
		}
		if size > most*mostOfToken {
			w.FaultOf(probe.Of(a.Question, a.Answer), "the text has %d bytes, which are more than %d tokens", size, most)
		}
	}
}
