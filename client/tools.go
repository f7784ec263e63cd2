package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// CallTool calls a tool. args must encode to a JSON object, or be nil. A failure of
// the tool itself is a result with IsError set; an error means that there is no
// result. What the client knows of a tool it knows from listing it, at any time
// before: the structured result of such a tool must fit its output schema, or else
// the error is an *OutputError (see Options.NoOutputValidation).
//
// If the server makes a task of the call, CallTool takes until the task has ended, and
// answers the task's questions by the functions in Options, whatever the revision. How
// long that takes is bounded by ctx and WithMaxTimeout only. A task that gives no
// result is a *TaskError; unless WithTaskLeft is set, it is cancelled when ctx ends.
// In 2025-11-25 the client asks for a task if the tool can be called in no other way,
// and with WithTask.
//
// Spec: 2026-07-28 server/tools#calling-tools.
// Spec: ext-tasks/draft tasks#backwards-compatibility.
func (c *Client) CallTool(ctx context.Context, name string, args any, opts ...CallOption) (*mcp.CallToolResult, error) {
	result, task, err := c.callTool(ctx, name, args, opts)
	switch {
	case err != nil:
		return nil, err
	case task != nil:
		return task.wait(ctx, &task.req.opts)
	}
	return c.checked(name, result)
}

// checked returns a result if it fits what is known of its tool.
func (c *Client) checked(name string, result *mcp.CallToolResult) (*mcp.CallToolResult, error) {
	if c.opts.NoOutputValidation {
		return result, nil
	}
	if err := c.CheckOutput(name, result); err != nil {
		return nil, err
	}
	return result, nil
}

// typicalParams is enough space for the params of most calls, in bytes.
const typicalParams = 256

// callParams encodes mcp.CallToolParams in one step.
func callParams(name string, args any) (encoded, error) {
	params, err := wire.Append(append(make([]byte, 0, typicalParams), `{"name":`...), name)
	if err != nil {
		return nil, err
	}
	if args == nil {
		return append(params, '}'), nil
	}
	before := len(params)
	params = append(params, `,"arguments":`...)
	begin := len(params)
	params, err = wire.Append(params, args)
	if err != nil {
		return nil, fmt.Errorf("arguments of tool %q: %w", name, err)
	}
	if string(params[begin:]) == "null" {
		params = params[:before]
	}
	return append(params, '}'), nil
}

// Call calls a tool and decodes its structured result into Out. If the result is not
// structured, Call uses its text: verbatim if Out is string or json.RawMessage, decoded
// as JSON for any other Out. A result that has neither is an error, unless Out is one
// of these two types. For a tool that returns nothing, or content other than text, use
// Client.CallTool. A failure of the tool itself is a *ToolError.
func Call[Out any](ctx context.Context, c *Client, name string, args any, opts ...CallOption) (Out, error) {
	var out Out
	result, err := c.CallTool(ctx, name, args, opts...)
	if err != nil {
		return out, err
	}
	if result.IsError {
		return out, &ToolError{Tool: name, Result: result}
	}
	if err := decodeResult(result, &out); err != nil {
		return out, fmt.Errorf("result of tool %q: %w", name, err)
	}
	return out, nil
}

func decodeResult(result *mcp.CallToolResult, out any) error {
	if result.StructuredContent != nil {
		return wire.Unmarshal(result.StructuredContent, out)
	}
	if s, ok := out.(*string); ok {
		*s = textOf(result)
		return nil
	}
	if raw, ok := out.(*json.RawMessage); ok {
		*raw = json.RawMessage(textOf(result))
		return nil
	}
	// In revisions without structured content, its text comes first, and other
	// text may follow.
	if len(result.Content) > 1 {
		if t, ok := result.Content[0].(*mcp.TextContent); ok && wire.Unmarshal([]byte(t.Text), out) == nil {
			return nil
		}
	}
	text := textOf(result)
	if text == "" {
		return errors.New("it has neither structured content nor text")
	}
	return wire.Unmarshal([]byte(text), out)
}

func textOf(result *mcp.CallToolResult) string {
	var text strings.Builder
	for _, block := range result.Content {
		if t, ok := block.(*mcp.TextContent); ok {
			text.WriteString(t.Text)
		}
	}
	return text.String()
}
