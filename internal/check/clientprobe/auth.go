package clientprobe

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/wellknown"
)

// The paths of the scripted authorization server.
const (
	pathAuthorize = "/authorize"
	pathToken     = "/token"
	pathRegister  = "/register"
	pathMetadata  = "/metadata/of/the/endpoint"
)

// guarding is a scripted authorization server with an endpoint that wants its
// tokens: a good one, but for what its fields say. It keeps nothing: codes and
// tokens say themselves what they are for.
type guarding struct {
	// Bare leaves resource_metadata out of challenges: the document is then at the
	// root of the origin only.
	Bare bool
	// Scope is what challenges ask for, and Supported what the metadata of the
	// endpoint lists; "" and nil leave them out.
	Scope     string
	Supported []string
	// More is a scope that the tool add needs in addition, or "". Never makes the
	// endpoint refuse each token that has it.
	More  string
	Never bool
	// Path is that of the issuer, and Place the well-known place where its metadata
	// is: 0 is the first that clients try.
	Path  string
	Place int
	// Metadata may change the metadata, and Answer what is sent through the
	// browser.
	Metadata func(s *Stage, metadata object)
	Answer   func(s *Stage, answer url.Values)
	// Refuses refuses registrations.
	Refuses bool
	// Upper spells the scheme of the endpoint in upper case in its metadata.
	Upper bool
	// Moves makes the endpoint name another issuer once it was used.
	Moves bool
}

// issuer is the identifier of the authorization server.
func (g *guarding) issuer(s *Stage) string {
	switch {
	case !s.Facts.ResourceMetadata:
		return s.Origin // the only place where clients look
	case g.Moves && s.Marked("moved") != nil:
		return s.Origin + "/second"
	}
	return s.Origin + g.Path
}

// visit answers what is not for the endpoint, and what has no token.
func (g *guarding) visit(s *Stage, v *peer.Visit) bool {
	path := strings.TrimPrefix(v.Path(), "/second")
	switch {
	case v.Path() == pathMCP:
		return g.guard(s, v)
	case s.Facts.ResourceMetadata && (v.Path() == pathMetadata && !g.Bare || v.Path() == wellknown.Resource && g.Bare):
		g.resource(s, v)
	case g.isPlace(s, v.Path()):
		g.metadata(s, v)
	case path == pathRegister:
		g.register(s, v)
	case path == pathAuthorize:
		g.authorize(s, v)
	case path == pathToken:
		g.token(s, v)
	default:
		v.Respond(http.StatusNotFound, nil, []byte("nothing is here"), false)
	}
	return true
}

// granted are the scopes of the token that a request has.
func granted(e *peer.Exchange) ([]string, bool) {
	token, ok := strings.CutPrefix(e.Header.Get("Authorization"), "Bearer token.")
	scopes, err := url.QueryUnescape(token)
	_, scopes, _ = strings.Cut(scopes, " of ")
	return strings.Fields(scopes), ok && err == nil
}

// guard refuses requests whose token is missing or does not suffice.
func (g *guarding) guard(s *Stage, v *peer.Visit) bool {
	scopes, ok := granted(v.Exchange)
	calls := v.Message != nil && v.Message.Method == "tools/call" && v.Message.Text("params/name") == "add"
	switch {
	case !ok, g.Moves && calls && s.Count("moves") == 0:
		if ok {
			s.Mark("moved", v.Message)
		}
		v.Respond(http.StatusUnauthorized, http.Header{"Www-Authenticate": {g.challenge(s, "", g.Scope)}}, nil, false)
	case g.More != "" && calls && (g.Never || !slices.Contains(scopes, g.More)):
		s.Mark("narrow", v.Message)
		v.Respond(http.StatusForbidden, http.Header{"Www-Authenticate": {g.challenge(s, "insufficient_scope", g.More)}}, nil, false)
	default:
		return false
	}
	return true
}

// challenge has what clients must be able to read: another scheme before, and
// commas within quotes.
func (g *guarding) challenge(s *Stage, code, scope string) string {
	text := `Basic realm="a, b", Bearer realm="mcp, the \"endpoint\""`
	if !g.Bare && s.Facts.ResourceMetadata {
		text += `, resource_metadata="` + s.Origin + pathMetadata + `"`
	}
	if scope != "" {
		text += `, scope="` + scope + `"`
	}
	if code != "" {
		text += `, error="` + code + `"`
	}
	return text
}

func (g *guarding) resource(s *Stage, v *peer.Visit) {
	doc := object{"resource": s.Origin + pathMCP, "authorization_servers": list{g.issuer(s)}, "bearer_methods_supported": list{"header"}}
	if g.Upper {
		doc["resource"] = strings.Replace(s.Origin, "http", "HTTP", 1) + pathMCP
	}
	if g.Supported != nil {
		doc["scopes_supported"] = g.Supported
	}
	respondJSON(v, http.StatusOK, doc)
}

// isPlace reports whether the metadata of the issuer is at a path.
func (g *guarding) isPlace(s *Stage, path string) bool {
	u, err := url.Parse(g.issuer(s))
	if err != nil {
		return false
	}
	places := wellknown.Issuers(u)
	return s.Origin+path == places[min(g.Place, len(places)-1)]
}

func (g *guarding) metadata(s *Stage, v *peer.Visit) {
	issuer := g.issuer(s)
	at := strings.TrimSuffix(issuer, g.Path)
	doc := object{
		"issuer": issuer, "authorization_endpoint": at + pathAuthorize, "token_endpoint": at + pathToken, "registration_endpoint": at + pathRegister,
		"response_types_supported": list{"code"}, "grant_types_supported": list{"authorization_code", "refresh_token"},
		"code_challenge_methods_supported": list{"S256"}, "token_endpoint_auth_methods_supported": list{"none"},
		"authorization_response_iss_parameter_supported": true, "client_id_metadata_document_supported": false,
	}
	if g.Metadata != nil {
		g.Metadata(s, doc)
	}
	respondJSON(v, http.StatusOK, doc)
}

func (g *guarding) register(s *Stage, v *peer.Visit) {
	asked, err := peer.Decode(v.Exchange.Body)
	doc, ok := asked.(object)
	if g.Refuses || err != nil || !ok {
		respondJSON(v, http.StatusBadRequest, object{"error": "invalid_redirect_uri", "error_description": "the redirect URI is not allowed for this type"})
		return
	}
	doc["client_id"] = fmt.Sprintf("client-%d", s.Count("clients")+1)
	if v.Path() != pathRegister {
		doc["client_id"] = "second-" + doc["client_id"].(string) //nolint:forcetypeassert // it was set above
	}
	doc["token_endpoint_auth_method"] = "none"
	respondJSON(v, http.StatusCreated, doc)
}

// authorize sends the browser back at once, as if somebody had consented.
func (g *guarding) authorize(s *Stage, v *peer.Visit) {
	to, err := url.Parse(v.Query("redirect_uri"))
	if err != nil || to.Host == "" {
		v.Respond(http.StatusBadRequest, nil, []byte("there is no redirect_uri"), false)
		return
	}
	answer := url.Values{"code": {"code of " + v.Query("scope")}, "state": {v.Query("state")}, "iss": {g.issuer(s)}}
	if g.Answer != nil {
		g.Answer(s, answer)
	}
	q := to.Query()
	maps.Copy(q, answer)
	to.RawQuery = q.Encode()
	v.Respond(http.StatusFound, http.Header{"Location": {to.String()}}, nil, false)
}

func (g *guarding) token(s *Stage, v *peer.Visit) {
	form := formOf(v.Exchange)
	_, scope, _ := strings.Cut(form.Get("code")+form.Get("refresh_token"), " of ")
	issued := object{
		"access_token": "token." + url.QueryEscape(fmt.Sprintf("%d of %s", s.Count("tokens"), scope)), "token_type": "Bearer", "expires_in": 3600, "scope": scope,
	}
	respondJSON(v, http.StatusOK, issued)
}

// formOf are the parameters of a form that was posted.
func formOf(e *peer.Exchange) url.Values {
	form, _ := url.ParseQuery(string(e.Body)) // what can be read of it
	return form
}

func respondJSON(v *peer.Visit, status int, doc object) {
	v.Respond(status, http.Header{"Content-Type": {"application/json"}, "Cache-Control": {"no-store"}}, peer.Encode(doc), false)
}
