package mcp

// Prompt describes a template of messages that a user can choose.
//
// Spec: 2026-07-28 server/prompts#prompt.
type Prompt struct {
	Name        string            `json:"name"`
	Title       string            `json:"title,omitzero"`
	Description string            `json:"description,omitzero"`
	Arguments   []*PromptArgument `json:"arguments,omitzero"`
	Icons       []Icon            `json:"icons,omitzero"`
	Meta        Meta              `json:"_meta,omitzero"`
}

// PromptArgument describes one argument; all arguments are strings.
type PromptArgument struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitzero"`
	Description string `json:"description,omitzero"`
	Required    bool   `json:"required,omitzero"`
}

// ListPromptsResult is a page of prompts.
type ListPromptsResult struct {
	ResultFields
	CacheFields
	Prompts    []*Prompt `json:"prompts"`
	NextCursor *string   `json:"nextCursor,omitzero"`

	encodedEntries `json:"-"`
}

// GetPromptParams asks for a prompt's messages.
type GetPromptParams struct {
	Name      string            `json:"name"`
	Arguments map[string]string `json:"arguments,omitzero"`
}

// GetPromptResult is a prompt filled in.
//
// Spec: 2026-07-28 server/prompts#getting-a-prompt.
type GetPromptResult struct {
	ResultFields
	Description string           `json:"description,omitzero"`
	Messages    []*PromptMessage `json:"messages"`
}

// PromptMessage is one message of a prompt.
type PromptMessage struct {
	Role    Role    `json:"role"`
	Content Content `json:"content"`
}

// UnmarshalJSON decodes the content by its type.
func (m *PromptMessage) UnmarshalJSON(data []byte) error {
	var plain struct {
		Role    Role      `json:"role"`
		Content OneOrMany `json:"content"`
	}
	if err := unmarshal(data, &plain); err != nil {
		return err
	}
	m.Role = plain.Role
	if len(plain.Content) > 0 {
		m.Content = plain.Content[0]
	}
	return nil
}

// UserMessage returns a message of the user.
func UserMessage(c Content) *PromptMessage { return &PromptMessage{Role: RoleUser, Content: c} }

// AssistantMessage returns a message of the model.
func AssistantMessage(c Content) *PromptMessage {
	return &PromptMessage{Role: RoleAssistant, Content: c}
}
