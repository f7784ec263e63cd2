package gateway

import (
	"context"
	"errors"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/search"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/who"
	"github.com/parley-mcp/parley/mcp"
)

// View is the gateway as the clients of one view see it.
type View struct {
	g     *Gateway
	asked string        // the name that the client has used
	name  string        // that of what it sees
	outer mcp.ServeFunc // serve, and what is around it
}

var _ mcp.Handler = (*View)(nil)

// View returns the view of a name; "" is the whole. One that is in no setup answers that
// it is not there.
func (g *Gateway) View(name string) *View {
	v := &View{g: g, asked: name, name: name}
	if v.outer = v.serve; g.opts.Around != nil {
		v.outer = g.opts.Around(v.serve)
	}
	return v
}

// of returns the view that a principal has here: where no view is named, it can be one of
// their own.
func (v *View) of(s *setup, principal string) *View {
	name := s.viewName(v.asked, principal)
	if name == v.name {
		return v
	}
	own := *v
	own.name = name
	return &own
}

// viewName returns the name of the view that a principal gets under a name.
func (s *setup) viewName(asked, principal string) string {
	if asked != "" || len(s.defaults) == 0 {
		return asked
	}
	if name, ok := s.defaults[principal]; ok {
		return name
	}
	return s.defaults[who.Of(principal).Name()]
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
func (v *View) Describe(ctx context.Context, peer *mcp.Peer) *mcp.Description {
	s := v.g.current.Load()
	if peer != nil {
		v = v.of(s, peer.Principal)
	}
	p := s.views[v.name]
	if p == nil || peer != nil && !p.admits(peer.Principal) {
		return v.described(s, nil, nil)
	}
	of := make([]said, len(p.members))
	for i, m := range p.members {
		of[i] = v.says(ctx, s, m, peer)
	}
	key := v.keyOf(of, p.members)
	if d := s.described.get(key, of); d != nil {
		return d
	}
	d := &description{of: of, made: v.described(s, p.members, of)}
	s.described.put(key, d)
	return d.made
}

// described is what the gateway says of itself while members say what they do.
func (v *View) described(s *setup, members []*member, of []said) *mcp.Description {
	d := describe(&v.g.opts.Info, members, of, guard.Editors(s.guards))
	d.OnSession = v.opened
	return d
}

// Serve implements mcp.Handler.
func (v *View) Serve(ctx context.Context, x *mcp.Exchange) (any, error) { return v.outer(ctx, x) }

func (v *View) serve(ctx context.Context, x *mcp.Exchange) (any, error) {
	s := v.g.current.Load()
	v = v.of(s, x.Peer.Principal)
	if len(s.recorders) > 0 && (!x.ID.IsZero() || x.Watch != nil) {
		return v.recorded(ctx, s, x)
	}
	return v.answer(ctx, s, x)
}

// answer serves an exchange by a setup.
func (v *View) answer(ctx context.Context, s *setup, x *mcp.Exchange) (any, error) {
	p := v.part(s, x.Peer.Principal)
	if p == nil {
		return nil, notForYou()
	}
	m := mcp.MethodNamed(x.Method)
	if p.answers(x, m) {
		end, err := s.admit(x, m)
		if err != nil {
			return nil, err
		}
		defer end()
	}
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

// answers reports whether the gateway answers a request by itself: guards see no operation.
func (p *part) answers(x *mcp.Exchange, m *mcp.Method) bool {
	switch {
	case m == nil || x.ID.IsZero() || x.Watch != nil:
		return false
	case p.Search && m.Name == mcp.MethodCallTool:
		_, tool := naming.Subject(x.Method, x.Params)
		return tool == search.FindTools || tool == search.DescribeTool
	}
	return m.List || m.Name == mcp.MethodListTasks
}

// admit asks the guards whether the gateway may answer a request by itself. end is to be
// called when it has.
func (s *setup) admit(x *mcp.Exchange, m *mcp.Method) (end func(), err error) {
	var ends []func()
	end = func() {
		for _, f := range ends {
			f()
		}
	}
	for _, g := range s.admitters {
		over, err := g.Admit(x, m)
		if err != nil {
			end()
			return nil, err
		}
		ends = append(ends, over)
	}
	return end, nil
}

// request serves a request about what backends have.
func (v *View) request(ctx context.Context, s *setup, p *part, x *mcp.Exchange, m *mcp.Method) (any, error) {
	switch {
	case m.List:
		return v.list(ctx, s, p, x)
	case x.Method == mcp.MethodListTasks:
		return s.listTasks(ctx, p, x, m)
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
