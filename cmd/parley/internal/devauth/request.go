package devauth

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// request is a request for authorization.
type request struct {
	client    *client
	redirect  string // where the answer goes
	named     bool   // whether the request names it
	state     string
	challenge string
	resource  string
	scopes    []string
	implied   bool   // offline_access was not asked for by name
	proofKey  string // thumbprint of the key that the code is bound to, or ""
	prompt    []string
}

// once refuses parameters that occur more than once (RFC 6749, section 3.1).
func once(q url.Values, repeatable ...string) *oauthError {
	for name, values := range q {
		if len(values) > 1 && !slices.Contains(repeatable, name) {
			return fail("invalid_request", "a parameter occurs more than once")
		}
	}
	return nil
}

// addressee determines the client and its redirect URI. Until both are known to
// be good, errors are shown to the user, without a redirect.
//
// Spec: 2026-07-28 basic/authorization/security-considerations#open-redirection.
func (s *Server) addressee(ctx context.Context, q url.Values) (*request, *oauthError) {
	if e := once(url.Values{"client_id": q["client_id"], "redirect_uri": q["redirect_uri"]}); e != nil {
		return nil, e
	}
	if q.Get("client_id") == "" {
		return nil, fail("invalid_request", "The request does not say which program it comes from (client_id).")
	}
	c, err := s.clients.find(ctx, q.Get("client_id"))
	if err != nil {
		return nil, fail("invalid_client", sentence(err.Error()))
	}
	req := &request{client: c, redirect: q.Get("redirect_uri"), named: q.Has("redirect_uri"), state: q.Get("state")}
	switch {
	case !req.named && len(c.redirects) == 1:
		req.redirect = c.redirects[0]
	case !registered(c.redirects, req.redirect):
		return nil, fail("invalid_request", "The program asks for the answer at an address that it has not registered (redirect_uri). Nothing was sent there.")
	}
	return req, nil
}

// read reads the rest of a request.
func (s *Server) read(req *request, q url.Values) *oauthError {
	if e := once(q, "resource"); e != nil {
		req.state = "" // there is no telling which one is meant
		return e
	}
	if q.Get("response_type") != "code" {
		return fail("unsupported_response_type", "response_type has to be code")
	}
	// Spec: 2026-07-28 basic/authorization/security-considerations#authorization-code-protection.
	req.challenge = q.Get("code_challenge")
	if q.Get("code_challenge_method") != "S256" || !isDigest(req.challenge) {
		return fail("invalid_request", "PKCE is required: a code_challenge, with the code_challenge_method S256")
	}
	if req.proofKey = q.Get("dpop_jkt"); req.proofKey != "" && !isDigest(req.proofKey) {
		return fail("invalid_request", "dpop_jkt is not a thumbprint")
	}
	var e *oauthError
	if req.resource, e = s.resource(q["resource"]); e != nil {
		return e
	}
	if req.scopes = splitScopes(q.Get("scope")); len(without(req.scopes, []string{offlineAccess})) == 0 {
		req.scopes = append(s.scopeNames(), req.scopes...)
	}
	// Spec: 2026-07-28 basic/authorization#refresh-tokens.
	if req.client.renews && !slices.Contains(req.scopes, offlineAccess) {
		req.scopes, req.implied = append(req.scopes, offlineAccess), true
	}
	if unknown := s.unknown(req.scopes); len(unknown) > 0 {
		return fail("invalid_scope", "the scopes are "+strings.Join(append(s.scopeNames(), offlineAccess), ", "))
	}
	req.prompt = strings.Fields(q.Get("prompt"))
	if slices.Contains(req.prompt, "none") && len(req.prompt) > 1 {
		return fail("invalid_request", "prompt combines none with something else")
	}
	return nil
}

// isDigest reports whether s is a SHA-256 digest as base64url.
func isDigest(s string) bool {
	return len(s) == 43 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

// resource returns the resource that a request names, in the server's own
// spelling. A token is for one resource. A request that names none is for the
// first.
//
// Spec: 2026-07-28 basic/authorization#resource-parameter-implementation.
func (s *Server) resource(named []string) (string, *oauthError) {
	if len(named) == 0 {
		return s.opts.Resources[0], nil
	}
	if len(named) == 1 {
		for _, known := range s.opts.Resources {
			if canonical(known) == canonical(named[0]) {
				return known, nil
			}
		}
	}
	return "", fail("invalid_target", "resource has to be one of "+strings.Join(s.opts.Resources, ", "))
}

// canonical returns a resource identifier for comparison.
//
// Spec: 2026-07-28 basic/authorization#canonical-server-uri.
func canonical(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || strings.Contains(s, "#") {
		return s
	}
	u.Host = strings.ToLower(u.Host)
	if u.Path == "/" {
		u.Path = ""
	}
	return u.String()
}

// respond sends the browser back to the client.
//
// Spec: 2026-07-28 basic/authorization#authorization-response-validation.
func (s *Server) respond(w http.ResponseWriter, req *request, answer url.Values) {
	if req.state != "" {
		answer.Set("state", req.state)
	}
	answer.Set("iss", s.opts.Issuer)
	// It is not parsed and reassembled, because it was registered verbatim.
	target, separator := req.redirect, "?"
	if strings.Contains(target, "?") {
		separator = "&"
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Location", target+separator+answer.Encode())
	w.WriteHeader(http.StatusSeeOther) // and never 307, which would post the user's password there
}

// trusted reports whether a browser may be redirected to the client without a
// decision of its user: it may if the redirect URI is on the user's own
// machine, or if whoever runs this server has named the client. Anybody can
// register any other client.
//
// Spec: 2026-07-28 basic/authorization/security-considerations#open-redirection.
func (req *request) trusted() bool {
	return req.client.kind == configured || !strings.HasPrefix(req.redirect, "https:")
}

// sentence turns an error text into a sentence.
func sentence(s string) string {
	return strings.ToUpper(s[:1]) + s[1:] + "."
}
