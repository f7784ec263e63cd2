package devauth

import (
	"net/http"
	"strings"
)

// revoke ends the grant of a token (RFC 7009): revoking any token of a family
// revokes all of them. An invalid token is not an error.
func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	if e := form(w, r); e != nil {
		e.write(w)
		return
	}
	c, e := s.authenticate(w, r)
	if e != nil {
		e.write(w)
		return
	}
	if id, ok := s.family(r.PostForm.Get("token")); ok {
		g, stands := s.grants.get(id)
		if stands && g.client != c.id {
			fail("unauthorized_client", "the token was issued to another client").write(w)
			return
		}
		s.grants.revoke(id)
		s.opts.Logger.Info("a client has revoked its tokens", "client", c.id)
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
}

// family returns the grant that a token belongs to.
func (s *Server) family(token string) (id string, ok bool) {
	if id, _, ok := s.readRefresh(token); ok {
		return id, true
	}
	c, err := s.signer.read(token)
	if err != nil {
		return "", false
	}
	return grantOf(c.ID), true
}

// active describes a valid token to a resource server (RFC 7662, section 2.2).
type active struct {
	Active bool `json:"active"`
	claims
	User string `json:"username,omitzero"`
	Type string `json:"token_type"`
}

// introspect answers a client about its own tokens, and a resource server about
// any. All other tokens are reported as not active.
func (s *Server) introspect(w http.ResponseWriter, r *http.Request) {
	if e := form(w, r); e != nil {
		e.write(w)
		return
	}
	c, e := s.authenticate(w, r)
	if e == nil && c.public() {
		e = &oauthError{http.StatusUnauthorized, "invalid_client", "a client that cannot authenticate cannot ask about tokens"}
	}
	if e != nil {
		e.write(w)
		return
	}
	if answer := s.lookUp(c, r.PostForm.Get("token")); answer != nil {
		writeSecret(w, http.StatusOK, answer)
		return
	}
	writeSecret(w, http.StatusOK, struct {
		Active bool `json:"active"`
	}{})
}

func (s *Server) lookUp(c *client, token string) any {
	if t, err := s.signer.read(token); err == nil {
		g, ok := s.grants.get(grantOf(t.ID))
		if !ok || !c.asks && g.client != c.id {
			return nil
		}
		answer := &active{Active: true, claims: *t, User: g.user, Type: "Bearer"}
		if t.Confirm != nil {
			answer.Type = "DPoP"
		}
		return answer
	}
	id, generation, ok := s.readRefresh(token)
	g, stands := s.grants.get(id)
	if !ok || !stands || g.generation != generation || g.client != c.id {
		return nil
	}
	return &struct {
		Active  bool   `json:"active"`
		Client  string `json:"client_id"`
		Scope   string `json:"scope"`
		Expires int64  `json:"exp"`
	}{true, g.client, strings.Join(g.scopes, " "), g.until.Unix()}
}
