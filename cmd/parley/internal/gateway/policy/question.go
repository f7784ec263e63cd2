package policy

import (
	"encoding/json"
	"strings"
	"sync"

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

// ask makes the question of an operation.
func ask(op *guard.Operation) *Question {
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

// world is what a question is about, in the terms of Cedar: all entities that there are.
type world struct {
	principal, action, resource, backend types.Entity
}

// Get implements types.EntityGetter.
func (w *world) Get(uid types.EntityUID) (types.Entity, bool) {
	for _, e := range [...]*types.Entity{&w.principal, &w.action, &w.resource, &w.backend} {
		if e.UID == uid {
			return *e, true
		}
	}
	return types.Entity{}, false
}

// request puts a question in the terms of Cedar: who asks, how it is done, what it is about,
// and what else is known.
func request(a *asker, action, resource types.Entity, backend string, context types.Record) (*world, cedar.Request) {
	w := &world{a.entity, action, resource, types.Entity{UID: backendOf(backend)}}
	return w, cedar.Request{Principal: a.entity.UID, Action: action.UID, Resource: resource.UID, Context: context}
}

func backendOf(name string) types.EntityUID { return types.NewEntityUID("Backend", types.String(name)) }

// action is the method.
func action(method string) types.Entity {
	if known, ok := actions[method]; ok {
		return known
	}
	return actionOf(method)
}

// actions are those of the methods of the protocol.
var actions = func() map[string]types.Entity {
	all := map[string]types.Entity{}
	for _, m := range mcp.Methods() {
		all[m.Name] = actionOf(m.Name)
	}
	return all
}()

// actionOf makes the entity of a method. Its parent is what stands before the slash:
// Action::"tools" is everything about tools.
func actionOf(method string) types.Entity {
	var parents types.EntityUIDSet
	if group, _, ok := strings.Cut(method, "/"); ok {
		parents = types.NewEntityUIDSet(types.NewEntityUID("Action", types.String(group)))
	}
	return types.Entity{UID: types.NewEntityUID("Action", types.String(method)), Parents: parents}
}

// thing is what a question is about: a feature of a backend, or the backend if it has no
// kind.
type thing struct {
	kind                 mcp.FeatureKind
	backend, name, shown string
	hints                guard.Hints // of a tool
}

// about is what the question is about.
func (q *Question) about() thing {
	t := thing{kind: q.Kind, backend: q.Backend}
	if q.Kind != 0 {
		t.name, t.shown = q.Name, q.Shown
	}
	if q.Kind == mcp.ToolFeature {
		t.hints = guard.HintsOf(q.Annotations)
	}
	return t
}

// entity puts a thing in the terms of Cedar.
func (t *thing) entity() types.Entity {
	backend := backendOf(t.backend)
	if t.kind == 0 {
		return types.Entity{UID: backend}
	}
	kind, ok := kinds[t.kind]
	if !ok {
		kind = "Feature"
	}
	return types.Entity{
		UID: types.NewEntityUID(kind, types.String(t.shown)), Parents: types.NewEntityUIDSet(backend), Attributes: types.NewRecord(t.attributes()),
	}
}

func (t *thing) attributes() types.RecordMap {
	members := types.RecordMap{"backend": types.String(t.backend), "name": types.String(t.name)}
	if t.kind == mcp.ToolFeature {
		members["readOnly"] = types.Boolean(t.hints.ReadOnly)
		members["destructive"] = types.Boolean(t.hints.Destructive)
		members["idempotent"] = types.Boolean(t.hints.Idempotent)
		members["openWorld"] = types.Boolean(t.hints.OpenWorld)
	}
	return members
}

// things remembers what calls are about. The zero value is ready.
type things struct {
	mu  sync.RWMutex
	all map[thing]types.Entity
}

const (
	// maxThings bounds what is remembered; beyond that, it is begun anew.
	maxThings = 1000
	// maxThing bounds its names, in bytes: clients make up URIs.
	maxThing = 1 << 10
)

func (k *things) of(t thing) types.Entity {
	if len(t.name)+len(t.shown) > maxThing {
		return t.entity()
	}
	k.mu.RLock()
	e, ok := k.all[t]
	k.mu.RUnlock()
	if ok {
		return e
	}
	e = t.entity()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil || len(k.all) >= maxThings {
		k.all = map[thing]types.Entity{}
	}
	k.all[t] = e
	return e
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
