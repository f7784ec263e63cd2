// Package search shows a catalogue of many tools as three: one that finds tools, one that
// describes them, and one that calls them. A model then has in its context only the tools
// that it has looked for.
package search

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/catalogue"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// The names of the three tools.
const (
	FindTools    = "find_tools"
	DescribeTool = "describe_tool"
	CallTool     = "call_tool"
)

const (
	// few is how many tools are found if nobody says how many, and most is how many can be.
	few, most = 10, 50
	// shortest is how much of a description is shown of a tool that was found, in bytes.
	shortest = 300
)

// Serve serves the exchange of a client that sees the tools of a view in this way. What is
// about no tool, or about one by its own name, goes to next, and so does the call that
// call_tool makes: to whoever stands there, it is a call like any other.
func Serve(ctx context.Context, c *catalogue.Catalogue, v catalogue.View, x *mcp.Exchange, next mcp.ServeFunc) (any, error) {
	switch x.Method {
	case mcp.MethodListTools:
		return list(), nil
	case mcp.MethodCallTool:
	default:
		return next(ctx, x)
	}
	if err := naming.Strict(x.Params); err != nil {
		return nil, err
	}
	name, _ := wire.Text(wire.Find(x.Params, "name"))
	arguments := wire.Find(x.Params, "arguments")
	switch name {
	case FindTools:
		return find(ctx, c, v, x, arguments)
	case DescribeTool:
		return describe(ctx, c, v, x, arguments)
	case CallTool:
		return call(ctx, x, arguments, next)
	}
	return next(ctx, x)
}

// read decodes arguments, of which none may be unknown: what this package does not read
// could mean something to a guard. problem is for the model, and nil if there is none.
func read(arguments json.RawMessage, into any, known ...string) (problem *mcp.CallToolResult) {
	for name := range wire.Each(arguments) {
		if !slices.Contains(known, string(name)) {
			return mcp.ToolError("there is no argument %.100q, but only %s", name, strings.Join(known, " and "))
		}
	}
	if len(arguments) == 0 {
		return nil
	}
	if err := wire.Unmarshal(arguments, into); err != nil {
		return mcp.ToolError("arguments: %v", err)
	}
	return nil
}

// found is a tool in an answer of find_tools.
type found struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitzero"`
	Description string `json:"description,omitzero"`
}

func find(ctx context.Context, c *catalogue.Catalogue, v catalogue.View, x *mcp.Exchange, arguments json.RawMessage) (any, error) {
	asked := struct {
		Query string `json:"query"`
		Limit int    `json:"limit"`
	}{Limit: few}
	if problem := read(arguments, &asked, "query", "limit"); problem != nil {
		return problem, nil
	}
	hits, all, err := c.Search(ctx, &x.Peer, v, asked.Query, min(max(asked.Limit, 1), most))
	if err != nil {
		return nil, err
	}
	answer := struct {
		Tools []found `json:"tools"`
		Total int     `json:"total"`
	}{Tools: []found{}, Total: all}
	var text strings.Builder
	fmt.Fprintf(&text, "%d of %d tools:\n", len(hits), all)
	for _, h := range hits {
		f := found{h.Tool.Name, h.Tool.Title, cut(h.Tool.Description)}
		answer.Tools = append(answer.Tools, f)
		fmt.Fprintf(&text, "- %s: %s\n", f.Name, strings.Join(strings.Fields(f.Description), " "))
	}
	return structured(text.String(), answer)
}

// cut shortens a description.
func cut(text string) string {
	if len(text) <= shortest {
		return text
	}
	return strings.ToValidUTF8(text[:shortest], "") + " […]"
}

func describe(ctx context.Context, c *catalogue.Catalogue, v catalogue.View, x *mcp.Exchange, arguments json.RawMessage) (any, error) {
	var asked struct {
		Name string `json:"name"`
	}
	if problem := read(arguments, &asked, "name"); problem != nil {
		return problem, nil
	}
	hit, ok, err := c.Tool(ctx, &x.Peer, v, asked.Name)
	if err != nil {
		return nil, err
	}
	if !ok {
		return mcp.ToolError("there is no tool %.100q; %s knows which there are", asked.Name, FindTools), nil
	}
	return structured(string(hit.Raw), map[string]json.RawMessage{"tool": hit.Raw})
}

func structured(text string, v any) (any, error) {
	raw, err := wire.Marshal(v)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: mcp.Contents{mcp.Text(text)}, StructuredContent: raw}, nil
}

// call makes the call that a model has asked for, in the same exchange: its questions, its
// progress and its result are those of the outer call.
func call(ctx context.Context, x *mcp.Exchange, arguments json.RawMessage, next mcp.ServeFunc) (any, error) {
	var asked struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if problem := read(arguments, &asked, "name", "arguments"); problem != nil {
		return problem, nil
	}
	if asked.Arguments == nil {
		asked.Arguments = json.RawMessage("{}")
	}
	if asked.Name == "" || asked.Arguments[0] != '{' {
		return mcp.ToolError("name must be that of a tool, and arguments an object; %s says which arguments a tool has", DescribeTool), nil
	}
	inner := *x
	inner.Mirrored = nil // headers are about the outer call
	var err error
	if inner.Params, err = wire.Set(x.Params, "name", wire.AppendText(nil, asked.Name)); err != nil {
		return nil, err
	}
	if inner.Params, err = wire.Set(inner.Params, "arguments", asked.Arguments); err != nil {
		return nil, err
	}
	return next(ctx, &inner)
}
