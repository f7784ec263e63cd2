package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/parley-mcp/parley/internal/content"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Call is what a handler knows about the exchange it serves, and its way back
// to the client. It is valid until the handler returns. All methods may be
// called concurrently.
type Call struct {
	s *Server
	x *mcp.Exchange

	progress progress

	mu      sync.Mutex        // guards the fields below
	asked   map[string][]byte // what was asked, by the key
	extra   mcp.Contents
	meta    mcp.Meta
	omitted omitted
}

func (s *Server) newCall(x *mcp.Exchange) *Call { return &Call{s: s, x: x} }

// finish is called when the handler has returned.
func (c *Call) finish(ctx context.Context) {
	c.progress.stop()
	c.tellOmitted(ctx)
}

// Exchange returns the exchange itself. It must not be changed.
func (c *Call) Exchange() *mcp.Exchange { return c.x }

// Peer returns who sent the request. Its Info is what the client says about
// itself, and must not be the basis of any decision.
func (c *Call) Peer() mcp.Peer { return c.x.Peer }

// Principal returns who the transport authenticated, or "" for nobody.
func (c *Call) Principal() string { return c.x.Peer.Principal }

// Header returns the value of a header of the HTTP request that brought this one, or
// "" if there is none; on other transports there never is. If it was sent several
// times, this is the first value; see mcp.Exchange.Header for the others.
func (c *Call) Header(name string) string {
	if c.x.Header == nil {
		return ""
	}
	if values := c.x.Header(name); len(values) > 0 {
		return values[0]
	}
	return ""
}

// Meta decodes the value that the client sent under key in _meta into v and
// reports whether there was one.
//
// Spec: 2026-07-28 basic#meta.
func (c *Call) Meta(key string, v any) (bool, error) {
	if c.x.Meta == nil {
		return false, nil
	}
	var found []byte
	err := wire.Members(c.x.Meta, func(name string, value []byte) error {
		if name == key {
			found = value
		}
		return nil
	})
	if err != nil || found == nil {
		return false, err
	}
	return true, wire.Unmarshal(found, v)
}

// Notify sends a notification of your own before the answer. params must
// encode to a JSON object, or be nil. The notifications of the protocol have
// their own methods and are refused here. It may block while the client reads
// slowly, and fails when the client is gone or the exchange is over.
func (c *Call) Notify(ctx context.Context, method string, params any) error {
	if m := mcp.MethodNamed(method); m != nil && m.Notification {
		return fmt.Errorf("the notification %q belongs to the protocol", method)
	}
	return c.notify(ctx, method, params)
}

var errNoWayBack = errors.New("this exchange has no way back to the client")

func (c *Call) notify(ctx context.Context, method string, params any) error {
	if c.x.Back == nil {
		c.x.Drop(mcp.DropNoWayBack, method, nil)
		return errNoWayBack
	}
	return c.x.Back.Notify(ctx, method, params)
}

// AddContent adds blocks to the result of a tool, after the handler's own. It
// has no effect on other kinds of handlers.
//
// Spec: 2026-07-28 server/tools#tool-result.
func (c *Call) AddContent(blocks ...mcp.Content) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.extra = append(c.extra, blocks...)
}

// SetResultMeta puts v under key into _meta of the result of a tool, resource,
// prompt or completion. It fails when key is not a valid key, or is one that the
// protocol reserves and no extension in Options.Extensions has its prefix, or when
// v has no JSON form.
//
// Spec: 2026-07-28 basic#meta.
func (c *Call) SetResultMeta(key string, v any) error {
	if err := content.Key(key, c.s.extensions); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.meta.Set(key, v); err != nil {
		return fmt.Errorf("_meta key %q: %w", key, err)
	}
	return nil
}

// added returns what the handler added to its result. The contents do not
// change any more: if a part of the handler still runs, it appends to a copy.
func (c *Call) added() (mcp.Contents, mcp.Meta) {
	c.mu.Lock()
	defer c.mu.Unlock()
	extra, meta := c.extra, c.meta
	c.extra, c.meta = nil, nil
	return extra, meta
}

// mergeMeta returns own overlaid with added. It changes neither.
func mergeMeta(own, added mcp.Meta) mcp.Meta {
	if len(added) == 0 || len(own) == 0 {
		return pick(own, added)
	}
	merged := make(mcp.Meta, len(own)+len(added))
	for _, m := range []mcp.Meta{own, added} {
		maps.Copy(merged, m)
	}
	return merged
}

func pick(own, added mcp.Meta) mcp.Meta {
	if len(added) > 0 {
		return added
	}
	return own
}
