package clientprobe

import (
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/wellknown"
)

// How clients find the authorization server.
var authDiscovery = []Probe{
	{
		Info: probe.Info{
			ID:      "auth/named-metadata",
			Rows:    []string{"26.basic.authorization.discovery-006", "2511.basic.authorization-015", "26.basic.authorization.discovery-008", "2511.basic.authorization-022", "26.basic.authorization.index-009", "2511.basic.authorization-010"},
			Does:    "Names the metadata of the endpoint in the challenge, among another one, at a place that is not well known.",
			Accepts: "A request for it.",
			Mend:    "Read resource_metadata of the challenge whose scheme is Bearer.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth"},
		Watch: readsNamed,
	},
	{
		Info: probe.Info{
			ID:      "auth/well-known-order",
			Rows:    []string{"26.basic.authorization.discovery-007", "2511.basic.authorization-016"},
			Does:    "Names no metadata and has it at the root only.",
			Accepts: "The well-known place with the path of the endpoint is tried, and then the root.",
			Mend:    "Without resource_metadata try both well-known places, the specific one first.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth-tenant"},
		Watch: triesResource,
	},
	{
		Info: probe.Info{
			ID:      "auth/issuer-path",
			Rows:    []string{"26.basic.authorization.discovery-010", "2511.basic.authorization-025"},
			Does:    "Names an issuer with a path whose document is at the last place.",
			Accepts: "The three places in the order of the page.",
			Mend:    "Try oauth-authorization-server and openid-configuration with the path inserted, then openid-configuration below the path.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth-tenant"},
		Watch: triesTenant,
	},
	{
		Info: probe.Info{
			ID:      "auth/issuer-origin",
			Rows:    []string{"26.basic.authorization.discovery-011", "2511.basic.authorization-026"},
			Does:    "Names an issuer without a path whose document is at the second place.",
			Accepts: "oauth-authorization-server, then openid-configuration.",
			Mend:    "Try both places, in this order.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth-openid"},
		Watch: triesOrigin,
	},
	{
		Info: probe.Info{
			ID:      "auth/both-discoveries",
			Rows:    []string{"26.basic.authorization.index-011", "2511.basic.authorization-012", "26.basic.authorization.discovery-009", "2511.basic.authorization-024"},
			Does:    "Has its metadata at a place of OpenID Connect only.",
			Accepts: "The client goes on to the authorization endpoint.",
			Mend:    "Take metadata from either place.",
			After:   []string{"auth/issuer-origin", "auth/issuer-path"},
		},
		Needs: []string{needsHTTP}, In: []string{"auth-openid", "auth-tenant"},
		Watch: findsOpenID,
	},
	{
		Info: probe.Info{
			ID:      "auth/rfc8414",
			Rows:    []string{"2506.basic.authorization-003", "2506.basic.authorization-005"},
			Does:    "Looks for the requests for metadata of the authorization server.",
			Accepts: "The place of RFC 8414 is tried first.",
			Mend:    "Ask for /.well-known/oauth-authorization-server.",
		},
		Needs: []string{needsHTTP}, In: loginScenarios,
		Watch: asksRFC8414,
	},
	{
		Info: probe.Info{
			ID:      "auth/issuer-match",
			Rows:    []string{"26.basic.authorization.discovery-013", "26.basic.authorization.discovery-012"},
			Does:    "Has metadata whose issuer is another one.",
			Accepts: "The client does not use it.",
			Mend:    "Compare issuer with the one that the URL was made from, as strings.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth-other-issuer"},
		Watch: refusesOtherIssuer,
	},
	{
		Info: probe.Info{
			ID:      "auth/pkce-support",
			Rows:    []string{"26.basic.authorization.security-017", "2511.basic.authorization-091", "26.basic.authorization.security-014", "2511.basic.authorization-088", "26.basic.authorization.security-016", "2511.basic.authorization-090"},
			Does:    "Has metadata of RFC 8414 without code_challenge_methods_supported.",
			Accepts: "The client does not go on.",
			Mend:    "Refuse authorization servers that do not say that they support PKCE.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth-no-pkce"},
		Watch: refusesNoPKCE,
	},
	{
		Info: probe.Info{
			ID:      "auth/pkce-support-openid",
			Rows:    []string{"26.basic.authorization.security-018", "2511.basic.authorization-092"},
			Does:    "Has metadata of OpenID Connect without code_challenge_methods_supported.",
			Accepts: "The client does not go on.",
			Mend:    "Refuse authorization servers that do not say that they support PKCE.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth-openid-no-pkce"},
		Watch: refusesNoPKCE,
	},
	{
		Info: probe.Info{
			ID:      "auth/https",
			Rows:    []string{"26.basic.authorization.security-010", "26.security.best-practices-011", "2511.security_best_practices-009", "26.security.best-practices-031", "2511.security_best_practices-026"},
			Does:    "Names a token endpoint with http on another host.",
			Accepts: "The client does not go on.",
			Mend:    "Refuse endpoints that are neither https nor on this machine.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth-http"},
		Watch: refusesHTTP,
	},
	{
		Info: probe.Info{
			ID:      "auth/origin-metadata",
			Rows:    []string{"2503.basic.authorization-012", "2503.basic.authorization-011", "2503.basic.authorization-003", "2503.basic.authorization-007"},
			Does:    "Looks for the requests for metadata when the endpoint names none.",
			Accepts: "/.well-known/oauth-authorization-server at the origin, without the path of the endpoint.",
			Mend:    "Ask at the origin of the endpoint.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth"},
		Watch: asksOrigin,
	},
	{
		Info: probe.Info{
			ID:      "auth/version-header",
			Rows:    []string{"2503.basic.authorization-010"},
			Does:    "Looks at the headers of the request for metadata at the origin.",
			Accepts: "MCP-Protocol-Version.",
			Mend:    "Send MCP-Protocol-Version with it.",
			After:   []string{"auth/origin-metadata"},
		},
		Needs: []string{needsHTTP}, In: []string{"auth"},
		Watch: sendsVersion,
	},
	{
		Info: probe.Info{
			ID:      "auth/default-endpoints",
			Rows:    []string{"2503.basic.authorization-013", "2503.basic.authorization-014"},
			Does:    "Has no metadata at the origin.",
			Accepts: "The client asks for it, and then uses /authorize, /token and /register.",
			Mend:    "Use the default paths where there is no metadata.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth-tenant"},
		Watch: usesDefaults,
	},
}

// Spec: 2026-07-28 basic/authorization/authorization-server-discovery#protected-resource-metadata-discovery-requirements.
func readsNamed(x *X, w *probe.Watch) {
	all := x.errands()
	for _, e := range all {
		if e.url.Path == pathMetadata {
			w.SawExchange(e.Exchange)
			return
		}
	}
	if len(all) > 0 {
		w.FaultOf(all[0].blame(), "the client did not ask for the metadata that the challenge names, but for %s", all[0].url.Path)
	}
}

// inOrder says whether places were tried in an order; the client may stop early
// where it found what it looked for.
func (x *X) inOrder(w *probe.Watch, tried, want []string) {
	if len(tried) == 0 {
		return
	}
	if len(tried) < len(want) || !slices.Equal(tried[:len(want)], want) {
		w.FaultOf(x.errands()[0].blame(), "the client tried %s, and should try %s", strings.Join(tried, ", "), strings.Join(want, ", "))
		return
	}
	w.SawExchange(x.errands()[0].Exchange)
}

// Spec: 2026-07-28 basic/authorization/authorization-server-discovery#protected-resource-metadata-discovery-requirements.
func triesResource(x *X, w *probe.Watch) {
	x.inOrder(w, x.paths(wellknown.Resource), []string{wellknown.Resource + pathMCP, wellknown.Resource})
}

// servers are the places for authorization servers that were tried.
func (x *X) servers() []string {
	return slices.DeleteFunc(x.paths("/.well-known/"), func(path string) bool { return strings.HasPrefix(path, wellknown.Resource) })
}

// Spec: 2026-07-28 basic/authorization/authorization-server-discovery#authorization-server-metadata-discovery.
func triesTenant(x *X, w *probe.Watch) {
	x.inOrder(w, x.servers(), []string{wellknown.OAuth + "/tenant", wellknown.OpenID + "/tenant", "/tenant" + wellknown.OpenID})
}

// Spec: 2026-07-28 basic/authorization/authorization-server-discovery#authorization-server-metadata-discovery.
func triesOrigin(x *X, w *probe.Watch) {
	x.inOrder(w, x.servers(), []string{wellknown.OAuth, wellknown.OpenID})
}

// Spec: 2026-07-28 basic/authorization#overview.
func findsOpenID(x *X, w *probe.Watch) {
	used := x.errands(pathAuthorize)
	for _, e := range x.errands() {
		switch {
		case !strings.Contains(e.url.Path, wellknown.OpenID) || e.Status != 200:
		case len(used) == 0:
			w.FaultOf(e.blame(), "the client has read the document of OpenID Connect and does not use it")
		default:
			w.SawExchange(e.Exchange)
		}
	}
}

// Spec: 2025-06-18 basic/authorization#authorization-server-discovery.
func asksRFC8414(x *X, w *probe.Watch) {
	if tried := x.servers(); len(tried) > 0 && !strings.HasPrefix(tried[0], wellknown.OAuth) {
		w.FaultOf(x.errands()[0].blame(), "the client asked for %s and not first for the metadata of RFC 8414", tried[0])
	} else if len(tried) > 0 {
		w.SawExchange(x.errands()[0].Exchange)
	}
}

// Spec: 2026-07-28 basic/authorization/authorization-server-discovery#authorization-server-metadata-discovery.
func refusesOtherIssuer(x *X, w *probe.Watch) {
	x.forbidden(w, wellknown.OAuth, "the client uses metadata that says that it is of another issuer", pathAuthorize, pathRegister, pathToken)
}

// Spec: 2026-07-28 basic/authorization/security-considerations#authorization-code-protection.
func refusesNoPKCE(x *X, w *probe.Watch) {
	x.forbidden(w, "/.well-known/o", "the client goes on though the metadata does not say that PKCE is supported", pathAuthorize, pathToken)
}

// Spec: 2026-07-28 basic/authorization/security-considerations#communication-security.
func refusesHTTP(x *X, w *probe.Watch) {
	x.forbidden(w, wellknown.OAuth, "the client goes on though its code would go to a token endpoint without encryption", pathAuthorize, pathToken)
}

// Spec: 2025-03-26 basic/authorization#authorization-base-url.
func asksOrigin(x *X, w *probe.Watch) {
	if tried := x.servers(); len(tried) > 0 && !slices.Contains(tried, wellknown.OAuth) {
		w.FaultOf(x.errands()[0].blame(), "the client asked for %s and not for the metadata at the origin", strings.Join(tried, ", "))
	} else if len(tried) > 0 {
		w.SawExchange(x.errands()[0].Exchange)
	}
}

// Spec: 2025-03-26 basic/authorization#server-metadata-discovery-headers.
func sendsVersion(x *X, w *probe.Watch) {
	x.eachErrand(w, func(e *errand) string {
		if e.Header.Get("Mcp-Protocol-Version") == "" {
			return "the request for metadata has no MCP-Protocol-Version"
		}
		return ""
	}, wellknown.OAuth)
}

// Spec: 2025-03-26 basic/authorization#fallbacks-for-servers-without-metadata-discovery.
func usesDefaults(x *X, w *probe.Watch) {
	used := x.errands(pathAuthorize, pathToken, pathRegister)
	for _, e := range x.errands(wellknown.OAuth) {
		if len(used) == 0 && len(x.errands(wellknown.OpenID)) == 0 {
			w.FaultOf(e.blame(), "the client gives up where there is no metadata at the origin")
		} else if len(used) > 0 {
			w.SawExchange(e.Exchange)
		}
	}
	if len(used) > 0 && len(x.errands(wellknown.OAuth)) == 0 {
		w.FaultOf(used[0].blame(), "the client uses the default paths without having asked for metadata")
	}
}
