package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/mirror"
	"github.com/parley-mcp/parley/internal/schema"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// RawToolHandler runs a tool. args is a JSON object that satisfies the input
// schema, with the schema's defaults filled in. If the result has no content, its
// structured content is also sent as text. An error becomes a result with IsError; see the package documentation.
type RawToolHandler func(ctx context.Context, call *Call, args json.RawMessage) (*mcp.CallToolResult, error)

// tool is a plan: a tool with all that a call needs.
type tool struct {
	tool   mcp.Tool
	input  *schema.Schema
	output *schema.Schema // nil for none
	// headers are the parameters that HTTP headers mirror.
	headers []schema.HeaderBinding
	run     RawToolHandler
	// decodes says that run decodes its arguments with all checks, so that they
	// need not be parsed just to be validated.
	decodes bool
	// checks says that run has validated its structured content.
	checks bool
	// tasks says that it can run as a task, onlyTask that it has to.
	tasks, onlyTask bool
	// resumable and after are what Resumable and TaskAfter say.
	resumable bool
	after     *time.Duration
}

func (t *tool) key() string     { return t.tool.Name }
func (t *tool) desc() *mcp.Tool { return &t.tool }

// validToolName reports whether a tool may have a name.
//
// Spec: 2026-07-28 server/tools#tool-names.
func validToolName(name string) bool {
	return name != "" && len(name) <= 128 && !strings.ContainsFunc(name, func(r rune) bool {
		return !isDigit(r) && !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') && !strings.ContainsRune("_.-", r)
	})
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// AddRawTool adds a tool whose handler takes and returns JSON, or replaces the
// one with its name, which keeps its place in the list. t.InputSchema is
// required. Arguments are validated before h runs, and structured content is
// validated if there is a t.OutputSchema. It panics when the name, an icon or a
// key of t.Meta is not valid, a schema does not compile, h is nil, or opts do not fit t. What t points to must not be changed
// afterwards.
//
// Spec: 2026-07-28 server/tools#tool.
func (s *Server) AddRawTool(t mcp.Tool, h RawToolHandler, opts ...ToolOption) {
	must(s.TryAddRawTool(t, h, opts...))
}

// TryAddRawTool is AddRawTool for tools that are made at run time: it returns
// an error instead of panicking.
func (s *Server) TryAddRawTool(t mcp.Tool, h RawToolHandler, opts ...ToolOption) error {
	run := func(ctx context.Context, call *Call, args json.RawMessage) (*mcp.CallToolResult, error) {
		return h(ctx, call, bytes.Clone(args)) // its own: the params of the exchange stay as they were sent
	}
	return s.addTool(&tool{tool: t, run: run}, h == nil, opts)
}

// addTool compiles the schemas that are not compiled yet.
func (s *Server) addTool(t *tool, noHandler bool, opts []ToolOption) error {
	if !validToolName(t.tool.Name) {
		return fmt.Errorf("tool %q: a name has 1 to 128 characters: letters, digits, and any of -._", shorten(t.tool.Name))
	}
	if noHandler {
		return errNoHandler("tool", t.tool.Name)
	}
	err := t.configure(opts)
	if err == nil {
		err = s.rules.Described("", t.tool.Icons, nil, t.tool.Meta)
	}
	if err != nil {
		return fmt.Errorf("tool %q: %w", t.tool.Name, err)
	}
	ui, linked, err := toolUI(t.tool.Meta)
	if err != nil {
		return fmt.Errorf("tool %q: %w", t.tool.Name, err)
	}
	if t.input, t.headers, err = compileInput(t.tool.InputSchema); err != nil {
		return fmt.Errorf("tool %q: %w", t.tool.Name, err)
	}
	if t.tool.OutputSchema != nil {
		if t.output, err = compileOutput(t.tool.OutputSchema); err != nil {
			return fmt.Errorf("tool %q: %w", t.tool.Name, err)
		}
	}
	if t.tasks {
		s.tasks.know()
	}
	changed := s.tools.put(t)
	if linked {
		s.apps.noteTool(t.tool.Name, ui.ResourceURI)
	}
	if changed {
		s.hub.Publish(mcp.Change{Kind: mcp.ToolsChanged})
	}
	return nil
}

// RemoveTools removes tools by name; names that do not exist are ignored.
// Calls that have begun go on.
//
// Spec: 2026-07-28 server/tools#list-changed-notification.
func (s *Server) RemoveTools(names ...string) {
	if s.tools.remove(names...) {
		s.hub.Publish(mcp.Change{Kind: mcp.ToolsChanged})
	}
}

// Spec: 2026-07-28 server/tools#listing-tools.
func (s *Server) listTools(ctx context.Context, x *mcp.Exchange) (any, error) {
	s.reportMissingApps(ctx)
	p, err := page(ctx, s, &s.tools, mcp.ToolFeature, x)
	if err != nil {
		return nil, err
	}
	return p.with(&mcp.ListToolsResult{CacheFields: s.cacheFields(x.Method), Tools: p.list, NextCursor: p.next}), nil
}

// callTool answers tools/call.
//
// Spec: 2026-07-28 server/tools#calling-tools.
func (s *Server) callTool(ctx context.Context, x *mcp.Exchange) (any, error) {
	var run *taskRun
	if x.Task != nil {
		run = s.ownRun(ctx, x)
	}
	if run == nil { // the call of a task was counted when it came
		if err := underRate(s.bounds.tools, x, "tool calls"); err != nil {
			return nil, err
		}
	}
	params, err := toolParams(x)
	if err != nil {
		return nil, err
	}
	if params.Name == "" {
		return nil, mcp.InvalidParams(`params of %s must have "name"`, x.Method)
	}
	t, ok := s.tools.get(params.Name)
	if !ok || !s.visible(ctx, x, mcp.ToolFeature, params.Name) {
		return nil, mcp.InvalidParams("unknown tool: %q", shorten(params.Name))
	}
	args := params.Arguments
	if args == nil {
		args = json.RawMessage("{}")
	}
	if !isObject(args) {
		return nil, mcp.InvalidParams("arguments of tool %q must be an object", params.Name)
	}
	if err := mirror.Check(x, t.headers, args); err != nil {
		return nil, err
	}
	if run == nil && (t.tasks || x.Task != nil) {
		asTask, err := t.runsAsTask(x.Task)
		if err != nil {
			return nil, err
		}
		if asTask {
			return s.callAsTask(ctx, x, t, args)
		}
	}
	args, problem := t.check(args)
	if problem != nil {
		return mcp.ToolError("invalid arguments for tool %q: %v", params.Name, problem), nil
	}
	call := s.newCall(x)
	defer call.finish(ctx)
	result, err := t.run(ctx, call, args)
	if err != nil {
		return s.toolFailure(ctx, x, err)
	}
	return s.completeTool(ctx, t, call, result)
}

// toolParams takes the arguments out of the message verbatim.
func toolParams(x *mcp.Exchange) (params mcp.CallToolParams, err error) {
	for member, value := range wire.Each(x.Params) {
		ok := true
		switch string(member) {
		case "name":
			params.Name, ok = wire.Text(value)
		case "arguments":
			params.Arguments = value
		}
		if !ok {
			return params, decodeParams(x, &params) // whose error says what the name is instead
		}
	}
	return params, nil
}

// check validates arguments and fills in defaults. Its errors go to the model,
// which can correct itself.
//
// Spec: 2026-07-28 server/tools#error-handling (2).
func (t *tool) check(args json.RawMessage) (json.RawMessage, error) {
	full, err := t.input.WithDefaults(args)
	if err != nil {
		return nil, err
	}
	validate := t.input.Validate
	if t.decodes {
		validate = t.input.ValidateParsed
	}
	if err := validate(full); err != nil {
		if fewer, ok := schema.WithoutNulls(t.tool.InputSchema, args); ok {
			return t.check(fewer)
		}
		return full, err
	}
	return full, t.checkRange(full)
}

// toolFailure turns a handler's error into a result or an error of the
// protocol.
//
// Spec: 2026-07-28 server/tools#error-handling.
func (s *Server) toolFailure(ctx context.Context, x *mcp.Exchange, err error) (any, error) {
	if isProtocolError(err) || isEnd(ctx, err) {
		return nil, err
	}
	if interrupted, ok := errors.AsType[*OnceInterruptedError](err); ok {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInternalError, "%v", interrupted)
	}
	if s.opts.ToolError != nil {
		s.log.ErrorContext(ctx, "tool failed", "method", x.Method, "id", x.ID.String(), "error", err)
		return mcp.ToolError("%s", s.opts.ToolError(ctx, x, err)), nil
	}
	return mcp.ToolError("%v", err), nil
}
