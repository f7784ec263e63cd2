package devauth

import (
	"crypto/rand"
	"maps"
	"strings"
	"sync"
	"time"
)

// grant is the result of one consent: a family of tokens that are revoked
// together.
type grant struct {
	id       string
	client   string
	user     string // "" when the client acts for itself
	resource string
	scopes   []string
	proofKey string // that the refresh tokens of a public client are bound to, or ""
	of       string // the grant whose token was exchanged, with which this one ends, or ""

	generation int // of the refresh token that is good
	until      time.Time
}

// grants are the active grants. Revoked ones are not kept. It is safe for
// concurrent use.
type grants struct {
	most int

	mu    sync.Mutex
	byID  map[string]*grant
	swept time.Time
}

func newGrants(most int) *grants { return &grants{most: most, byID: map[string]*grant{}} }

// add stores a new grant until a given time. It returns whether there was room.
func (g *grants) add(x *grant) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if len(g.byID) >= g.most || now.Sub(g.swept) > time.Minute {
		g.swept = now
		maps.DeleteFunc(g.byID, func(_ string, x *grant) bool { return !now.Before(x.until) })
	}
	if len(g.byID) >= g.most {
		return false
	}
	x.id = rand.Text()
	g.byID[x.id] = x
	return true
}

// get returns a copy of an active grant.
func (g *grants) get(id string) (grant, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	x := g.byID[id]
	if x == nil || !time.Now().Before(x.until) || x.of != "" && g.byID[x.of] == nil {
		return grant{}, false
	}
	return *x, true
}

// turn invalidates the refresh token of a generation. It returns the next
// generation, or false if that token was not the current one.
func (g *grants) turn(id string, generation int, until time.Time) (int, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	x := g.byID[id]
	if x == nil || x.generation != generation {
		return 0, false
	}
	x.generation++
	x.until = until
	return x.generation, true
}

// revoke ends a grant, and with it all of its tokens.
func (g *grants) revoke(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.byID, id)
}

// stands reports whether the grant of an access token is still active.
func (g *grants) stands(tokenID string) bool {
	_, ok := g.get(grantOf(tokenID))
	return ok
}

// grantOf returns the grant that the identifier of an access token belongs to.
func grantOf(tokenID string) string {
	id, _, _ := strings.Cut(tokenID, ".")
	return id
}
