// Package serverlist fetches what servers list: all pages, every item as it was sent.
package serverlist

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// List is one of the lists that a server may have.
type List struct {
	// Name is what users call it.
	Name   string
	Method string
	// Member is the member of the result that has the items.
	Member string
}

// The lists.
var (
	Tools     = List{"tools", mcp.MethodListTools, "tools"}
	Resources = List{"resources", mcp.MethodListResources, "resources"}
	Templates = List{"templates", mcp.MethodListTemplates, "resourceTemplates"}
	Prompts   = List{"prompts", mcp.MethodListPrompts, "prompts"}
	Skills    = List{"skills", mcp.MethodListSkills, "skills"}
)

// Bounds end a list of a server that sends ever new pages. 0 means no bound.
type Bounds struct {
	Pages int
	Bytes int64
}

// DefaultBounds are those that nobody needs to change.
var DefaultBounds = Bounds{Pages: 1000, Bytes: 64 << 20}

// EndlessError says that a list goes on beyond its bounds.
type EndlessError struct {
	Method string
	// Pages is how many pages there were, and Bytes the bound that was exceeded, if it
	// is not 0.
	Pages int
	Bytes int64
}

// Error says which bound it was.
func (e *EndlessError) Error() string {
	if e.Bytes > 0 {
		return fmt.Sprintf("%s: the list is longer than %d bytes", e.Method, e.Bytes)
	}
	return fmt.Sprintf("%s: the list goes on after %d pages", e.Method, e.Pages)
}

func (b Bounds) check(method string, pages int, bytes int64) error {
	switch {
	case b.Pages > 0 && pages >= b.Pages:
		return &EndlessError{Method: method, Pages: pages}
	case b.Bytes > 0 && bytes > b.Bytes:
		return &EndlessError{Method: method, Pages: pages, Bytes: b.Bytes}
	}
	return nil
}

// Fetch returns the items of all pages, each verbatim; none if the server does not have
// the list. With an error, it returns those that came before.
func Fetch(ctx context.Context, c *client.Client, l List, b Bounds, opts ...client.CallOption) ([]json.RawMessage, error) {
	all := []json.RawMessage{}
	var at mcp.ListParams
	var size int64
	for pages := 1; ; pages++ {
		raw, err := c.Do(ctx, l.Method, at, opts...)
		if absent(err) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		items, next, err := l.page(raw)
		if err != nil {
			return all, fmt.Errorf("%s: the server sent a malformed result: %w", l.Method, err)
		}
		all = append(all, items...)
		if next == nil {
			return all, nil
		}
		size += int64(len(raw))
		if err := b.check(l.Method, pages, size); err != nil {
			return all, err
		}
		at.Cursor = next
	}
}

// page reads a page, and the cursor of the next one.
func (l List) page(raw json.RawMessage) (items []json.RawMessage, next *string, err error) {
	var page map[string]json.RawMessage
	if err := wire.Unmarshal(raw, &page); err != nil {
		return nil, nil, err
	}
	for member, into := range map[string]any{l.Member: &items, "nextCursor": &next} {
		if value := page[member]; value != nil {
			if err := wire.Unmarshal(value, into); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", member, err)
			}
		}
	}
	return items, next, nil
}

// absent reports whether a server does not have a list at all.
func absent(err error) bool {
	var undeclared *client.NotDeclaredError
	var rpc *jsonrpc.Error
	return errors.As(err, &undeclared) || errors.As(err, &rpc) && rpc.Code == jsonrpc.CodeMethodNotFound
}
