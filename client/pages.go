package client

import (
	"context"
	"fmt"
	"iter"

	"github.com/parley-mcp/parley/mcp"
)

// pages iterates over a list page by page. An empty cursor is a cursor like any
// other; only a missing one ends the list. A cursor that repeats is an error, as the
// list would never end.
//
// Spec: 2026-07-28 server/utilities/pagination#implementation-guidelines.
func pages[R, T any](ctx context.Context, c *Client, method string, opts []CallOption, items func(*R) ([]T, *string)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var at mcp.ListParams
		var mark *string // an earlier cursor, replaced at pages 1, 2, 4, 8… to detect a cycle
		for n := 1; ; n++ {
			page, err := get[R](ctx, c, method, at, opts)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			list, next := items(page)
			for _, item := range list {
				if !yield(item, nil) {
					return
				}
			}
			if next == nil {
				return
			}
			if mark != nil && *next == *mark {
				var none T
				yield(none, fmt.Errorf("%s: the server leads to the same page again and again", method))
				return
			}
			if n&(n-1) == 0 {
				mark = next
			}
			at.Cursor = next
		}
	}
}

// Collect returns what an iterator yields, up to the first error, and that error.
func Collect[T any](seq iter.Seq2[T, error]) ([]T, error) {
	var all []T
	for v, err := range seq {
		if err != nil {
			return all, err
		}
		all = append(all, v)
	}
	return all, nil
}

// Tools iterates over the server's tools, fetching pages as they are needed. An error
// ends the iteration.
//
// Spec: 2026-07-28 server/tools#listing-tools.
func (c *Client) Tools(ctx context.Context, opts ...CallOption) iter.Seq2[*mcp.Tool, error] {
	return pages(ctx, c, mcp.MethodListTools, opts, func(r *mcp.ListToolsResult) ([]*mcp.Tool, *string) { return r.Tools, r.NextCursor })
}

// Resources iterates over the server's resources.
//
// Spec: 2026-07-28 server/resources#listing-resources.
func (c *Client) Resources(ctx context.Context, opts ...CallOption) iter.Seq2[*mcp.Resource, error] {
	return pages(ctx, c, mcp.MethodListResources, opts, func(r *mcp.ListResourcesResult) ([]*mcp.Resource, *string) { return r.Resources, r.NextCursor })
}

// ResourceTemplates iterates over the server's resource templates.
//
// Spec: 2026-07-28 server/resources#resource-templates.
func (c *Client) ResourceTemplates(ctx context.Context, opts ...CallOption) iter.Seq2[*mcp.ResourceTemplate, error] {
	return pages(ctx, c, mcp.MethodListTemplates, opts, func(r *mcp.ListResourceTemplatesResult) ([]*mcp.ResourceTemplate, *string) {
		return r.ResourceTemplates, r.NextCursor
	})
}

// Prompts iterates over the server's prompts.
//
// Spec: 2026-07-28 server/prompts#listing-prompts.
func (c *Client) Prompts(ctx context.Context, opts ...CallOption) iter.Seq2[*mcp.Prompt, error] {
	return pages(ctx, c, mcp.MethodListPrompts, opts, func(r *mcp.ListPromptsResult) ([]*mcp.Prompt, *string) { return r.Prompts, r.NextCursor })
}

// ListTools returns one page of tools. at is the NextCursor of the previous page, or
// nil for the first.
//
// Spec: 2026-07-28 server/utilities/pagination#pagination-model.
func (c *Client) ListTools(ctx context.Context, at *string, opts ...CallOption) (*mcp.ListToolsResult, error) {
	return get[mcp.ListToolsResult](ctx, c, mcp.MethodListTools, mcp.ListParams{Cursor: at}, opts)
}

// ListResources returns one page of resources; for its cursor see ListTools.
func (c *Client) ListResources(ctx context.Context, at *string, opts ...CallOption) (*mcp.ListResourcesResult, error) {
	return get[mcp.ListResourcesResult](ctx, c, mcp.MethodListResources, mcp.ListParams{Cursor: at}, opts)
}

// ListResourceTemplates returns one page of resource templates; for its cursor
// see ListTools.
func (c *Client) ListResourceTemplates(ctx context.Context, at *string, opts ...CallOption) (*mcp.ListResourceTemplatesResult, error) {
	return get[mcp.ListResourceTemplatesResult](ctx, c, mcp.MethodListTemplates, mcp.ListParams{Cursor: at}, opts)
}

// ListPrompts returns one page of prompts; for its cursor see ListTools.
func (c *Client) ListPrompts(ctx context.Context, at *string, opts ...CallOption) (*mcp.ListPromptsResult, error) {
	return get[mcp.ListPromptsResult](ctx, c, mcp.MethodListPrompts, mcp.ListParams{Cursor: at}, opts)
}
