package devauth

import (
	"slices"
	"strings"
	"time"
)

// Types of tokens (RFC 8693, section 3).
const (
	typeAccess = "urn:ietf:params:oauth:token-type:access_token"
	typeJWT    = "urn:ietf:params:oauth:token-type:jwt"
)

// exchange is the grant of RFC 8693: a resource that a user's client has come to gets a
// token for another resource, to act there for the same user, with no more scopes than
// the client has. It ends with the token that it was given for, and has no refresh token.
func (s *Server) exchange(d *demand) (*tokens, *oauthError) {
	if d.client.resource == "" {
		return nil, fail("unauthorized_client", "this client is no resource that tokens can be exchanged by")
	}
	if !slices.Contains([]string{typeAccess, typeJWT}, d.form.Get("subject_token_type")) {
		return nil, fail("invalid_request", "subject_token_type has to be "+typeAccess)
	}
	if want := d.form.Get("requested_token_type"); want != "" && want != typeAccess {
		return nil, fail("invalid_request", "requested_token_type has to be "+typeAccess)
	}
	bad := fail("invalid_request", "the subject token is unknown, expired or revoked, or it is for another resource than this client")
	c, err := s.signer.read(d.form.Get("subject_token"))
	if err != nil || c.Audience != d.client.resource {
		return nil, bad
	}
	from, ok := s.grants.get(grantOf(c.ID))
	if !ok {
		return nil, bad
	}
	resource, e := s.resource(d.form["resource"])
	if e != nil {
		return nil, e
	}
	granted := splitScopes(c.Scope)
	scopes := splitScopes(d.form.Get("scope"))
	if len(scopes) == 0 {
		scopes = granted
	}
	if len(without(scopes, granted)) > 0 {
		return nil, fail("invalid_scope", "the subject token is for the scopes "+strings.Join(granted, " "))
	}
	g := &grant{client: d.client.id, user: from.user, resource: resource, scopes: scopes, of: from.id, until: s.until(time.Now(), false)}
	if !s.grants.add(g) {
		return nil, full()
	}
	got, e := s.issue(d, g, scopes, false)
	if e == nil {
		got.Issued = typeAccess
	}
	return got, e
}
