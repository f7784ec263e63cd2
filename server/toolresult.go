package server

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-mcp/parley/mcp"
)

// completeTool adds what the handler left to the server. The handler's result
// may be shared, so it is copied before it is changed.
func (s *Server) completeTool(ctx context.Context, t *tool, call *Call, result *mcp.CallToolResult) (any, error) {
	extra, meta := call.added()
	result, err := s.checkTool(ctx, t, result, extra)
	if err != nil {
		s.log.ErrorContext(ctx, "tool returned a bad result", "tool", t.tool.Name, "error", err)
		return nil, errInternal()
	}
	own := result.Meta.WithoutReserved()
	if isWhole(result) && len(extra) == 0 && len(meta) == 0 && len(own) == len(result.Meta) {
		return result, nil
	}
	full := *result
	full.Content = append(slices.Clip(contentOf(result)), extra...)
	full.Meta = mergeMeta(own, meta)
	return &full, nil
}

// isWhole reports whether the content of a result can be sent as it is.
func isWhole(r *mcp.CallToolResult) bool {
	return len(r.Content) > 0 || r.Content != nil && r.StructuredContent == nil
}

// contentOf returns the content of a result. If it has structured content only,
// that is the JSON as text, for those who do not know structured content.
//
// Spec: 2026-07-28 server/tools#structured-content.
func contentOf(r *mcp.CallToolResult) mcp.Contents {
	switch {
	case len(r.Content) > 0:
		return r.Content
	case r.StructuredContent != nil:
		return mcp.Contents{mcp.Text(string(r.StructuredContent))}
	}
	return mcp.Contents{}
}

// checkTool checks the result of a tool and what its handler added.
func (s *Server) checkTool(ctx context.Context, t *tool, result *mcp.CallToolResult, extra mcp.Contents) (*mcp.CallToolResult, error) {
	if result == nil {
		return nil, errors.New("no result")
	}
	if err := s.checkBlocks(ctx, "tool", t.tool.Name, result.Content); err != nil {
		return nil, err
	}
	if err := s.checkBlocks(ctx, "tool", t.tool.Name, extra); err != nil {
		return nil, fmt.Errorf("added by Call.AddContent: %w", err)
	}
	if err := s.checkMeta(result.Meta); err != nil {
		return nil, err
	}
	return s.checkStructured(ctx, t, result)
}

// checkStructured makes sure that structured content conforms to the output
// schema. A call that failed need not have any. If what it has does not conform,
// it becomes text: an error of the server would hide from the model why the call
// failed.
//
// Spec: 2026-07-28 server/tools#output-schema.
func (s *Server) checkStructured(ctx context.Context, t *tool, result *mcp.CallToolResult) (*mcp.CallToolResult, error) {
	if t.checks || t.output == nil {
		return result, nil
	}
	if result.StructuredContent == nil {
		if result.IsError {
			return result, nil
		}
		return nil, errors.New("no structured content, but the tool has an output schema")
	}
	err := nonconforming(t.output.Validate(result.StructuredContent))
	if err == nil || !result.IsError {
		return result, err
	}
	s.log.WarnContext(ctx, "structured content of a failed call was left out", "tool", t.tool.Name, "error", err)
	plain := *result
	plain.Content, plain.StructuredContent = contentOf(result), nil
	return &plain, nil
}

// nonconforming wraps an error of the output schema; nil stays nil.
func nonconforming(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("structured content does not conform to the output schema: %w", err)
}

// checkBlocks checks the content that a feature of some kind and name returns.
func (s *Server) checkBlocks(ctx context.Context, kind, name string, blocks mcp.Contents) error {
	for i, block := range blocks {
		if err := s.checkBlock(ctx, kind, name, block); err != nil {
			return fmt.Errorf("content[%d]: %w", i, err)
		}
	}
	return nil
}

// checkBlock checks one block. That resources are embedded without being declared
// is reported once.
//
// Spec: 2026-07-28 server/tools#embedded-resources.
func (s *Server) checkBlock(ctx context.Context, kind, name string, block mcp.Content) error {
	if err := s.rules.Block(block); err != nil {
		return err
	}
	if _, ok := block.(*mcp.EmbeddedResource); ok && !s.offers().resources {
		s.embeds.Do(func() {
			s.log.WarnContext(ctx, "a resource was embedded, but the server declares no resources: set Options.Announce.Resources", kind, name)
		})
	}
	return nil
}

// checkMeta checks what a handler put into _meta of its result. The keys that are
// set anew on every hop may be there, because a handler that passes a result on
// need not know them; they are left out.
//
// Spec: 2026-07-28 basic#meta.
func (s *Server) checkMeta(m mcp.Meta) error { return s.rules.Meta(m.WithoutReserved()) }
