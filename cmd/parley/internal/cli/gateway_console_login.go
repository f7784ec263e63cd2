package cli

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/login"
	consolepage "github.com/parley-mcp/parley/cmd/parley/internal/page/console"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
)

// pageRoles are the roles of the configuration in the terms of the page.
var pageRoles = map[config.Role]web.Role{config.Viewer: web.Viewer, config.Approver: web.Approver, config.Operator: web.Operator}

// entrance is how visitors of the console log in: as clients of the gateway do.
func (r *runningGateway) entrance(s *site) consolepage.Entrance {
	switch {
	case s == nil:
	case s.gates != nil:
		at := r.visitors(s).Issuer
		known := oauth.NewMemoryStore()
		return consolepage.Entrance{Issuer: func(ctx context.Context, receiver oauth.Receiver) (*consolepage.Identity, error) {
			who, err := at.Identify(ctx, login.Identification{Receiver: receiver, Known: known, Logger: r.logger})
			if err != nil {
				return nil, err
			}
			return &consolepage.Identity{Name: who.Principal(), Role: r.roleBy(func(c *config.Console) config.Role { return c.Role(who) })}, nil
		}}
	case s.f.bearer != "":
		right := sha256.Sum256([]byte(s.f.bearer))
		return consolepage.Entrance{Bearer: func(token string) *consolepage.Identity {
			given := sha256.Sum256([]byte(token))
			if subtle.ConstantTimeCompare(given[:], right[:]) != 1 {
				return nil
			}
			return &consolepage.Identity{Name: "holder of the token", Role: r.roleBy((*config.Console).Bearer)}
		}}
	}
	return consolepage.Entrance{}
}

// roleBy returns what the role of a visitor is by the configuration at the time.
func (r *runningGateway) roleBy(of func(*config.Console) config.Role) func() (web.Role, bool) {
	return func() (web.Role, bool) {
		c, _ := r.shown.now()
		role, ok := pageRoles[of(c.Console)]
		return role, ok
	}
}
