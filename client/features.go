package client

import (
	"context"
	"slices"

	"github.com/parley-mcp/parley/mcp"
)

// ReadResource reads a resource. The error is ErrNotFound if it does not exist.
//
// Spec: 2026-07-28 server/resources#reading-resources.
func (c *Client) ReadResource(ctx context.Context, uri string, opts ...CallOption) (*mcp.ReadResourceResult, error) {
	return get[mcp.ReadResourceResult](ctx, c, mcp.MethodReadResource, mcp.ReadResourceParams{URI: uri}, opts)
}

// GetPrompt fills in a prompt.
//
// Spec: 2026-07-28 server/prompts#getting-a-prompt.
func (c *Client) GetPrompt(ctx context.Context, name string, args map[string]string, opts ...CallOption) (*mcp.GetPromptResult, error) {
	return get[mcp.GetPromptResult](ctx, c, mcp.MethodGetPrompt, mcp.GetPromptParams{Name: name, Arguments: args}, opts)
}

// CompletePrompt asks for values of a prompt's argument. known holds the arguments
// that have been chosen already; it may be nil. Each call reaches the server. Whoever
// calls it while a user types waits for a pause first, and keeps what came for the same
// prefix, because only the one who shows it knows how old it may be.
//
// Spec: 2026-07-28 server/utilities/completion#requesting-completions.
func (c *Client) CompletePrompt(ctx context.Context, prompt, argument, prefix string, known map[string]string, opts ...CallOption) (*mcp.Completion, error) {
	return c.complete(ctx, mcp.Reference{Type: mcp.RefPrompt, Name: prompt}, argument, prefix, known, opts)
}

// CompleteTemplate asks for values of a variable of a resource template. known holds
// the variables that have been chosen already; it may be nil.
func (c *Client) CompleteTemplate(ctx context.Context, uriTemplate, variable, prefix string, known map[string]string, opts ...CallOption) (*mcp.Completion, error) {
	return c.complete(ctx, mcp.Reference{Type: mcp.RefResource, URI: uriTemplate}, variable, prefix, known, opts)
}

func (c *Client) complete(ctx context.Context, ref mcp.Reference, argument, prefix string, known map[string]string, opts []CallOption) (*mcp.Completion, error) {
	p := mcp.CompleteParams{Ref: ref, Argument: mcp.CompleteArgument{Name: argument, Value: prefix}}
	// Spec: 2025-06-18 changelog.
	if known != nil && c.current().knowsContext() {
		p.Context = &mcp.CompletionContext{Arguments: known}
	}
	r, err := get[mcp.CompleteResult](ctx, c, mcp.MethodComplete, p, opts)
	if err != nil {
		return nil, err
	}
	return &r.Completion, nil
}

func (l *live) knowsContext() bool { return l.session == nil || l.session.Facts().CompletionContext }

// SetLogLevel sets the lowest level of log messages from now on: for the
// session, or for the calls to come in the stateless era.
//
// Revision 2026-07-28 deprecates log messages to clients (docs/deprecated.md).
//
// Spec: 2025-11-25 server/utilities/logging#setting-log-level.
func (c *Client) SetLogLevel(ctx context.Context, level mcp.LoggingLevel) error {
	c.level.Store(&level)
	l, err := c.connected(ctx)
	if err != nil || l.session == nil {
		return err
	}
	_, err = c.Do(ctx, mcp.MethodSetLevel, mcp.SetLevelParams{Level: level})
	return err
}

// Ping checks that the server answers.
//
// Spec: 2025-11-25 basic/utilities/ping.
func (c *Client) Ping(ctx context.Context, opts ...CallOption) error {
	l, err := c.connected(ctx)
	if err != nil {
		return err
	}
	method := mcp.MethodPing
	if l.session == nil {
		// Spec: 2026-07-28 changelog: ping is gone.
		method = mcp.MethodDiscover
	}
	_, err = c.Do(ctx, method, nil, append(slices.Clip(opts), WithFresh())...)
	return err
}
