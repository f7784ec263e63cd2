package client

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// offer is what a server says about itself.
type offer struct {
	info         mcp.Implementation
	caps         mcp.ServerCapabilities
	instructions string
	supported    []string
	ttl          time.Duration // 0 says nothing
	until        time.Time     // it is stale from then on, if ttl is not 0
}

// offered returns what the server has said last.
func (l *live) offered() *offer {
	if o := l.offer.Load(); o != nil {
		return o
	}
	return new(offer)
}

// discovered takes the result of server/discover.
func (c *Client) discovered(l *live, d *mcp.DiscoverResult) {
	o := &offer{caps: d.Capabilities, instructions: d.Instructions, supported: d.SupportedVersions}
	if _, err := d.Meta.Get(mcp.MetaServerInfo, &o.info); err != nil {
		c.opts.Logger.Warn("the server's name is malformed", "error", err)
	}
	icons := iconFilter{c: c}
	icons.filter(&o.info.Icons)
	icons.log()
	if d.TTLMs != nil && *d.TTLMs > 0 {
		o.ttl = time.Duration(min(*d.TTLMs, longestTTL)) * time.Millisecond
	}
	l.keep(o)
}

func (l *live) keep(o *offer) {
	o.until = time.Now().Add(o.ttl)
	l.offer.Store(o)
}

// rediscovered takes the result of a server/discover that the application has asked for.
func (c *Client) rediscovered(l *live, result json.RawMessage) {
	d := new(mcp.DiscoverResult)
	if l.stateless != nil && wire.Unmarshal(result, d) == nil {
		c.discovered(l, d)
	}
}

// declared returns an error for a method whose capability the server has not declared.
// What the server has declared is asked for anew once it is stale: before the first
// call after its time is up, or, if it has no time, before a call is refused.
//
// Spec: 2025-11-25 basic/lifecycle#operation.
// Spec: 2026-07-28 server/utilities/caching#freshness-calculation.
func (c *Client) declared(ctx context.Context, l *live, method string) error {
	m := mcp.MethodNamed(method)
	if m == nil || m.Capability == "" && m.Extension == "" {
		return nil
	}
	o := l.offered()
	fits := l.declares(o, m)
	expired := o.ttl > 0 && !time.Now().Before(o.until)
	if l.stateless != nil && (expired || !fits && o.ttl == 0) {
		fits = l.declares(c.rediscover(ctx, l, o), m)
	}
	if !fits {
		return &NotDeclaredError{Method: method, Capability: needed(m)}
	}
	return nil
}

// needed names what a server that has a method declares.
func needed(m *mcp.Method) string {
	switch {
	case m.Capability != "" || m.Extension == "":
		return string(m.Capability)
	case m.Setting != "":
		return m.Extension + "." + m.Setting
	}
	return m.Extension
}

func (l *live) declares(o *offer, m *mcp.Method) bool {
	return o.caps.Offers(m) || m.Capability == mcp.CapCompletions && l.completionsUndeclarable()
}

// rediscover asks the server what it offers. It returns the old offer if the server
// does not say, and what another call has found out in the meantime.
func (c *Client) rediscover(ctx context.Context, l *live, old *offer) *offer {
	_, _ = l.asking.Do("", func() (*offer, error) {
		if l.offered() == old {
			c.renew(ctx, l, old)
		}
		return l.offered(), nil
	})
	return l.offered()
}

// renew asks the server for a new offer, and keeps the old one if it does not say.
func (c *Client) renew(ctx context.Context, l *live, old *offer) {
	ctx, watchdog := c.bound(ctx, &callOptions{timeout: c.opts.Timeout})
	defer watchdog.stop()
	d, err := discover(ctx, l.stateless)
	if err != nil {
		c.opts.Logger.Debug("the server does not say anew what it offers", "error", err)
		again := *old
		l.keep(&again)
		return
	}
	c.discovered(l, d)
}

func discover(ctx context.Context, front *era.StatelessClient) (*mcp.DiscoverResult, error) {
	raw, err := front.Raw(ctx, &era.Outgoing{Method: mcp.MethodDiscover})
	if err != nil {
		return nil, err
	}
	d := new(mcp.DiscoverResult)
	if err := wire.Unmarshal(raw, d); err != nil {
		return nil, fmt.Errorf("%s: malformed result: %w", mcp.MethodDiscover, err)
	}
	return d, nil
}

// completionsUndeclarable reports whether the revision has completion, but no
// capability for it.
//
// Spec: 2025-03-26 changelog.
func (l *live) completionsUndeclarable() bool {
	return l.session != nil && !l.session.Facts().Completions
}
