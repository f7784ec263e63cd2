package console

import (
	"context"
	"errors"
	"net/http"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
)

// Entrance says how visitors log in, besides by a code. One of the two can be there.
type Entrance struct {
	// Bearer returns who has this token; nil is nobody. The function is nil if visitors do
	// not log in by a token.
	Bearer func(token string) *Identity
	// Issuer has a visitor log in at the authorization server of the gateway; nil for none.
	Issuer func(ctx context.Context, r oauth.Receiver) (*Identity, error)
}

// Identity is who has logged in.
type Identity struct {
	Name string
	// Role is what they may do as the configuration is now; false is nothing.
	Role func() (web.Role, bool)
}

// kind is how visitors log in.
func (l *Entrance) kind() string {
	switch {
	case l.Bearer != nil:
		return "bearer"
	case l.Issuer != nil:
		return "issuer"
	}
	return "code"
}

// errNoRole is why somebody does not come in whom the gateway knows.
var errNoRole = errors.New("you have no role in this console; the section console of the gateway's configuration gives roles")

// enter lets somebody in who has logged in, and returns the key. The audit log knows of it,
// and of those who have no role.
func (c *Console) enter(w http.ResponseWriter, r *http.Request, who *Identity) (key string, err error) {
	role, ok := who.Role()
	ch := Change{By: who.Name, Source: sourceOf(r), Action: "login"}
	if !ok {
		ch.Refused, ch.Err = true, errNoRole
		return "", errors.Join(errNoRole, c.gateway.Changed(ch))
	}
	ch.Role = role.String()
	if err := c.gateway.Changed(ch); err != nil {
		return "", err
	}
	return c.door.Enter(w, web.Visitor{Name: who.Name, Role: role, Still: who.Role}), nil
}

// errCode is why a code lets nobody in.
var errCode = errors.New("this code was used before, is too old, or never was one")

// redeemed has the audit log know who comes in by a code, or tries to.
func (c *Console) redeemed(r *http.Request, who web.Visitor, right bool) error {
	ch := Change{Source: sourceOf(r), Action: "login", Trace: Trace{Detail: "by a code"}}
	if !right {
		ch.Refused, ch.Err = true, errCode
		return c.gateway.Changed(ch)
	}
	ch.By, ch.Role = who.Name, who.Role.String()
	return c.gateway.Changed(ch)
}

// token lets somebody in who has the token of the gateway.
func (c *Console) token(w http.ResponseWriter, r *web.Request) (any, error) {
	var in struct {
		Token string `json:"token"`
	}
	if err := r.Read(&in); err != nil {
		return nil, err
	}
	if c.opts.Entrance.Bearer == nil {
		return nil, web.Errorf(http.StatusNotFound, "login", "nobody logs in here with a token")
	}
	who := c.opts.Entrance.Bearer(in.Token)
	if who == nil {
		err := web.Errorf(http.StatusForbidden, "token", "this is not the token of the gateway")
		err.Field = "token"
		return nil, errors.Join(err, c.gateway.Changed(Change{Action: "login", Source: sourceOf(r.Request), Refused: true, Err: err}))
	}
	key, err := c.enter(w, r.Request, who)
	if err != nil {
		return nil, web.Errorf(http.StatusForbidden, "role", "%v", err)
	}
	return map[string]string{"key": key}, nil
}

// logout ends a visit.
func (c *Console) logout(w http.ResponseWriter, r *web.Request) error {
	c.door.Leave(w, r.Request)
	err := c.gateway.Changed(Change{By: r.Who.Name, Role: r.Who.Role.String(), Source: sourceOf(r.Request), Action: "logout"})
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}
