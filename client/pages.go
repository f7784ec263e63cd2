package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// listing is one iteration over a list, page by page. A cursor is passed on as it is;
// whether it is the same as an earlier one means nothing. What ends a list that does
// not end are the bounds.
//
// Spec: 2026-07-28 server/utilities/pagination#implementation-guidelines.
type listing[R, T any] struct {
	c      *Client
	method string
	params func(cursor *string) any // nil means mcp.ListParams
	opts   []CallOption
	items  func(*R) ([]T, *string)
	name   func(T) string

	pages int
	bytes int64
	spent time.Duration // waiting for pages
	limit time.Duration // of spent; 0 or negative means none
	given map[string]bool
	again bool // the list was begun again
}

func (l *listing[R, T]) all(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		run := *l // an iterator can be used more than once
		run.given = map[string]bool{}
		run.limit = run.c.maxTimeout(run.opts)
		if err := run.each(ctx, yield); err != nil {
			var none T
			yield(none, err)
		}
	}
}

// each yields the entries of all pages. It returns nil when yield has returned false.
func (l *listing[R, T]) each(ctx context.Context, yield func(T, error) bool) error {
	var at *string
	for {
		page, err := l.page(ctx, at)
		if at != nil && !l.again && lostCursor(err) {
			l.again, at = true, nil
			continue
		}
		if err != nil {
			return err
		}
		list, next := l.items(page)
		for _, item := range list {
			if l.again && l.given[l.name(item)] {
				continue
			}
			if !yield(item, nil) {
				return nil
			}
			if next != nil && !l.again {
				l.given[l.name(item)] = true
			}
		}
		if next == nil {
			return nil
		}
		at = next
	}
}

// page fetches one page, within the bounds.
func (l *listing[R, T]) page(ctx context.Context, at *string) (*R, error) {
	o := &l.c.opts
	if l.pages++; o.MaxListPages > 0 && l.pages > o.MaxListPages {
		return nil, fmt.Errorf("%s: the list goes on after %d pages, which is the bound of Options.MaxListPages", l.method, o.MaxListPages)
	}
	opts := l.opts
	if l.limit > 0 {
		if l.spent >= l.limit {
			return nil, fmt.Errorf("%s: the list goes on after %v of waiting for its pages, which is the bound of Options.MaxTimeout: %w", l.method, l.limit, ErrTimeout)
		}
		opts = append(slices.Clip(opts), WithMaxTimeout(l.limit-l.spent))
	}
	var params any = mcp.ListParams{Cursor: at}
	if l.params != nil {
		params = l.params(at)
	}
	begin := time.Now()
	raw, err := l.c.Do(ctx, l.method, params, opts...)
	l.spent += time.Since(begin)
	if err != nil {
		return nil, err
	}
	if l.bytes += int64(len(raw)); o.MaxListBytes > 0 && l.bytes > o.MaxListBytes {
		return nil, fmt.Errorf("%s: the list is longer than %d bytes, which is the bound of Options.MaxListBytes", l.method, o.MaxListBytes)
	}
	return decode[R](l.c, l.method, raw)
}

// ended removes an empty cursor from a page in revisions in which it says that the list
// has ended: a client of another revision, to which the page may be passed on, would
// ask for the next one for ever.
func (l *live) ended(method string, page json.RawMessage) json.RawMessage {
	if m := mcp.MethodNamed(method); m == nil || !m.List || l.session.Facts().EmptyCursors || !wire.Is(wire.Find(page, "nextCursor"), "") {
		return page
	}
	return wire.Except(page, "nextCursor")
}

// maxTimeout returns the bound of a call as a whole.
func (c *Client) maxTimeout(opts []CallOption) time.Duration {
	o := callOptions{maxTimeout: c.opts.MaxTimeout}
	for _, set := range opts {
		set(&o)
	}
	return o.maxTimeout
}

// lostCursor reports whether a cursor is no longer valid: the server refuses it, or has
// forgotten the session that it belongs to.
//
// Spec: 2025-11-25 server/utilities/pagination#implementation-guidelines (3).
func lostCursor(err error) bool { return isInvalidParams(err) || errors.Is(err, mcp.ErrSessionGone) }

// isInvalidParams reports whether a server has refused params, as it does with a
// cursor that is no longer valid.
//
// Spec: 2026-07-28 server/utilities/pagination#error-handling.
func isInvalidParams(err error) bool {
	var rpc *jsonrpc.Error
	return errors.As(err, &rpc) && rpc.Code == jsonrpc.CodeInvalidParams
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
// ends the iteration. If the server no longer accepts its own cursor, or has forgotten
// the session, the list is begun again, once, and entries that were yielded before are
// left out. A list that does not end is given up: see Options.MaxListPages.
//
// Spec: 2026-07-28 server/tools#listing-tools.
func (c *Client) Tools(ctx context.Context, opts ...CallOption) iter.Seq2[*mcp.Tool, error] {
	l := listing[mcp.ListToolsResult, *mcp.Tool]{c: c, method: mcp.MethodListTools, opts: opts}
	l.items = func(r *mcp.ListToolsResult) ([]*mcp.Tool, *string) { return r.Tools, r.NextCursor }
	l.name = func(v *mcp.Tool) string { return v.Name }
	return l.all(ctx)
}

// Resources iterates over the server's resources.
//
// Spec: 2026-07-28 server/resources#listing-resources.
func (c *Client) Resources(ctx context.Context, opts ...CallOption) iter.Seq2[*mcp.Resource, error] {
	l := listing[mcp.ListResourcesResult, *mcp.Resource]{c: c, method: mcp.MethodListResources, opts: opts}
	l.items = func(r *mcp.ListResourcesResult) ([]*mcp.Resource, *string) { return r.Resources, r.NextCursor }
	l.name = func(v *mcp.Resource) string { return v.URI }
	return l.all(ctx)
}

// ResourceTemplates iterates over the server's resource templates.
//
// Spec: 2026-07-28 server/resources#resource-templates.
func (c *Client) ResourceTemplates(ctx context.Context, opts ...CallOption) iter.Seq2[*mcp.ResourceTemplate, error] {
	l := listing[mcp.ListResourceTemplatesResult, *mcp.ResourceTemplate]{c: c, method: mcp.MethodListTemplates, opts: opts}
	l.items = func(r *mcp.ListResourceTemplatesResult) ([]*mcp.ResourceTemplate, *string) {
		return r.ResourceTemplates, r.NextCursor
	}
	l.name = func(v *mcp.ResourceTemplate) string { return v.URITemplate }
	return l.all(ctx)
}

// Prompts iterates over the server's prompts.
//
// Spec: 2026-07-28 server/prompts#listing-prompts.
func (c *Client) Prompts(ctx context.Context, opts ...CallOption) iter.Seq2[*mcp.Prompt, error] {
	l := listing[mcp.ListPromptsResult, *mcp.Prompt]{c: c, method: mcp.MethodListPrompts, opts: opts}
	l.items = func(r *mcp.ListPromptsResult) ([]*mcp.Prompt, *string) { return r.Prompts, r.NextCursor }
	l.name = func(v *mcp.Prompt) string { return v.Name }
	return l.all(ctx)
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
