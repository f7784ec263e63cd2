package mcp

import (
	"encoding/json"
	"strings"
)

// CreateMessageParams asks the client to run a model.
//
// Revision 2026-07-28 deprecates sampling (docs/deprecated.md).
//
// Spec: 2026-07-28 client/sampling#creating-messages.
type CreateMessageParams struct {
	Meta             Meta               `json:"_meta,omitzero"`
	Messages         []*SamplingMessage `json:"messages"`
	ModelPreferences *ModelPreferences  `json:"modelPreferences,omitzero"`
	SystemPrompt     string             `json:"systemPrompt,omitzero"`
	// IncludeContext is "none", which is what it means to leave it out, "thisServer" or
	// "allServers". Revision 2025-11-25 deprecates the latter two (docs/deprecated.md).
	IncludeContext string   `json:"includeContext,omitzero"`
	Temperature    *float64 `json:"temperature,omitzero"`
	// MaxTokens is the most the model may produce; it is required.
	MaxTokens     int64           `json:"maxTokens"`
	StopSequences []string        `json:"stopSequences,omitzero"`
	Metadata      json.RawMessage `json:"metadata,omitzero"`
	// Tools are what the model may ask to use; the server runs them.
	Tools      []*Tool     `json:"tools,omitzero"`
	ToolChoice *ToolChoice `json:"toolChoice,omitzero"`
}

// SamplingMessage is one message of the conversation to continue.
type SamplingMessage struct {
	Role    Role      `json:"role"`
	Content OneOrMany `json:"content"`
	Meta    Meta      `json:"_meta,omitzero"`
}

// ModelPreferences are advice on the choice of a model; priorities are from
// 0 to 1.
//
// Spec: 2026-07-28 client/sampling#model-preferences.
type ModelPreferences struct {
	Hints                []ModelHint `json:"hints,omitzero"`
	CostPriority         *float64    `json:"costPriority,omitzero"`
	SpeedPriority        *float64    `json:"speedPriority,omitzero"`
	IntelligencePriority *float64    `json:"intelligencePriority,omitzero"`
}

// ModelHint is a model's name or a part of one, for example "sonnet".
type ModelHint struct {
	Name string `json:"name,omitzero"`
}

// ToolChoice says whether the model must use a tool: "auto", "required" or
// "none".
type ToolChoice struct {
	Mode string `json:"mode,omitzero"`
}

// CreateMessageResult is what the model said.
//
// Spec: 2026-07-28 client/sampling#result-fields.
type CreateMessageResult struct {
	Meta    Meta      `json:"_meta,omitzero"`
	Role    Role      `json:"role"`
	Content OneOrMany `json:"content"`
	Model   string    `json:"model"`
	// StopReason is "endTurn", "stopSequence", "maxTokens", "toolUse" or a
	// client's own.
	StopReason string `json:"stopReason,omitzero"`
}

// Text returns the text blocks of the message, one after the other.
func (r *CreateMessageResult) Text() string {
	var s strings.Builder
	for _, c := range r.Content {
		if t, ok := c.(*TextContent); ok {
			s.WriteString(t.Text)
		}
	}
	return s.String()
}
