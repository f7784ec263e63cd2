package server

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/parley-mcp/parley/internal/access"
	"github.com/parley-mcp/parley/internal/schema"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// AddTool adds a tool with typed arguments and result, or replaces the one
// with its name, which keeps its place in the list.
//
// In is a struct or a map. Its schema is inferred from the type unless
// t.InputSchema is given; see "Schemas" in the package documentation.
// Arguments get their defaults and are validated; what does not fit is
// answered with a result that tells the model why, and h does not run.
//
// Out decides on the result:
//   - *mcp.CallToolResult is the result; with t.OutputSchema given, its
//     structured content is validated;
//   - string is one block of text;
//   - struct{} is no content;
//   - any other type is structured content, and the same JSON in a block of
//     text. Its schema is inferred unless t.OutputSchema is given, and the
//     result is validated. An Out that is an interface has no inferred schema.
//
// A tool that only some clients may see and call is added like others; Options.Visible
// hides it from the rest.
//
// Call.AddContent adds blocks to any of these. An error of h becomes a result
// with IsError; see the package documentation.
//
// AddTool panics when the name, an icon or a key of t.Meta is not valid, or a
// schema cannot be inferred or does not compile, or opts do not fit t. What t points to must not be changed afterwards.
//
// Spec: 2026-07-28 server/tools#tool.
func AddTool[In, Out any](s *Server, t mcp.Tool, h func(ctx context.Context, call *Call, in In) (Out, error), opts ...ToolOption) {
	must(TryAddTool(s, t, h, opts...))
}

// TryAddTool is AddTool for tools that are made at run time: it returns an
// error instead of panicking.
func TryAddTool[In, Out any](s *Server, t mcp.Tool, h func(ctx context.Context, call *Call, in In) (Out, error), opts ...ToolOption) error {
	plan := &tool{tool: t, decodes: true}
	if err := inferInput(&plan.tool, reflect.TypeFor[In]()); err != nil {
		return fmt.Errorf("tool %q: %w", t.Name, err)
	}
	encode, err := resultEncoder[Out](plan)
	if err != nil {
		return fmt.Errorf("tool %q: %w", t.Name, err)
	}
	plan.run = func(ctx context.Context, call *Call, args json.RawMessage) (*mcp.CallToolResult, error) {
		in, err := decodeInput[In](args)
		if err != nil {
			return mcp.ToolError("invalid arguments for tool %q: %v", plan.tool.Name, err), nil
		}
		out, err := h(ctx, call, in)
		if err != nil {
			return nil, err
		}
		return encode(ctx, call, &out)
	}
	return s.addTool(plan, h == nil, opts)
}

// decodeInput reads arguments that fit their schema, to which 10.0 is an integer as well.
func decodeInput[In any](args json.RawMessage) (In, error) {
	var in In
	err := wire.Unmarshal(args, &in)
	if err == nil {
		return in, nil
	}
	if plain, ok := schema.PlainIntegers(args); ok {
		var again In
		if wire.Unmarshal(plain, &again) == nil {
			return again, nil
		}
	}
	return in, err
}

func inferInput(t *mcp.Tool, in reflect.Type) error {
	if t.InputSchema != nil {
		return nil
	}
	for in.Kind() == reflect.Pointer {
		in = in.Elem()
	}
	if in.Kind() != reflect.Struct && in.Kind() != reflect.Map {
		return fmt.Errorf("input must be a struct or a map to infer its schema, not %s", in)
	}
	raw, err := schema.Infer(in)
	if err != nil {
		return fmt.Errorf("input: %w", err)
	}
	t.InputSchema = raw
	return nil
}

// encoder makes a result from what a handler returned.
type encoder[Out any] func(ctx context.Context, call *Call, out *Out) (*mcp.CallToolResult, error)

// resultEncoder chooses the encoder by the type once, at registration.
func resultEncoder[Out any](t *tool) (encoder[Out], error) {
	if out := reflect.TypeFor[Out](); isContent(out) {
		return nil, fmt.Errorf("a result of type %s would be structured content: return *mcp.CallToolResult, or a text or struct{} and use Call.AddContent", out)
	}
	switch reflect.TypeFor[Out]() {
	case reflect.TypeFor[*mcp.CallToolResult]():
		return func(_ context.Context, _ *Call, out *Out) (*mcp.CallToolResult, error) {
			return *any(out).(**mcp.CallToolResult), nil //nolint:forcetypeassert // the case says so
		}, nil
	case reflect.TypeFor[string]():
		return plain(t, func(out *Out) mcp.Contents {
			return mcp.Contents{mcp.Text(*any(out).(*string))} //nolint:forcetypeassert // the case says so
		})
	case reflect.TypeFor[struct{}]():
		return plain(t, func(*Out) mcp.Contents { return mcp.Contents{} })
	}
	if err := inferOutput[Out](&t.tool); err != nil {
		return nil, err
	}
	t.checks = true
	return func(ctx context.Context, call *Call, out *Out) (*mcp.CallToolResult, error) {
		return t.structured(ctx, call, out)
	}, nil
}

// isContent reports whether a type is that of blocks of content, which nobody means to be
// encoded as data.
func isContent(t reflect.Type) bool {
	block := reflect.TypeFor[mcp.Content]()
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t == block || reflect.PointerTo(t).Implements(block)
}

func plain[Out any](t *tool, content func(*Out) mcp.Contents) (encoder[Out], error) {
	if t.tool.OutputSchema != nil {
		return nil, fmt.Errorf("a result of type %s has no structured content, but there is an output schema", reflect.TypeFor[Out]())
	}
	return func(_ context.Context, _ *Call, out *Out) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: content(out)}, nil
	}, nil
}

func inferOutput[Out any](t *mcp.Tool) error {
	out := reflect.TypeFor[Out]()
	if t.OutputSchema != nil || out.Kind() == reflect.Interface {
		return nil
	}
	raw, err := schema.InferResult(out)
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	t.OutputSchema = raw
	return nil
}

// structured encodes out once, for both forms of the result.
//
// Spec: 2026-07-28 server/tools#structured-content.
func (t *tool) structured(ctx context.Context, call *Call, out any) (*mcp.CallToolResult, error) {
	raw, encoded, err := wire.MarshalEncoded(out)
	if err == nil && t.output != nil {
		err = nonconforming(t.output.ValidateParsed(raw))
	}
	if err != nil {
		call.s.log.ErrorContext(ctx, "tool returned a bad result", "tool", t.tool.Name, "error", err)
		return nil, errInternal()
	}
	result := resultOf(raw)
	access.SetEncoded(result, encoded)
	return result, nil
}

// resultOf returns a result in both forms, in a single allocation.
func resultOf(raw json.RawMessage) *mcp.CallToolResult {
	var r struct {
		mcp.CallToolResult
		text    mcp.TextContent
		content [1]mcp.Content
	}
	r.text.Text = string(raw)
	r.content[0] = &r.text
	r.Content, r.StructuredContent = r.content[:], raw
	return &r.CallToolResult
}
