package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/parley-mcp/parley/apps"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// ReadApp reads an app of the server: the one that a tool names, according to
// apps.OfTool. It refuses URIs and contents that are not those of an app, and contents
// that are longer than Options.MaxAppBytes. Only the URI, the HTML and the UI of the
// result are set. If the contents do not say what the app needs, the server's list of
// resources may; if that does not either, the app gets nothing.
//
// The HTML is somebody else's program. Whoever shows it does so in a sandboxed frame
// of another origin, under the policy that apps.ResourceUI.Policy returns, and calls
// tools for it only through this client, and only those that are
// apps.ToolUI.ForApp. What UI asks for that is not valid is logged, and not in the policy.
//
// Spec: extensions/apps 2026-01-26 specification#host-behavior.
func (c *Client) ReadApp(ctx context.Context, uri string, opts ...CallOption) (*apps.App, error) {
	if !strings.HasPrefix(uri, apps.Scheme) {
		return nil, fmt.Errorf("%.100q is no app: the URI of one begins with %q", uri, apps.Scheme)
	}
	result, err := c.ReadResource(ctx, uri, opts...)
	if err != nil {
		return nil, err
	}
	a, err := c.appOf(ctx, uri, result)
	if err != nil {
		return nil, fmt.Errorf("app %.100q: %w", uri, err)
	}
	if err := a.UI.Check(); err != nil {
		c.opts.Logger.Warn("an app asks for something that is not valid, and does not get it", "uri", uri, "reason", err)
	}
	return a, nil
}

func (c *Client) appOf(ctx context.Context, uri string, result *mcp.ReadResourceResult) (*apps.App, error) {
	contents, err := contentsOf(uri, result)
	if err != nil {
		return nil, err
	}
	a := &apps.App{URI: uri, HTML: string(contents.Blob)}
	if contents.Text != nil {
		a.HTML = *contents.Text
	}
	switch limit := c.opts.MaxAppBytes; {
	case a.HTML == "":
		return nil, errors.New("it is empty")
	case limit > 0 && int64(len(a.HTML)) > limit:
		return nil, fmt.Errorf("it has %d bytes, and %d is the bound of Options.MaxAppBytes", len(a.HTML), limit)
	case !utf8.ValidString(a.HTML):
		return nil, errors.New("it is not UTF-8")
	}
	about := contents.Meta
	if _, ok := about[apps.MetaKey]; !ok {
		if about, err = c.listedMeta(ctx, uri); err != nil {
			return nil, err
		}
	}
	if _, err := about.Get(apps.MetaKey, &a.UI); err != nil {
		return nil, fmt.Errorf("_meta.%s: %w", apps.MetaKey, err)
	}
	return a, nil
}

// contentsOf returns the contents with a URI. If there is only one, its URI may be
// written in another way.
//
// Spec: extensions/apps 2026-01-26 specification#content-requirements.
func contentsOf(uri string, result *mcp.ReadResourceResult) (*mcp.ResourceContents, error) {
	for _, contents := range result.Contents {
		switch {
		case contents.URI != uri && len(result.Contents) > 1:
		case !apps.IsMIMEType(contents.MIMEType):
			return nil, fmt.Errorf("it has the type %.100q, not %q", contents.MIMEType, apps.MIMEType)
		default:
			return contents, nil
		}
	}
	return nil, errors.New("the server's answer does not hold it")
}

// listedMeta returns the _meta of a resource in the list of resources, if it is there:
// a server may leave apps out of it, or have no list.
func (c *Client) listedMeta(ctx context.Context, uri string) (mcp.Meta, error) {
	for r, err := range c.Resources(ctx) {
		if refusal, ok := errors.AsType[*jsonrpc.Error](err); ok && refusal.Code == jsonrpc.CodeMethodNotFound {
			return mcp.Meta{}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("what it needs: %w", err)
		}
		if r.URI == uri {
			return r.Meta, nil
		}
	}
	return mcp.Meta{}, nil
}
