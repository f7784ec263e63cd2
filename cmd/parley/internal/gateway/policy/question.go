package policy

import (
	"encoding/json"
	"strings"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Question is what policies are asked: may this peer do this?
type Question struct {
	Peer    *mcp.Peer
	View    string
	Method  string
	Backend string
	// Kind and Name say what it is about, as the backend names it, and Shown as clients
	// do; zero if it is about the backend as a whole.
	Kind        mcp.FeatureKind
	Name, Shown string
	Annotations *mcp.ToolAnnotations
	// Arguments are those of the call, a JSON object; nil if there are none.
	Arguments json.RawMessage
}

// about makes the question of an operation.
func about(op *guard.Operation) *Question {
	q := &Question{
		Peer: &op.Exchange.Peer, View: op.View, Method: op.Method.Name, Backend: op.Backend,
		Name: op.Subject, Shown: op.Shown, Arguments: wire.Find(op.Params, "arguments"),
	}
	if op.Subject != "" {
		q.Kind = op.Method.Feature
	}
	if op.Definition != nil {
		q.Annotations = op.Definition.Annotations
	}
	return q
}

// kinds are the types of entities that stand for features.
var kinds = map[mcp.FeatureKind]types.EntityType{
	mcp.ToolFeature: "Tool", mcp.PromptFeature: "Prompt", mcp.ResourceFeature: "Resource", mcp.TemplateFeature: "Template",
}

// request puts the question in the terms of Cedar.
func (q *Question) request() (types.EntityMap, cedar.Request) {
	entities := types.EntityMap{}
	r := cedar.Request{
		Principal: q.principal(entities),
		Action:    q.action(entities),
		Resource:  q.resource(entities),
		Context:   q.context(),
	}
	return entities, r
}

// principal is who asks. Groups, roles and scopes of its token are its parents.
func (q *Question) principal(entities types.EntityMap) types.EntityUID {
	p := q.Peer
	if p.Principal == "" {
		uid := types.NewEntityUID("Anonymous", "")
		entities[uid] = types.Entity{UID: uid}
		return uid
	}
	uid := types.NewEntityUID("User", types.String(p.Principal))
	members := types.RecordMap{}
	var parents []types.EntityUID
	if a := p.Authorization; a != nil {
		members["issuer"], members["subject"], members["client"] = types.String(a.Issuer), types.String(a.Subject), types.String(a.ClientID)
		claims := record(a.Claims)
		members["claims"] = claims
		for _, scope := range a.Scopes {
			parents = append(parents, types.NewEntityUID("Scope", types.String(scope)))
		}
		parents = append(parents, parentsIn(claims, "groups", "Group")...)
		parents = append(parents, parentsIn(claims, "roles", "Role")...)
	}
	entities[uid] = types.Entity{UID: uid, Attributes: types.NewRecord(members), Parents: types.NewEntityUIDSet(parents...)}
	return uid
}

// parentsIn are the groups that a claim names.
func parentsIn(claims types.Record, claim types.String, kind types.EntityType) []types.EntityUID {
	value, _ := claims.Get(claim)
	set, ok := value.(types.Set)
	if !ok {
		return nil
	}
	var parents []types.EntityUID
	for v := range set.All() {
		if s, ok := v.(types.String); ok {
			parents = append(parents, types.NewEntityUID(kind, s))
		}
	}
	return parents
}

// action is the method. Its parent is what stands before the slash: Action::"tools"
// is everything about tools.
func (q *Question) action(entities types.EntityMap) types.EntityUID {
	uid := types.NewEntityUID("Action", types.String(q.Method))
	var parents types.EntityUIDSet
	if group, _, ok := strings.Cut(q.Method, "/"); ok {
		parents = types.NewEntityUIDSet(types.NewEntityUID("Action", types.String(group)))
	}
	entities[uid] = types.Entity{UID: uid, Parents: parents}
	return uid
}

// resource is what the question is about, in its backend.
func (q *Question) resource(entities types.EntityMap) types.EntityUID {
	backend := types.NewEntityUID("Backend", types.String(q.Backend))
	entities[backend] = types.Entity{UID: backend}
	if q.Kind == 0 {
		return backend
	}
	kind, ok := kinds[q.Kind]
	if !ok {
		kind = "Feature"
	}
	uid := types.NewEntityUID(kind, types.String(q.Shown))
	entities[uid] = types.Entity{UID: uid, Parents: types.NewEntityUIDSet(backend), Attributes: types.NewRecord(q.attributes())}
	return uid
}

// attributes are those of what the question is about. Tools have the defaults of the
// specification for hints that they do not give.
//
// Spec: 2026-07-28 server/tools#data-types.
func (q *Question) attributes() types.RecordMap {
	members := types.RecordMap{"backend": types.String(q.Backend), "name": types.String(q.Name)}
	if q.Kind != mcp.ToolFeature {
		return members
	}
	a := q.Annotations
	if a == nil {
		a = &mcp.ToolAnnotations{}
	}
	unless := func(hint *bool) types.Boolean { return types.Boolean(hint == nil || *hint) }
	members["readOnly"] = types.Boolean(a.ReadOnlyHint)
	members["destructive"] = !types.Boolean(a.ReadOnlyHint) && unless(a.DestructiveHint)
	members["idempotent"] = types.Boolean(a.ReadOnlyHint || a.IdempotentHint)
	members["openWorld"] = unless(a.OpenWorldHint)
	return members
}

// context is what else is known of the request.
func (q *Question) context() types.Record {
	return types.NewRecord(types.RecordMap{
		"arguments": record(q.Arguments),
		"view":      types.String(q.View),
		"revision":  types.String(q.Peer.Revision.String()),
		"session":   types.Boolean(q.Peer.SessionID != ""),
	})
}
