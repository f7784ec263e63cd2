package authprobe

import (
	"net/http"

	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/requirement"
)

// What clients of the revision before protected resource metadata need: the
// endpoint's origin is the authorization server.
var oldProbes = []Probe{
	{
		Info: probe.Info{
			ID:      "origin/metadata",
			Rows:    []string{"2503.basic.authorization-008", "2503.basic.authorization-002"},
			Does:    "Fetches /.well-known/oauth-authorization-server at the origin of the endpoint.",
			Accepts: "Metadata of RFC 8414 with the endpoints.",
			Mend:    "Serve the metadata of the authorization server at the origin of the endpoint as well.",
			After:   []string{"origin/endpoints"},
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsGuard}, Run: servesOrigin,
	},
	{
		Info: probe.Info{
			ID:      "origin/endpoints",
			Rows:    []string{"2503.basic.authorization-004", "2503.basic.authorization-009", "2503.basic.authorization-012"},
			Does:    "Looks for /authorize, /token and /register at the origin of an endpoint that has no metadata there.",
			Accepts: "Metadata at the origin's well-known path, or something at the first two.",
			Mend:    "Serve metadata at /.well-known/oauth-authorization-server of the origin, or the default endpoints.",
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsGuard}, Run: servesDefaults,
	},
	{
		Info: probe.Info{
			ID:      "origin/oauth",
			Rows:    []string{"2503.basic.authorization-001"},
			Does:    "Reads what the metadata at the origin says of PKCE and of the response type code.",
			Accepts: "S256 and code.",
			Mend:    "Support the authorization code grant with PKCE, and say so.",
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsGuard}, Run: originDoesOAuth,
	},
	{
		Info: probe.Info{
			ID:      "origin/registration",
			Rows:    []string{"2503.basic.authorization-015"},
			Does:    "Looks for registration_endpoint in the metadata at the origin.",
			Accepts: "A URL.",
			Mend:    "Let clients register (RFC 7591).",
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsGuard}, Run: originRegisters,
	},
}

// Spec: 2025-03-26 basic/authorization#server-metadata-discovery.
func servesOrigin(x *X) probe.Finding {
	switch d := x.Origin; {
	case d.Status == 0:
		return silent(d.Exchange)
	case !d.is() || text(d.Value, "authorization_endpoint") == "" || text(d.Value, "token_endpoint") == "":
		return fault(d.Exchange, "there is no metadata with endpoints at the origin of the endpoint (status %d)", d.Status)
	}
	return probe.Pass(Of(x.Origin.Exchange)...)
}

// Spec: 2025-03-26 basic/authorization#fallbacks-for-servers-without-metadata-discovery.
func servesDefaults(x *X) probe.Finding {
	if x.Origin.is() {
		return probe.Pass(Of(x.Origin.Exchange)...)
	}
	for _, path := range []string{"/authorize", "/token"} {
		e := x.Get(origin(x.endpoint) + path)
		if e.Status == 0 {
			return silent(e)
		}
		if e.Status == http.StatusNotFound {
			return probe.Fail(Of(x.Origin.Exchange, e), "the origin has neither metadata nor %s", path)
		}
	}
	return probe.Pass(Of(x.Origin.Exchange)...)
}

// Spec: 2025-03-26 basic/authorization#overview.
func originDoesOAuth(x *X) probe.Finding {
	d := x.Origin
	if !d.is() {
		return probe.Unverified("there is no metadata at the origin").Explained("origin/metadata")
	}
	if methods := texts(d.Value, "code_challenge_methods_supported"); !holds(methods, "S256") {
		return wrong(d, "/code_challenge_methods_supported", "code_challenge_methods_supported lacks S256")
	}
	if !holds(texts(d.Value, "response_types_supported"), "code") {
		return wrong(d, "/response_types_supported", "response_types_supported lacks code")
	}
	return probe.Pass(Of(d.Exchange)...)
}

// Spec: 2025-03-26 basic/authorization#dynamic-client-registration.
func originRegisters(x *X) probe.Finding {
	d := x.Origin
	if !d.is() {
		return probe.Unverified("there is no metadata at the origin").Explained("origin/metadata")
	}
	if text(d.Value, "registration_endpoint") == "" {
		if x.Metadata != nil && x.Metadata.URL == d.URL {
			return probe.Unverified("the document has no registration_endpoint, for which the authorization server is judged")
		}
		return wrong(d, "", "the metadata has no registration_endpoint")
	}
	return probe.Pass(Of(d.Exchange)...)
}
