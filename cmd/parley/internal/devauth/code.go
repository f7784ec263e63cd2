package devauth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

// code is what an authorization code stands for.
type code struct {
	request *request
	user    string
	scopes  []string // what the user has granted
	offline bool     // whether a refresh token is part of it
	expires time.Time

	mu    sync.Mutex
	used  bool
	grant string // of the tokens that it was redeemed for
}

// grant sends the browser back with an authorization code.
func (s *Server) grant(w http.ResponseWriter, req *request, user string, scopes []string) {
	secret := rand.Text() + rand.Text()
	c := &code{request: req, user: user, scopes: scopes, offline: slices.Contains(scopes, offlineAccess), expires: time.Now().Add(s.opts.CodeLifetime)}
	if req.implied { // some clients refuse scopes that they have not asked for
		c.scopes = without(scopes, []string{offlineAccess})
	}
	// It is remembered for as long as its tokens live, so that its reuse is
	// noticed.
	if !s.codes.put(secret, c, c.expires.Add(max(s.opts.AccessLifetime, s.opts.RefreshLifetime))) {
		s.problem(w, http.StatusServiceUnavailable, "Too many logins are under way. Try again later.")
		return
	}
	s.opts.Logger.Info("a user has granted access", "user", user, "client", req.client.id, "scopes", scopes)
	s.respond(w, req, url.Values{"code": {secret}})
}

// redeem is the grant authorization_code. A code is good for one attempt,
// because a client that presents it with wrong parameters has stolen it. If it
// was redeemed before, the tokens that it was redeemed for are revoked (RFC
// 6749, section 4.1.2).
//
// Spec: 2026-07-28 basic/authorization/security-considerations#authorization-code-protection.
func (s *Server) redeem(d *demand) (*tokens, *oauthError) {
	bad := fail("invalid_grant", "the code is unknown, used or expired, or it is for another client, redirect_uri, code_verifier or DPoP key")
	c, ok := s.codes.get(d.form.Get("code"))
	if !ok {
		return nil, bad
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.used {
		s.opts.Logger.Warn("an authorization code was used again; its tokens are revoked", "client", c.request.client.id, "user", c.user)
		s.grants.revoke(c.grant)
		return nil, bad
	}
	c.used = true
	if !c.good(d) {
		return nil, bad
	}
	if named := d.form["resource"]; len(named) > 0 {
		if resource, e := s.resource(named); e != nil || resource != c.request.resource {
			return nil, fail("invalid_target", "the code is for the resource "+c.request.resource)
		}
	}
	return s.found(d, c)
}

// good reports whether the client that presents the code is the one it was
// issued to.
func (c *code) good(d *demand) bool {
	sum := sha256.Sum256([]byte(d.form.Get("code_verifier")))
	challenge := base64.RawURLEncoding.EncodeToString(sum[:])
	switch {
	case !time.Now().Before(c.expires), c.request.client.id != d.client.id:
		return false
	// Clients of OAuth 2.1 do not repeat it.
	case d.form.Has("redirect_uri") && d.form.Get("redirect_uri") != c.request.redirect:
		return false
	case c.request.proofKey != "" && c.request.proofKey != d.proofKey:
		return false
	}
	return subtle.ConstantTimeCompare([]byte(challenge), []byte(c.request.challenge)) == 1
}

// found makes the grant for a code.
func (s *Server) found(d *demand, c *code) (*tokens, *oauthError) {
	g := &grant{client: d.client.id, user: c.user, resource: c.request.resource, scopes: c.scopes, until: s.until(time.Now(), c.offline)}
	if d.client.public() {
		g.proofKey = d.proofKey
	}
	if !s.grants.add(g) {
		return nil, full()
	}
	c.grant = g.id
	return s.issue(d, g, g.scopes, c.offline)
}
