package gateway

import (
	"context"
	"errors"
	"slices"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/search"
	"github.com/parley-mcp/parley/mcp"
)

// View is the gateway as the clients of one view see it.
type View struct {
	g     *Gateway
	name  string
	outer mcp.ServeFunc // serve, and what is around it
}

var _ mcp.Handler = (*View)(nil)

// View returns the view of a name; "" is the whole. One that is in no setup answers that
// it is not there.
func (g *Gateway) View(name string) *View {
	v := &View{g: g, name: name}
	if v.outer = v.serve; g.opts.Around != nil {
		v.outer = g.opts.Around(v.serve)
	}
	return v
}

// part returns what the view shows to a principal now, or nil if it is not there.
func (v *View) part(s *setup, principal string) *part {
	p := s.views[v.name]
	if p == nil || !p.admits(principal) {
		return nil
	}
	return p
}

// Describe implements mcp.Handler: it says what the backends say that are known.
func (v *View) Describe(_ context.Context, peer *mcp.Peer) *mcp.Description {
	s := v.g.current.Load()
	p := s.views[v.name]
	if p == nil || peer != nil && !p.admits(peer.Principal) {
		return describe(&v.g.opts.Info, nil, nil, nil)
	}
	said := make([]*mcp.Description, len(p.members))
	for i, m := range p.members {
		said[i] = m.backend.Describe() //nolint:contextcheck // it only remembers
	}
	if d, ok := s.described.Load(v.name); ok {
		if d, ok := d.(*description); ok && slices.Equal(d.of, said) {
			return d.made
		}
	}
	d := &description{of: said, made: describe(&v.g.opts.Info, p.members, said, guard.Editors(s.guards))}
	s.described.Store(v.name, d)
	return d.made
}

// Serve implements mcp.Handler.
func (v *View) Serve(ctx context.Context, x *mcp.Exchange) (any, error) { return v.outer(ctx, x) }

func (v *View) serve(ctx context.Context, x *mcp.Exchange) (any, error) {
	s := v.g.current.Load()
	if len(s.recorders) > 0 && (!x.ID.IsZero() || x.Watch != nil) {
		return v.recorded(ctx, s, x)
	}
	return v.answer(ctx, s, x)
}

// answer serves an exchange by a setup.
func (v *View) answer(ctx context.Context, s *setup, x *mcp.Exchange) (any, error) {
	p := v.part(s, x.Peer.Principal)
	if p == nil {
		return nil, &mcp.ForbiddenError{Reason: "this view of the gateway is not for you"}
	}
	m := mcp.MethodNamed(x.Method)
	switch {
	case x.Watch != nil:
		return v.watch(ctx, s, p, x)
	case x.ID.IsZero():
		return nil, p.notify(ctx, x, m)
	case m == nil || m.Notification || m.FromServer:
		return nil, &mcp.MethodNotFoundError{Method: x.Method}
	case p.Search && m.Capability == mcp.CapTools:
		return search.Serve(ctx, s.catalogue, p.shown(), x, func(ctx context.Context, x *mcp.Exchange) (any, error) {
			return v.request(ctx, s, p, x, m)
		})
	}
	return v.request(ctx, s, p, x, m)
}

// request serves a request about what backends have.
func (v *View) request(ctx context.Context, s *setup, p *part, x *mcp.Exchange, m *mcp.Method) (any, error) {
	switch {
	case m.List:
		return v.list(ctx, s, p, x)
	case x.Method == mcp.MethodListTasks:
		return listTasks(ctx, p, x)
	case m.Feature == 0 && m.Capability != mcp.CapCompletions:
		return nil, &mcp.MethodNotFoundError{Method: x.Method}
	}
	op, err := v.resolve(ctx, s, x, m)
	if err != nil {
		return nil, err
	}
	result, err := s.serve(ctx, op)
	if absent, ok := errors.AsType[*mcp.MethodNotFoundError](err); ok && absent.Method == x.Method && m.Capability == mcp.CapCompletions {
		// The gateway has declared it for those backends that have it.
		return &mcp.CompleteResult{Completion: mcp.Completion{Values: []string{}}}, nil
	}
	return s.narrow(p, m, result), err
}

// notify passes a notification on to all backends that the client has a connection to. One
// that the protocol does not know is for nobody: it would reach those it is not meant for.
func (p *part) notify(ctx context.Context, x *mcp.Exchange, m *mcp.Method) error {
	if m == nil || !m.Notification || m.FromServer {
		x.Drop(mcp.DropNoTaker, x.Method, nil)
		return nil
	}
	var errs []error
	for _, member := range p.members {
		_, err := member.backend.Serve(ctx, behind(x, member.names, x.Params), false)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
