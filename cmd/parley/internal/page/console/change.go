package console

import (
	"errors"
	"net"
	"net/http"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
)

// deed is a route that changes something. Its function says what was changed in the Change.
type deed func(r *web.Request, ch *Change) (any, error)

// change returns the route of a deed for those of a role. The audit log knows who has done
// what, who has tried to and may not, and what did not work.
func (c *Console) change(role web.Role, action string, do deed) func(*web.Request) (any, error) {
	return func(r *web.Request) (any, error) {
		ch := &Change{By: r.Who.Name, Role: r.Who.Role.String(), Source: sourceOf(r.Request), Action: action}
		if r.Who.Role < role {
			ch.Refused, ch.Target, ch.Err = true, r.URL.Path, lacks(r.Who.Role, role)
			return nil, errors.Join(ch.Err, c.gateway.Changed(*ch))
		}
		if err := c.gateway.Ready(); err != nil {
			return nil, web.Errorf(http.StatusServiceUnavailable, "audit", "%v", err)
		}
		result, err := do(r, ch)
		ch.Err = err
		if failed := c.gateway.Changed(*ch); err == nil && failed != nil {
			err = web.Errorf(http.StatusInternalServerError, "audit", "it was done, but %v", failed)
		}
		if err != nil {
			return nil, err
		}
		return result, nil
	}
}

// lacks says that a role is not enough.
func lacks(has, needs web.Role) *web.Error {
	e := web.Errorf(http.StatusForbidden, "role", "this is for %ss, and you are a %s", needs, has)
	e.Hint = "the section console of the configuration says who has which role"
	return e
}

// sourceOf is the address that a request comes from.
func sourceOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
