package openai

import (
	"encoding/json"
	"fmt"

	"github.com/parley-mcp/parley/client/host"
	"github.com/parley-mcp/parley/client/host/internal/form"
	"github.com/parley-mcp/parley/mcp"
)

// ChatMessage is a message of the Chat Completions API: of a request, or of a choice of
// the answer.
type ChatMessage struct {
	Role    string  `json:"role"`
	Content Content `json:"content"`
	// ToolCalls are the calls that a message of the model wants.
	ToolCalls []ChatCall `json:"tool_calls,omitzero"`
	// ToolCallID is, in a message with the role "tool", the call that it answers.
	ToolCallID string `json:"tool_call_id,omitzero"`

	kept form.Kept
}

// ChatCall is a call that a model wants.
type ChatCall struct {
	ID string `json:"id"`
	// Type is "function" for a call with JSON arguments.
	Type     string       `json:"type"`
	Function ChatFunction `json:"function,omitzero"`

	kept form.Kept
}

// ChatFunction is the function that a ChatCall calls. Arguments are JSON, as the model has
// written it.
type ChatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// ChatUser returns a message of the user.
func ChatUser(text string) ChatMessage {
	return ChatMessage{Role: "user", Content: Content{{Type: typeText, Text: text}}}
}

// Text returns the texts of a message, joined.
func (m ChatMessage) Text() string { return m.Content.text() }

// Calls returns the calls that a message of the model wants. Those of tools without JSON
// arguments are not among them.
func (m ChatMessage) Calls() []host.Call {
	var calls []host.Call
	for i := range m.ToolCalls {
		if c := &m.ToolCalls[i]; c.Type == typeFunction {
			calls = append(calls, host.Call{ID: c.ID, Name: c.Function.Name, Arguments: json.RawMessage(c.Function.Arguments)})
		}
	}
	return calls
}

// ChatCallFor returns a call as a model wants it.
func ChatCallFor(c host.Call) ChatCall {
	return ChatCall{ID: c.ID, Type: typeFunction, Function: ChatFunction{c.Name, written(c.Arguments)}}
}

// ChatResults returns the messages that answer the calls of a model's message. There has to
// be one for each of them, and they have to follow that message.
func ChatResults(answers []host.Answer) []ChatMessage {
	messages := make([]ChatMessage, 0, len(answers))
	for i := range answers {
		messages = append(messages, ChatResult(answers[i].ID, answers[i].Result))
	}
	return messages
}

// ChatResult returns the message with the result of a call.
func ChatResult(id string, r *mcp.CallToolResult) ChatMessage {
	return ChatMessage{Role: "tool", ToolCallID: id, Content: Content{{Type: typeText, Text: form.Text(r)}}}
}

// MCP returns a message with the role "tool" as the result that a server would return.
func (m ChatMessage) MCP() (*mcp.CallToolResult, error) {
	if m.Role != "tool" {
		return nil, fmt.Errorf("a message with the role %q is no result of a tool", m.Role)
	}
	return result(m.Content)
}

// UnmarshalJSON decodes a message, and keeps what this type does not have.
func (m *ChatMessage) UnmarshalJSON(data []byte) (err error) {
	type plain ChatMessage
	*m = ChatMessage{}
	m.kept, err = form.Decode(data, (*plain)(m))
	return err
}

// MarshalJSON encodes a message, with what was kept.
func (m ChatMessage) MarshalJSON() ([]byte, error) {
	type plain ChatMessage
	return m.kept.Encode(plain(m))
}

// UnmarshalJSON decodes a call, and keeps what this type does not have.
func (c *ChatCall) UnmarshalJSON(data []byte) (err error) {
	type plain ChatCall
	*c = ChatCall{}
	c.kept, err = form.Decode(data, (*plain)(c))
	return err
}

// MarshalJSON encodes a call, with what was kept.
func (c ChatCall) MarshalJSON() ([]byte, error) {
	type plain ChatCall
	return c.kept.Encode(plain(c))
}
