package serverprobe

import (
	"fmt"

	"github.com/parley-mcp/parley/internal/check/peer"
)

// capabilities are all that a client can have in the revision.
func (x *X) capabilities() map[string]any {
	all := map[string]any{"roots": map[string]any{}, "sampling": map[string]any{}}
	if x.Facts.RootsListChanged {
		all["roots"] = map[string]any{"listChanged": true}
	}
	if x.Facts.SamplingTools {
		all["sampling"] = map[string]any{"tools": map[string]any{}}
	}
	if x.Facts.Elicitation {
		all["elicitation"] = map[string]any{}
	}
	if x.Facts.ElicitURL {
		all["elicitation"] = map[string]any{"form": map[string]any{}, "url": map[string]any{}}
	}
	return all
}

// answer answers a request that a server makes in a session.
func (c *Conn) answer(m *peer.Message) *peer.Out {
	params := m.Object("params")
	if result := answerTo(m.Method, params); result != nil {
		return peer.Frame(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
	}
	return peer.Frame(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32601, "message": "Method not found"}})
}

// answerTo is what a friendly client says, or nil if it does not know the
// method.
func answerTo(method string, params map[string]any) any {
	switch method {
	case "ping":
		return map[string]any{}
	case "roots/list":
		return map[string]any{"roots": []any{map[string]any{"uri": "file:///tmp/parley-check", "name": "parley-check"}}}
	case "sampling/createMessage":
		return generated(params)
	case "elicitation/create":
		if params["mode"] == "url" {
			return map[string]any{"action": "accept"}
		}
		content := filled(params["requestedSchema"])
		if content == nil {
			return map[string]any{"action": "decline"}
		}
		return map[string]any{"action": "accept", "content": content}
	default:
		return nil
	}
}

// generated is what a model answers: it uses a tool once, if it is offered one.
func generated(params map[string]any) map[string]any {
	last := messagesOf(question{Params: params})
	if uses := useFirstTool(params); uses != nil && (len(last) == 0 || len(blocksOfType(blocksOf(last[len(last)-1]), "tool_result")) == 0) {
		return uses
	}
	return says(modelText)
}

// modelText is what the checker's model says.
const modelText = "example"

// says is an answer of a model with one block of text.
func says(text any) map[string]any {
	return map[string]any{
		"role": "assistant", "model": "parley-check", "stopReason": "endTurn",
		"content": map[string]any{"type": "text", "text": text},
	}
}

// The uses of tools by the checker's model: their IDs, and a member of their _meta
// with its value. The number is that of the messages before.
const (
	useID   = "use-%d"
	useMeta = "com.parley/check"
	useKept = "kept-%d"
)

// useFirstTool is the answer of a model that wants to use the first tool that it is
// offered, or nil if it is offered none.
func useFirstTool(params map[string]any) map[string]any {
	tools, _ := params["tools"].([]any)
	if len(tools) == 0 {
		return nil
	}
	tool, _ := tools[0].(map[string]any)
	input := filled(tool["inputSchema"])
	if input == nil {
		input = map[string]any{}
	}
	messages := messagesOf(question{Params: params})
	return map[string]any{
		"role": "assistant", "model": "parley-check", "stopReason": "toolUse",
		"content": []any{map[string]any{
			"type": "tool_use", "id": fmt.Sprintf(useID, len(messages)), "name": tool["name"], "input": input,
			"_meta": map[string]any{useMeta: fmt.Sprintf(useKept, len(messages))},
		}},
	}
}
