package policy

import (
	"strconv"
	"sync"

	"github.com/cedar-policy/cedar-go/types"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/who"
	"github.com/parley-mcp/parley/mcp"
)

// asker is who asks, in the terms of Cedar, and what it has been found to see. It does not
// change but for that.
type asker struct {
	entity types.Entity
	sights sights
}

// askers remembers those who have asked. Who brings other claims is another one, so
// nothing of this runs out. The zero value is ready.
type askers struct {
	mu   sync.RWMutex
	all  map[string]*asker // by what identify writes
	room int               // how many sights may be added
}

const (
	// maxAskers and maxSights bound what is remembered; beyond that, it is begun anew.
	maxAskers = 1000
	maxSights = 500_000
)

// of returns who a peer is.
func (k *askers) of(peer *mcp.Peer) *asker {
	var space [512]byte
	id := identify(space[:0], peer)
	k.mu.RLock()
	a := k.all[string(id)]
	k.mu.RUnlock()
	if a != nil {
		return a
	}
	a = &asker{entity: principal(peer)}
	k.mu.Lock()
	defer k.mu.Unlock()
	if had := k.all[string(id)]; had != nil {
		return had
	}
	if k.all == nil || len(k.all) >= maxAskers {
		k.forget()
	}
	k.all[string(id)] = a
	return a
}

// count says that somebody has been found to see something, or not to.
func (k *askers) count() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.room--; k.room < 0 {
		k.forget()
	}
}

// forget begins anew. The caller holds k.mu.
func (k *askers) forget() { k.all, k.room = map[string]*asker{}, maxSights }

// identify appends all of a peer that decisions depend on, but for its words about each
// request: two peers for which it writes the same are the same to all policies.
func identify(dst []byte, peer *mcp.Peer) []byte {
	dst = append(append(dst, peer.Revision.String()...), ' ')
	dst = strconv.AppendBool(dst, peer.SessionID != "")
	dst = strconv.AppendQuote(dst, peer.Principal)
	a := peer.Authorization
	if a == nil {
		return dst
	}
	for _, text := range []string{a.Issuer, a.Subject, a.ClientID} {
		dst = strconv.AppendQuote(dst, text)
	}
	dst = append(dst, '[')
	for _, scope := range a.Scopes {
		dst = strconv.AppendQuote(dst, scope)
	}
	return append(append(dst, ']'), a.Claims...)
}

// principals are the types of entities that stand for who asks. They keep a program apart
// from a user with the same ID.
var principals = map[who.Kind]types.EntityType{who.User: "User", who.Program: "Program"}

// principal is the entity of who asks. Groups, roles and scopes of its token are its
// parents.
func principal(p *mcp.Peer) types.Entity {
	one := who.Of(p.Principal)
	if one.Kind == who.Nobody {
		return types.Entity{UID: types.NewEntityUID("Anonymous", "")}
	}
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
	return types.Entity{
		UID:        types.NewEntityUID(principals[one.Kind], types.String(one.ID)),
		Attributes: types.NewRecord(members), Parents: types.NewEntityUIDSet(parents...),
	}
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
