package devauth

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// refreshToken returns the refresh token of a generation of a grant. The server
// need not keep it, and still recognizes the older ones.
func (s *Server) refreshToken(grant string, generation int) string {
	name := grant + "." + strconv.Itoa(generation)
	mac := hmac.New(sha256.New, s.secret)
	fmt.Fprintf(mac, "refresh %s", name)
	return name + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// readRefresh returns the grant and the generation of a refresh token of this
// server.
func (s *Server) readRefresh(token string) (grant string, generation int, ok bool) {
	grant, rest, _ := strings.Cut(token, ".")
	number, _, _ := strings.Cut(rest, ".")
	generation, err := strconv.Atoi(number)
	if err != nil || subtle.ConstantTimeCompare([]byte(s.refreshToken(grant, generation)), []byte(token)) != 1 {
		return "", 0, false
	}
	return grant, generation, true
}

// refresh is the grant refresh_token. Each refresh token can be used once. When
// one is used again, one of its two users has stolen it, so the whole grant is
// revoked.
//
// Spec: 2026-07-28 basic/authorization/security-considerations#token-theft.
func (s *Server) refresh(d *demand) (*tokens, *oauthError) {
	bad := fail("invalid_grant", "the refresh token is unknown, used, revoked or expired, or it is for another client or DPoP key")
	id, generation, ok := s.readRefresh(d.form.Get("refresh_token"))
	if !ok {
		return nil, bad
	}
	g, ok := s.grants.get(id)
	if !ok || g.client != d.client.id {
		return nil, bad
	}
	if generation != g.generation {
		s.replayed(&g)
		return nil, bad
	}
	if g.proofKey != "" && g.proofKey != d.proofKey {
		return nil, bad
	}
	scopes, e := s.narrow(d, &g)
	if e != nil {
		return nil, e
	}
	next, ok := s.grants.turn(id, generation, s.until(time.Now(), true))
	if !ok { // another request was faster
		s.replayed(&g)
		return nil, bad
	}
	g.generation = next
	return s.issue(d, &g, scopes, true)
}

func (s *Server) replayed(g *grant) {
	s.opts.Logger.Warn("a refresh token was used again; its grant is revoked", "client", g.client, "user", g.user)
	s.grants.revoke(g.id)
}

// narrow returns the scopes that a refresh asks for: those of the grant, or
// fewer. The grant itself does not change.
func (s *Server) narrow(d *demand, g *grant) ([]string, *oauthError) {
	if named := d.form["resource"]; len(named) > 0 {
		if resource, e := s.resource(named); e != nil || resource != g.resource {
			return nil, fail("invalid_target", "the refresh token is for the resource "+g.resource)
		}
	}
	scopes := splitScopes(d.form.Get("scope"))
	if len(scopes) == 0 {
		return g.scopes, nil
	}
	if len(without(scopes, g.scopes)) > 0 {
		return nil, fail("invalid_scope", "the refresh token is for the scopes "+strings.Join(g.scopes, " ")+"; more scopes need the user's consent")
	}
	return scopes, nil
}
