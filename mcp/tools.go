package mcp

import (
	"encoding/json"

	"github.com/parley-mcp/parley/internal/wire"
)

// Tool describes a function that a model may call.
//
// Spec: 2026-07-28 server/tools#tool.
type Tool struct {
	// Name is unique in a server: 1 to 128 characters of A-Z a-z 0-9 _ - .
	Name        string `json:"name"`
	Title       string `json:"title,omitzero"`
	Description string `json:"description,omitzero"`
	// InputSchema is a JSON Schema of type object. server.AddTool infers it.
	InputSchema json.RawMessage `json:"inputSchema"`
	// OutputSchema is a JSON Schema of the structured result, or nil.
	OutputSchema json.RawMessage  `json:"outputSchema,omitzero"`
	Annotations  *ToolAnnotations `json:"annotations,omitzero"`
	// Execution says how the tool can be called; nil means plainly. Only 2025-11-25
	// has it.
	Execution *ToolExecution `json:"execution,omitzero"`
	Icons     []Icon         `json:"icons,omitzero"`
	Meta      Meta           `json:"_meta,omitzero"`
}

// ToolAnnotations are hints about what a tool does. A client must not trust
// them unless it trusts the server.
//
// Spec: 2026-07-28 server/tools#data-types.
type ToolAnnotations struct {
	Title        string `json:"title,omitzero"`
	ReadOnlyHint bool   `json:"readOnlyHint,omitzero"`
	// DestructiveHint is true unless set otherwise.
	DestructiveHint *bool `json:"destructiveHint,omitzero"`
	IdempotentHint  bool  `json:"idempotentHint,omitzero"`
	// OpenWorldHint is true unless set otherwise.
	OpenWorldHint *bool `json:"openWorldHint,omitzero"`
}

// ToolExecution says how a tool can be called.
//
// Spec: 2025-11-25 server/tools#tool.
type ToolExecution struct {
	// TaskSupport says whether the tool can be called as a task; empty means
	// TaskForbidden.
	TaskSupport TaskSupport `json:"taskSupport,omitzero"`
}

// TaskSupport says whether something can run as a task.
//
// Spec: 2025-11-25 basic/utilities/tasks#tool-level-negotiation.
type TaskSupport string

// The values of TaskSupport.
const (
	TaskForbidden TaskSupport = "forbidden"
	TaskOptional  TaskSupport = "optional"
	TaskRequired  TaskSupport = "required"
)

// ListToolsResult is a page of tools.
//
// Spec: 2026-07-28 server/tools#listing-tools.
type ListToolsResult struct {
	ResultFields
	CacheFields
	Tools      []*Tool `json:"tools"`
	NextCursor *string `json:"nextCursor,omitzero"`

	encodedEntries `json:"-"`
}

// CallToolParams asks for a call.
//
// Spec: 2026-07-28 server/tools#calling-tools.
type CallToolParams struct {
	Name string `json:"name"`
	// Arguments is a JSON object, or nil for none.
	Arguments json.RawMessage `json:"arguments,omitzero"`
}

// CallToolResult is the result of calling a tool. IsError says that the tool
// ran and failed; Content then says why, in words that a model can act on.
//
// Spec: 2026-07-28 server/tools#tool-result.
type CallToolResult struct {
	ResultFields
	Content Contents `json:"content"`
	// StructuredContent is any JSON value (an object before 2026-07-28).
	StructuredContent json.RawMessage `json:"structuredContent,omitzero"`
	IsError           bool            `json:"isError,omitzero"`

	// encoded saves StructuredContent that was encoded here from being checked
	// once more while it is sent.
	encoded wire.Encoded
}

// ToolError returns a result that says that the tool failed, with a formatted
// reason.
func ToolError(format string, args ...any) *CallToolResult {
	return &CallToolResult{Content: Contents{Textf(format, args...)}, IsError: true}
}
