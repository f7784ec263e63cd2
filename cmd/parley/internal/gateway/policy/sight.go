package policy

import (
	"bytes"
	"context"
	"sync"
	"weak"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/batch"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/mcp"
)

// sights are the definitions that somebody has been found to see, or not to see. Those
// that a list has no more are not kept in memory by this, and one that has changed is
// another one.
type sights struct {
	mu   sync.RWMutex
	seen map[sight]bool
}

// sight is a definition in a view, or a backend as a whole.
type sight struct {
	view, backend string
	of            weak.Pointer[guard.Definition]
}

func (s *sights) get(what sight) (seen, known bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	seen, known = s.seen[what]
	return seen, known
}

func (s *sights) put(what sight, seen bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[sight]bool{}
	}
	s.seen[what] = seen
}

// Sees implements guard.Guard: a definition is shown to whom some arguments would
// permit its use.
func (p *Policy) Sees(ctx context.Context, peer *mcp.Peer, d *guard.Definition) bool {
	return p.Look(ctx, peer, "")(d)
}

// Look implements guard.Looker.
func (p *Policy) Look(ctx context.Context, peer *mcp.Peer, view string) func(*guard.Definition) bool {
	if p.opts.DryRun {
		return func(*guard.Definition) bool { return true }
	}
	a, context := p.askers.of(peer), withUnknownArguments((&Question{Peer: peer, View: view}).context())
	return func(d *guard.Definition) bool {
		return p.seen(a, sight{view: view, of: weak.Make(d)}, func() (bool, error) { return p.visible(ctx, a, d, context) })
	}
}

// seen returns what is remembered of a sight, or looks.
func (p *Policy) seen(a *asker, what sight, look func() (bool, error)) bool {
	if seen, known := a.sights.get(what); known {
		return seen
	}
	seen, err := look()
	if err != nil { // the client is gone
		return false
	}
	a.sights.put(what, seen)
	p.askers.count()
	return seen
}

// visible reports whether some arguments would permit the use of a definition. Policies
// that say nothing of the context are not evaluated in parts, which takes longer.
func (p *Policy) visible(ctx context.Context, a *asker, d *guard.Definition, context types.Record) (bool, error) {
	about := (&Question{Backend: d.Backend, Kind: d.Kind, Name: d.Name, Shown: d.Shown, Annotations: d.Annotations}).about()
	world, request := request(a, action(use(d.Kind)), about.entity(), d.Backend, context)
	decided, why := cedar.Authorize(p.plain, world, request)
	if p.forbidden(decided, why) {
		return false, nil
	}
	if p.inContext == nil {
		return bool(decided), nil
	}
	seen := bool(decided)
	err := batch.Authorize(ctx, p.inContext, world, batch.Request{
		Principal: request.Principal, Action: request.Action, Resource: request.Resource, Context: context,
	}, func(r batch.Result) error {
		seen = !p.forbidden(r.Decision, r.Diagnostic) && (seen || bool(r.Decision))
		return nil
	})
	return seen, err
}

// withUnknownArguments is the context of a request whose arguments are not known yet.
func withUnknownArguments(c types.Record) types.Record {
	members := c.Map()
	members["arguments"] = batch.Ignore()
	return types.NewRecord(members)
}

// use is the method by which something of a list is used: the one that may ask.
func use(kind mcp.FeatureKind) string {
	if kind == mcp.TemplateFeature {
		kind = mcp.ResourceFeature
	}
	for _, m := range mcp.Methods() {
		if m.Feature == kind && m.MayAsk {
			return m.Name
		}
	}
	return ""
}

// split separates policies that say something of the context from those that do not; nil
// is none.
func split(set *cedar.PolicySet) (plain, inContext *cedar.PolicySet, err error) {
	plain = cedar.NewPolicySet()
	for id, policy := range set.All() {
		text, err := policy.MarshalJSON()
		if err != nil {
			return nil, nil, err
		}
		if !bytes.Contains(text, []byte(`"Var":"context"`)) {
			plain.Add(id, policy)
			continue
		}
		if inContext == nil {
			inContext = cedar.NewPolicySet()
		}
		inContext.Add(id, policy)
	}
	return plain, inContext, nil
}
