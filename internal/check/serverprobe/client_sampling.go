package serverprobe

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

var samplingProbes = []Probe{
	{
		Info: probe.Info{
			ID: "sampling/messages-and-max-tokens", Rows: []string{"26.client.sampling-013", "2511.client.sampling-013"},
			Does:    "Looks at each sampling request.",
			Accepts: "One with messages, a list, and maxTokens, a number.",
		},
		Watch: watchQuestions(ofMethod(mcp.MethodSample), func(w *probe.Watch, q question) {
			if _, ok := q.Params["messages"].([]any); !ok {
				w.Fault(q.Message, q.at("messages"), "the sampling request has no messages that are a list")
			} else if _, ok := q.Params["maxTokens"].(json.Number); !ok {
				w.Fault(q.Message, q.at("maxTokens"), "the sampling request has no maxTokens that is a number")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "sampling/message-roles", Rows: []string{"26.client.sampling-020", "26.schema-029"},
			Does:    "Looks at the messages of each sampling request.",
			Accepts: "Messages with the role user or assistant, and with content.",
		},
		Watch: watchQuestions(ofMethod(mcp.MethodSample), func(w *probe.Watch, q question) {
			for n, message := range messagesOf(q) {
				if role := message["role"]; role != "user" && role != "assistant" {
					w.Fault(q.Message, q.at(fmt.Sprintf("messages/%d/role", n)), "the role of the message is neither user nor assistant")
				} else if message["content"] == nil {
					w.Fault(q.Message, q.at(fmt.Sprintf("messages/%d", n)), "the message has no content")
				}
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "sampling/one-block", Rows: []string{"2506.client.sampling-001", "2503.client.sampling-001"},
			Does:    "Looks at the content of the messages of each sampling request.",
			Accepts: "One block for each message: text, an image or, from 2025-03-26 on, audio.",
			After:   []string{"sampling/no-audio"},
		},
		Watch: watchQuestions(ofMethod(mcp.MethodSample), func(w *probe.Watch, q question) {
			for n, message := range messagesOf(q) {
				block, ok := message["content"].(map[string]any)
				switch {
				case message["content"] == nil:
				case !ok:
					w.Fault(q.Message, q.at(fmt.Sprintf("messages/%d/content", n)), "the content of the message is not one block")
				case !slices.Contains([]any{"text", "image", "audio"}, block["type"]):
					w.Fault(q.Message, q.at(fmt.Sprintf("messages/%d/content/type", n)), "this revision has no sampling with content of type %s", peer.Encode(block["type"]))
				}
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "sampling/no-audio", Rows: []string{"2506.client.sampling-002"},
			Does:    "Looks for audio in the messages of each sampling request.",
			Accepts: "None: 2024-11-05 does not have it.",
		},
		Watch: watchQuestions(ofMethod(mcp.MethodSample), func(w *probe.Watch, q question) {
			for n, message := range messagesOf(q) {
				if block, _ := message["content"].(map[string]any); block["type"] == "audio" {
					w.Fault(q.Message, q.at(fmt.Sprintf("messages/%d/content/type", n)), "this revision has no audio")
				}
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "sampling/priorities", Rows: []string{"26.client.sampling-022", "2511.client.sampling-020"},
			Does:    "Looks at the model preferences of each sampling request.",
			Accepts: "Priorities that are numbers from 0 to 1.",
		},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("no tool that may be called asks for a model with preferences"))
			for _, q := range x.questions() {
				prefers, ok := q.Params["modelPreferences"].(map[string]any)
				if q.Method != mcp.MethodSample || !ok {
					continue
				}
				for _, name := range []string{"costPriority", "speedPriority", "intelligencePriority"} {
					v, given := prefers[name]
					if !given {
						continue
					}
					w.Saw(q.Message)
					number, _ := v.(json.Number)
					if f, err := number.Float64(); err != nil || f < 0 || f > 1 {
						w.Fault(q.Message, q.at("modelPreferences/"+name), "%s is not between 0 and 1", name)
					}
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "sampling/context-declared", Rows: []string{
				"26.client.sampling-012", "26.client.sampling-011", "2511.client.sampling-009", "2511.client.sampling-008",
			},
			Does:    "Looks at includeContext of each sampling request; the checker does not declare sampling.context.",
			Accepts: "none, or that it is left out.",
		},
		Watch: watchQuestions(ofMethod(mcp.MethodSample), func(w *probe.Watch, q question) {
			if v := q.Params["includeContext"]; v == "thisServer" || v == "allServers" {
				w.Fault(q.Message, q.at("includeContext"), "it asks for the context %s of a client that does not declare sampling.context", v)
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "sampling/results-alone", Rows: []string{"26.client.sampling-014", "2511.client.sampling-015"},
			Does:    "Lets tools of the server be used in sampling, and looks at the messages with their results.",
			Accepts: "Messages that hold results of tools, or other content, not both.",
		},
		Watch: watchToolMessages(func(w *probe.Watch, q question, n int, blocks []map[string]any) {
			results := len(blocksOfType(blocks, "tool_result"))
			if results > 0 && results < len(blocks) {
				w.Fault(q.Message, q.at(fmt.Sprintf("messages/%d/content", n)), "the message holds results of tools and other content")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "sampling/results-match", Rows: []string{
				"26.client.sampling-015", "26.client.sampling-038", "26.schema-036", "2511.client.sampling-016", "2511.client.sampling-033",
			},
			Does:    "Lets tools of the server be used in sampling, and compares the uses with the results that follow.",
			Accepts: "After each message with uses one of the user with a result for each of them, and for no other.",
			After:   []string{"sampling/results-alone"},
		},
		Watch: watchToolMessages(func(w *probe.Watch, q question, n int, blocks []map[string]any) {
			uses := idsOf(blocksOfType(blocks, "tool_use"), "id")
			if len(uses) == 0 {
				return
			}
			messages := messagesOf(q)
			if n+1 >= len(messages) {
				w.Fault(q.Message, q.at(fmt.Sprintf("messages/%d", n)), "no message with results follows the one with uses of tools")
				return
			}
			next := messages[n+1]
			if results := idsOf(blocksOfType(blocksOf(next), "tool_result"), "toolUseId"); next["role"] != "user" || !slices.Equal(uses, results) {
				w.Fault(q.Message, q.at(fmt.Sprintf("messages/%d", n+1)), "the results are not those of the uses before")
			}
		}),
	},
}

// messagesOf are the messages of a sampling request that are objects.
func messagesOf(q question) []map[string]any {
	list, _ := q.Params["messages"].([]any)
	return objects(list)
}

func objects(list []any) []map[string]any {
	var all []map[string]any
	for _, v := range list {
		object, _ := v.(map[string]any)
		all = append(all, object)
	}
	return all
}

// blocksOf is the content of a message, one block or a list.
func blocksOf(message map[string]any) []map[string]any {
	switch content := message["content"].(type) {
	case map[string]any:
		return []map[string]any{content}
	case []any:
		return objects(content)
	default:
		return nil
	}
}

func blocksOfType(blocks []map[string]any, kind string) []map[string]any {
	var all []map[string]any
	for _, b := range blocks {
		if b["type"] == kind {
			all = append(all, b)
		}
	}
	return all
}

// idsOf are the values of a member, sorted.
func idsOf(blocks []map[string]any, name string) []string {
	var all []string
	for _, b := range blocks {
		all = append(all, string(peer.Encode(b[name])))
	}
	slices.Sort(all)
	return all
}

// watchToolMessages judges the messages of sampling requests that follow on the
// use of a tool.
func watchToolMessages(check func(w *probe.Watch, q question, n int, blocks []map[string]any)) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		w.Nothing(probe.Unverified("no tool that may be called lets the client's model use tools"))
		for _, q := range x.questions() {
			if q.Method != mcp.MethodSample {
				continue
			}
			for n, message := range messagesOf(q) {
				blocks := blocksOf(message)
				if len(blocksOfType(blocks, "tool_use"))+len(blocksOfType(blocks, "tool_result")) > 0 {
					w.Saw(q.Message)
					check(w, q, n, blocks)
				}
			}
		}
	}
}
