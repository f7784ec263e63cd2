package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/parley-mcp/parley/client/host"
	"github.com/parley-mcp/parley/client/host/internal/form"
	"github.com/parley-mcp/parley/internal/wire"
)

// Message is a message of a conversation: one of the request's messages, or what the API
// answers, of which it has role and content.
type Message struct {
	Role    string  `json:"role"`
	Content Content `json:"content"`
}

// Content is a list of blocks. It decodes from a string, too, as one block of text.
type Content []Block

// Block is a block of content. Of blocks of other types than "text", "image", "document",
// "tool_use" and "tool_result" only Type is set; they encode as they were decoded.
type Block struct {
	Type string `json:"type"`

	// Text is that of a "text".
	Text string `json:"text,omitzero"`
	// Source is that of an "image" or a "document", and Title that of a "document".
	Source *Source `json:"source,omitzero"`
	Title  string  `json:"title,omitzero"`
	// ID, Name and Input are those of a "tool_use".
	ID    string          `json:"id,omitzero"`
	Name  string          `json:"name,omitzero"`
	Input json.RawMessage `json:"input,omitzero"`
	// ToolUseID, Content and IsError are those of a "tool_result".
	ToolUseID string  `json:"tool_use_id,omitzero"`
	Content   Content `json:"content,omitzero"`
	IsError   bool    `json:"is_error,omitzero"`

	kept form.Kept
}

// Source says where an image or a document is: in Data, which is base64, or, for the Type
// "text", plain text, or at a URL.
type Source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type,omitzero"`
	Data      string `json:"data,omitzero"`
	URL       string `json:"url,omitzero"`
}

// The types of blocks that this package makes.
const (
	typeText       = "text"
	typeImage      = "image"
	typeDocument   = "document"
	typeToolUse    = "tool_use"
	typeToolResult = "tool_result"
)

// User returns a message of the user.
func User(text string) Message {
	return Message{Role: "user", Content: Content{{Type: typeText, Text: text}}}
}

// Text returns the texts of a message, joined.
func (m Message) Text() string {
	var b strings.Builder
	for i := range m.Content {
		b.WriteString(m.Content[i].Text)
	}
	return b.String()
}

// Calls returns the calls that a message of the model wants. Those of tools that Anthropic
// runs itself are not among them.
func (m Message) Calls() []host.Call {
	var calls []host.Call
	for i := range m.Content {
		if b := &m.Content[i]; b.Type == typeToolUse {
			calls = append(calls, host.Call{ID: b.ID, Name: b.Name, Arguments: b.Input})
		}
	}
	return calls
}

// Use returns the block in which a model wants a call.
func Use(c host.Call) Block {
	input := c.Arguments
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	return Block{Type: typeToolUse, ID: c.ID, Name: c.Name, Input: input}
}

// UnmarshalJSON decodes a string or an array of blocks.
func (c *Content) UnmarshalJSON(data []byte) error {
	if text, ok := form.IsText(data); ok {
		*c = Content{{Type: typeText, Text: text}}
		return nil
	}
	var list []Block
	err := wire.Unmarshal(data, &list)
	*c = list
	return err
}

// UnmarshalJSON decodes a block, and keeps what this type does not have.
func (b *Block) UnmarshalJSON(data []byte) (err error) {
	type plain Block
	*b = Block{}
	switch kind := form.TypeOf(data); kind {
	case typeText, typeImage, typeDocument, typeToolUse, typeToolResult:
		b.kept, err = form.Decode(data, (*plain)(b))
	default:
		var other struct {
			Type string `json:"type"`
		}
		b.kept, err = form.Decode(data, &other)
		b.Type = other.Type
	}
	return err
}

// MarshalJSON encodes a block, with what was kept.
func (b Block) MarshalJSON() ([]byte, error) {
	type plain Block
	return b.kept.Encode(plain(b))
}
