package gateway

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/reads"
	"github.com/parley-mcp/parley/internal/mirror"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// operation is a request whose backend has been found.
type operation struct {
	guard.Operation

	member *member
	names  *naming.Backend
	reads  *reads.Cache
	owners *owners
}

// resolve finds the backend that a request is for, and what it is about there. Params that
// can be read in two ways are refused: what guards decide about must be what is done.
func (v *View) resolve(ctx context.Context, s *setup, x *mcp.Exchange, m *mcp.Method) (*operation, error) {
	if err := naming.Strict(x.Params); err != nil {
		return nil, err
	}
	kind, shown := naming.Subject(x.Method, x.Params)
	op, err := v.find(ctx, s, &x.Peer, kind, shown)
	if err != nil {
		return nil, err
	}
	op.Exchange, op.Method = x, m
	if err := s.spelled(op, x); err != nil {
		return nil, err
	}
	if err := v.mirrored(s, op, x); err != nil {
		return nil, err
	}
	if len(s.guards) > 0 {
		op.Again = v.again(x, m)
	}
	op.Params = op.names.Params(x.Method, x.Params, op.Subject)
	return op, nil
}

// mirrored compares the headers of a call with its arguments: what stands before the
// gateway may have acted on them. A client that is shown tools in the form of a vendor may
// not know of them.
func (v *View) mirrored(s *setup, op *operation, x *mcp.Exchange) error {
	if x.Mirrored == nil || op.Definition == nil || len(op.Definition.Headers) == 0 || x.Method != mcp.MethodCallTool {
		return nil
	}
	check := mirror.Check
	if form, _ := s.profileFor(s.views[v.name], x.Peer.Info.Name); form != nil {
		check = mirror.CheckSent
	}
	return check(x, op.Definition.Headers, wire.Find(x.Params, "arguments"))
}

// spelled refuses arguments whose names are those of the tool but for their case: some
// servers take them for the same, and what guards decide about would be others.
func (s *setup) spelled(op *operation, x *mcp.Exchange) error {
	if len(s.guards) == 0 || op.Definition == nil || op.Definition.Kind != mcp.ToolFeature {
		return nil
	}
	return naming.Spelled(wire.Find(op.Definition.Raw, "inputSchema"), wire.Find(x.Params, "arguments"))
}

// find finds what a client has named.
func (v *View) find(ctx context.Context, s *setup, peer *mcp.Peer, kind mcp.FeatureKind, named string) (*operation, error) {
	if len(named) > naming.Longest {
		return nil, mcp.InvalidParams("a name, a URI or an ID of %d bytes is too long: at most %d can be passed on", len(named), naming.Longest)
	}
	names, own, known := s.names.Own(kind, named)
	shown := named
	if names != nil && (kind == mcp.ResourceFeature || kind == mcp.TemplateFeature) {
		shown = names.Shown(kind, own) // a template can come to be another spelling of it
	}
	if names == nil || kind == mcp.TaskFeature && !v.g.owners.admits(shown, peer.Principal) {
		return nil, unknown(kind, named)
	}
	member := s.views[v.name].member(names.Name())
	if member == nil {
		return nil, unknown(kind, named)
	}
	op := &operation{member: member, names: names, reads: v.g.reads, owners: &v.g.owners}
	op.View, op.Backend, op.Subject, op.Shown = v.name, names.Name(), own, shown
	sure := len(s.guards) > 0 || naming.Unusual(own) != ""
	op.Definition = s.catalogue.Find(ctx, peer, member.backend.Name(), kind, shown, sure)
	switch {
	case op.Definition != nil:
		op.Subject = op.Definition.Name
	case !known:
		return nil, unknown(kind, named)
	case kind == mcp.ResourceFeature:
		if err := s.unlisted(ctx, op, peer); err != nil {
			return nil, err
		}
	}
	if !names.Has(kind, op.Subject) || !s.views[v.name].has(kind, shown) {
		return nil, unknown(kind, named)
	}
	return op, nil
}

// unlisted is about a URI that its backend does not list: guards judge it by its text, and
// by the templates that it can have been made with.
func (s *setup) unlisted(ctx context.Context, op *operation, peer *mcp.Peer) error {
	if why := naming.Unusual(op.Subject); why != "" {
		return mcp.InvalidParams("the URI %.200q has %s: no list has it, and servers could read it as another one; send the plain form", op.Shown, why)
	}
	if len(s.guards) > 0 {
		op.Templates = s.catalogue.Templates(ctx, peer, op.member.backend.Name(), op.Subject)
	}
	return nil
}

// unknown says that there is nothing of this name.
func unknown(kind mcp.FeatureKind, shown string) error {
	switch kind {
	case mcp.ResourceFeature, mcp.TemplateFeature:
		return &mcp.ResourceNotFoundError{URI: shown}
	case mcp.ToolFeature:
		return mcp.InvalidParams("unknown tool: %.100q", shown)
	case mcp.PromptFeature:
		return mcp.InvalidParams("unknown prompt: %.100q", shown)
	case mcp.TaskFeature:
		return mcp.InvalidParams("there is no task %.100q", shown)
	}
	return mcp.InvalidParams("params do not say what the request is about")
}

// serve passes an operation through the guards of the gateway to its backend.
func (s *setup) serve(ctx context.Context, op *operation) (any, error) {
	if passed, ok := ctx.Value(passedKey{}).(*bool); ok {
		*passed = true
	}
	member, names, reads, owners := op.member, op.names, op.reads, op.owners // and nothing of the request: guards can keep next
	last := func(ctx context.Context, guarded *guard.Operation) (any, error) {
		own := operation{*guarded, member, names, reads, owners}
		return own.pass(ctx)
	}
	return guard.Chain(s.guards, last)(ctx, &op.Operation)
}

// narrow makes a result that anybody could keep one for its client alone, where not
// everybody may have it.
//
// Spec: 2026-07-28 server/utilities/caching#choosing-a-cache-scope.
func (s *setup) narrow(p *part, m *mcp.Method, result any) any {
	raw, ok := result.(json.RawMessage)
	if !ok || !m.Cacheable || len(s.guards) == 0 && !p.personal || !wire.Is(wire.Find(raw, "cacheScope"), string(mcp.CachePublic)) {
		return result
	}
	narrowed, err := wire.Set(raw, "cacheScope", wire.AppendText(nil, string(mcp.CachePrivate)))
	if err != nil { // a member stands twice
		return result
	}
	return json.RawMessage(narrowed)
}

// pass passes an operation on to its backend.
func (op *operation) pass(ctx context.Context) (any, error) {
	send := func(ctx context.Context) (any, error) {
		return op.member.backend.Serve(ctx, behind(op.Exchange, op.names, op.Params), op.harmless())
	}
	var result any
	var err error
	if op.isPlainRead() {
		result, err = op.reads.Read(ctx, op.asked(), send)
	} else {
		result, err = send(ctx)
	}
	if err != nil {
		return nil, failure(op.names, err)
	}
	if raw, ok := result.(json.RawMessage); ok {
		shown := json.RawMessage(op.names.Described(op.Method.Name, op.Subject, op.names.Result(op.Method.Name, raw)))
		op.owners.made(op.Exchange, shown)
		return shown, nil
	}
	return result, nil
}

// traced are the keys of _meta that are for observers alone.
var traced = []string{mcp.MetaTraceParent, mcp.MetaTraceState, mcp.MetaBaggage}

// isPlainRead reports whether the operation reads a resource, and nothing but its URI can
// make a difference.
//
// Spec: 2026-07-28 server/utilities/caching#cache-key.
func (op *operation) isPlainRead() bool {
	x := op.Exchange
	if op.Method.Name != mcp.MethodReadResource || x.Answers != nil || x.State != nil {
		return false
	}
	for name := range wire.Each(op.Params) {
		if n := string(name); n != op.Method.Subject && n != "_meta" {
			return false
		}
	}
	for key := range wire.Each(wire.Find(op.Params, "_meta")) {
		if k := string(key); !mcp.ReservedMeta(k) && !slices.Contains(traced, k) {
			return false
		}
	}
	return true
}

// asked says who reads what. What one principal was shown is never another's, whoever
// shares the connection, nor what one access token lets it read that of another: a backend
// may get the token itself, or one that was exchanged for it.
//
// Spec: 2026-07-28 server/utilities/caching#cache-scope-field.
func (op *operation) asked() reads.Asked {
	peer := &op.Exchange.Peer
	key := op.member.backend.Key(peer) + "\x00" + peer.Principal + "\x00" + guard.TokenDigest(peer.Authorization)
	return reads.Asked{Backend: op.Backend, Key: key, URI: op.Subject}
}

// harmless reports whether the request can be made twice: whatever is no tool and no task
// only reads, and of tools it is said.
func (op *operation) harmless() bool {
	switch op.Method.Feature {
	case mcp.TaskFeature:
		return false
	case mcp.ToolFeature:
		if op.Definition == nil || op.Definition.Annotations == nil {
			return false
		}
		a := op.Definition.Annotations
		return a.ReadOnlyHint || a.IdempotentHint
	case mcp.ResourceFeature, mcp.TemplateFeature, mcp.PromptFeature:
	}
	return true
}
