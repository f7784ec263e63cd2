package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parley-mcp/parley/client/host"
	"github.com/parley-mcp/parley/client/host/internal/form"
	"github.com/parley-mcp/parley/mcp"
)

// Item is an item of the Responses API: of a request's input, or of a response's output.
// Of items of other types than "message", "function_call" and "function_call_output" only
// Type is set; they encode as they were decoded.
type Item struct {
	// Type is "message" or "" for a message.
	Type string `json:"type,omitzero"`

	// Role and Content are those of a message.
	Role    string  `json:"role,omitzero"`
	Content Content `json:"content,omitzero"`
	// CallID is that of a call and of its output.
	CallID string `json:"call_id,omitzero"`
	// Name and Arguments are those of a "function_call"; Arguments are JSON, as the model
	// has written it.
	Name      string `json:"name,omitzero"`
	Arguments string `json:"arguments,omitzero"`
	// Output is that of a "function_call_output".
	Output Content `json:"output,omitzero"`

	kept form.Kept
}

// The types of items that this package makes.
const (
	typeMessage = "message"
	typeCall    = "function_call"
	typeOutput  = "function_call_output"
)

// User returns a message of the user, for the input of a request.
func User(text string) Item {
	return Item{Type: typeMessage, Role: "user", Content: Content{{Type: typeText, Text: text}}}
}

// Text returns the texts of the messages among items, joined.
func Text(items []Item) string {
	var b strings.Builder
	for i := range items {
		b.WriteString(items[i].Content.text())
	}
	return b.String()
}

// Calls returns the calls that the output of a response wants. Those of tools that OpenAI
// runs itself, and of tools without JSON arguments, are not among them.
func Calls(output []Item) []host.Call {
	var calls []host.Call
	for i := range output {
		if it := &output[i]; it.Type == typeCall {
			calls = append(calls, host.Call{ID: it.CallID, Name: it.Name, Arguments: json.RawMessage(it.Arguments)})
		}
	}
	return calls
}

// CallItem returns the item in which a model wants a call.
func CallItem(c host.Call) Item {
	return Item{Type: typeCall, CallID: c.ID, Name: c.Name, Arguments: written(c.Arguments)}
}

// written is the text of a call's arguments.
func written(arguments json.RawMessage) string {
	if len(arguments) == 0 {
		return "{}"
	}
	return string(arguments)
}

// takes is what the Responses API takes in the output of a function.
var takes = form.Takes{Images: []string{"image/png", "image/jpeg", "image/webp", "image/gif"}, Files: []string{"application/pdf"}}

// Results returns the items that answer the calls of a model, for the input of the next
// request. It has to have one for each call.
func Results(answers []host.Answer) []Item {
	items := make([]Item, 0, len(answers))
	for i := range answers {
		items = append(items, Result(answers[i].ID, answers[i].Result))
	}
	return items
}

// Result returns the item with the result of a call.
func Result(id string, r *mcp.CallToolResult) Item {
	parts := takes.Parts(r)
	if r.IsError {
		parts = form.Failed(parts)
	}
	output := make(Content, 0, len(parts))
	for _, p := range parts {
		output = append(output, part(p))
	}
	if len(output) == 1 && output[0].Type == typeInputText {
		output[0].Type = typeText // a string is what most programs send
	}
	return Item{Type: typeOutput, CallID: id, Output: output}
}

// MCP returns a "function_call_output" as a server would return it, but never with
// IsError: the API has no place that says that a tool has failed. What Result makes of a
// failure is a text that begins with "Error: ", as the text of a success may, too.
func (it Item) MCP() (*mcp.CallToolResult, error) {
	if it.Type != typeOutput {
		return nil, fmt.Errorf("an item of the type %q is no output of a function", it.Type)
	}
	return result(it.Output)
}

func result(output Content) (*mcp.CallToolResult, error) {
	r := &mcp.CallToolResult{Content: make(mcp.Contents, 0, len(output))}
	for i := range output {
		c, err := block(&output[i])
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
		r.Content = append(r.Content, c)
	}
	return r, nil
}

// UnmarshalJSON decodes an item, and keeps what this type does not have.
func (it *Item) UnmarshalJSON(data []byte) (err error) {
	type plain Item
	*it = Item{}
	switch form.TypeOf(data) {
	case "", typeMessage, typeCall, typeOutput:
		it.kept, err = form.Decode(data, (*plain)(it))
	default:
		var other struct {
			Type string `json:"type"`
		}
		it.kept, err = form.Decode(data, &other)
		it.Type = other.Type
	}
	return err
}

// MarshalJSON encodes an item, with what was kept.
func (it Item) MarshalJSON() ([]byte, error) {
	type plain Item
	return it.kept.Encode(plain(it))
}
