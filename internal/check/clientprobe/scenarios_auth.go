package clientprobe

import (
	"net/url"

	"github.com/parley-mcp/parley/internal/check/peer"
)

// authScenarios want tokens. Logging in takes no person: the page sends a
// browser back at once.
var authScenarios = []Scenario{
	auth("auth", "Wants a token, names its metadata in the challenge, and wants one scope more for a tool.",
		guarding{Scope: "read", Supported: []string{"read", "list"}, More: "write"}),
	auth("auth-tenant", "Has its metadata at the last of the places: an issuer with a path, by OpenID Connect.",
		guarding{Bare: true, Path: "/tenant", Place: 2, Supported: []string{"read", "list"}}),
	auth("auth-openid", "Has its metadata at the place of OpenID Connect only, and names no scopes.", guarding{Place: 1}),
	auth("auth-other-issuer", "Has metadata of another issuer.",
		guarding{Metadata: func(_ *Stage, doc object) { doc["issuer"] = "https://other.example.com" }}),
	auth("auth-no-pkce", "Does not say that it supports PKCE.",
		guarding{Metadata: func(_ *Stage, doc object) { delete(doc, "code_challenge_methods_supported") }}),
	auth("auth-openid-no-pkce", "Does not say in the document of OpenID Connect that it supports PKCE.",
		guarding{Place: 1, Metadata: func(_ *Stage, doc object) { delete(doc, "code_challenge_methods_supported") }}),
	auth("auth-http", "Has a token endpoint without encryption, elsewhere.",
		guarding{Metadata: func(_ *Stage, doc object) { doc["token_endpoint"] = "http://parley-check.invalid/token" }}),
	auth("auth-iss-wrong", "Answers with the iss of somebody else.",
		guarding{Answer: func(_ *Stage, a url.Values) { a.Set("iss", "https://other.example.com") }}),
	auth("auth-iss-missing", "Leaves iss out of the answer, though it says that it is there.",
		guarding{Answer: func(_ *Stage, a url.Values) { a.Del("iss") }}),
	auth("auth-iss-unannounced", "Answers with the iss of somebody else, and has not said that there is one.",
		guarding{Metadata: noIssuer, Answer: func(_ *Stage, a url.Values) { a.Set("iss", "https://other.example.com") }}),
	auth("auth-iss-none", "Has no iss, and has not said that there is one.",
		guarding{Metadata: noIssuer, Answer: func(_ *Stage, a url.Values) { a.Del("iss") }}),
	auth("auth-iss-slash", "Answers with an iss that differs in a slash.",
		guarding{Answer: func(_ *Stage, a url.Values) { a.Set("iss", a.Get("iss")+"/") }}),
	auth("auth-state", "Answers with another state.",
		guarding{Answer: func(_ *Stage, a url.Values) { a.Set("state", "another") }}),
	auth("auth-refused", "Refuses the client's redirect URI when it registers.", guarding{Refuses: true}),
	auth("auth-documents", "Takes clients by the URL of their metadata document.",
		guarding{Metadata: func(_ *Stage, doc object) { doc["client_id_metadata_document_supported"] = true }}),
	auth("auth-upper", "Spells the scheme of the endpoint in upper case in its metadata.", guarding{Upper: true}),
	auth("auth-never", "Wants more scopes, however many a token has.", guarding{Scope: "read", More: "write", Never: true}),
	auth("auth-moves", "Names another authorization server after the first one was used.", guarding{Scope: "read", Moves: true}),
}

func noIssuer(_ *Stage, doc object) { delete(doc, "authorization_response_iss_parameter_supported") }

// auth makes a scenario of a guarding.
func auth(name, does string, g guarding) Scenario {
	return Scenario{
		Name: name, Does: does, Do: "Connect, log in if you are asked to, call the tool add, list everything.",
		Needs: []string{needsHTTP}, As: asItself,
		Visit: func(s *Stage, v *peer.Visit) bool { return g.visit(s, v) },
	}
}
