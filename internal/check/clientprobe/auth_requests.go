package clientprobe

import (
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/probe"
)

// What clients ask of the authorization server.
var authRequests = []Probe{
	{
		Info: probe.Info{
			ID:      "auth/pkce",
			Rows:    []string{"26.basic.authorization.security-013", "2511.basic.authorization-087", "2506.basic.authorization-007", "2503.basic.authorization-022", "2503.basic.authorization-001", "26.basic.index-037", "2511.basic-022"},
			Does:    "Looks for code_challenge in authorization requests and for its verifier in token requests.",
			Accepts: "A challenge in each, and a verifier whose hash it is.",
			Mend:    "Make a verifier for each request and send its hash.",
		},
		Needs: []string{needsHTTP}, In: loginScenarios,
		Watch: usesPKCE,
	},
	{
		Info: probe.Info{
			ID:      "auth/s256",
			Rows:    []string{"26.basic.authorization.security-015", "2511.basic.authorization-089"},
			Does:    "Looks at code_challenge_method.",
			Accepts: "S256.",
			Mend:    "Use S256.",
			After:   []string{"auth/pkce"},
		},
		Needs: []string{needsHTTP}, In: loginScenarios,
		Watch: usesS256,
	},
	{
		Info: probe.Info{
			ID:      "auth/resource",
			Rows:    []string{"26.basic.authorization.index-032", "2511.basic.authorization-049", "26.basic.authorization.index-031", "2511.basic.authorization-048", "26.basic.authorization.security-003", "2511.basic.authorization-079", "26.basic.authorization.security-037", "2511.basic.authorization-110", "26.basic.authorization.index-038", "2511.basic.authorization-055"},
			Does:    "Looks for resource in authorization and token requests.",
			Accepts: "It is in each.",
			Mend:    "Send resource with every authorization and token request.",
		},
		Needs: []string{needsHTTP}, In: loginScenarios,
		Watch: sendsResource,
	},
	{
		Info: probe.Info{
			ID:      "auth/resource-value",
			Rows:    []string{"26.basic.authorization.index-033", "2511.basic.authorization-050"},
			Does:    "Compares resource with the endpoint.",
			Accepts: "The origin of the endpoint, and a path that it is below.",
			Mend:    "Name the endpoint that the token is for.",
		},
		Needs: []string{needsHTTP}, In: loginScenarios,
		Watch: namesEndpoint,
	},
	{
		Info: probe.Info{
			ID:      "auth/resource-canonical",
			Rows:    []string{"26.basic.authorization.index-034", "2511.basic.authorization-051"},
			Does:    "Looks at the form of resource.",
			Accepts: "An absolute URI without a fragment.",
			Mend:    "Leave the fragment out.",
		},
		Needs: []string{needsHTTP}, In: loginScenarios,
		Watch: isCanonical,
	},
	{
		Info: probe.Info{
			ID:      "auth/resource-specific",
			Rows:    []string{"26.basic.authorization.index-035", "2511.basic.authorization-052"},
			Does:    "Compares resource with the path of the endpoint.",
			Accepts: "The path is in it.",
			Mend:    "Give the most specific URI.",
			After:   []string{"auth/resource-value"},
		},
		Needs: []string{needsHTTP}, In: loginScenarios,
		Watch: isSpecific,
	},
	{
		Info: probe.Info{
			ID:      "auth/resource-slash",
			Rows:    []string{"26.basic.authorization.index-037", "2511.basic.authorization-054"},
			Does:    "Looks at the end of resource.",
			Accepts: "No slash that the endpoint does not have.",
			Mend:    "Leave the slash out.",
			After:   []string{"auth/resource-value"},
		},
		Needs: []string{needsHTTP}, In: loginScenarios,
		Watch: hasNoSlash,
	},
	{
		Info: probe.Info{
			ID:      "auth/client-id",
			Rows:    []string{"26.basic.authorization.index-012"},
			Does:    "Looks for client_id in authorization requests.",
			Accepts: "It is there.",
			Mend:    "Get a client_id before the user is sent anywhere.",
		},
		Needs: []string{needsHTTP}, In: loginScenarios,
		Watch: hasClientID,
	},
	{
		Info: probe.Info{
			ID:      "auth/redirect-uri",
			Rows:    []string{"26.basic.authorization.security-011", "2511.basic.authorization-086", "2503.basic.authorization-020"},
			Does:    "Looks at redirect_uri of authorization requests and registrations.",
			Accepts: "https, or the loopback.",
			Mend:    "Use a redirect URI on localhost or with https.",
		},
		Needs: []string{needsHTTP}, In: loginScenarios,
		Watch: usesSafeRedirect,
	},
	{
		Info: probe.Info{
			ID:      "auth/redirect-registered",
			Rows:    []string{"26.basic.authorization.security-020", "2511.basic.authorization-094"},
			Does:    "Compares redirect_uri with those that the client registered.",
			Accepts: "One of them; on the loopback the port may differ.",
			Mend:    "Register the redirect URI that is used.",
		},
		Needs: []string{needsHTTP}, In: loginScenarios,
		Watch: usesRegistered,
	},
	{
		Info: probe.Info{
			ID:      "auth/state",
			Rows:    []string{"26.basic.authorization.security-022", "2511.basic.authorization-096"},
			Does:    "Answers with another state.",
			Accepts: "state is in requests, and no code is exchanged whose state is wrong.",
			Mend:    "Send state, and discard answers that do not have it.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth-state"},
		Watch: verifiesState,
	},
	{
		Info: probe.Info{
			ID:      "auth/application-type",
			Rows:    []string{"26.basic.authorization.registration-019"},
			Does:    "Looks for application_type in registrations.",
			Accepts: "native or web.",
			Mend:    "Send application_type.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth"},
		Watch: sendsType,
	},
	{
		Info: probe.Info{
			ID:      "auth/application-native",
			Rows:    []string{"26.basic.authorization.registration-020"},
			Does:    "Looks at application_type of registrations with redirect URIs on the loopback.",
			Accepts: "native.",
			Mend:    "Send native if the redirect URI is on the user's machine.",
			After:   []string{"auth/application-type"},
		},
		Needs: []string{needsHTTP}, In: []string{"auth"},
		Watch: isNative,
	},
	{
		Info: probe.Info{
			ID:      "auth/application-web",
			Rows:    []string{"26.basic.authorization.registration-021"},
			Does:    "Looks at application_type of registrations with redirect URIs elsewhere.",
			Accepts: "web.",
			Mend:    "Send web if the redirect URI is elsewhere.",
			After:   []string{"auth/application-type"},
		},
		Needs: []string{needsHTTP}, In: []string{"auth"},
		Watch: isWeb,
	},
	{
		Info: probe.Info{
			ID:      "auth/registers",
			Rows:    []string{"2506.basic.authorization-001", "2503.basic.authorization-015"},
			Does:    "Knows no clients but those that register.",
			Accepts: "A registration.",
			Mend:    "Register where there is no other way to get a client_id.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth"},
		Watch: registers,
	},
	{
		Info: probe.Info{
			ID:      "auth/registration-refused",
			Rows:    []string{"26.basic.authorization.registration-022"},
			Does:    "Refuses a registration with invalid_redirect_uri.",
			Accepts: "The client does not send its user on without a client_id that it was given.",
			Mend:    "Say why the login failed, or register again with other values.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth-refused"},
		Watch: handlesRefusal,
	},
	{
		Info: probe.Info{
			ID:      "auth/documents-support",
			Rows:    []string{"26.basic.authorization.registration-015", "2511.basic.authorization-041"},
			Does:    "Says that metadata documents of clients are not supported.",
			Accepts: "client_id is no URL.",
			Mend:    "Look at client_id_metadata_document_supported.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth"},
		Watch: checksDocuments,
	},
	{
		Info: probe.Info{
			ID: "auth/documents",
			Rows: []string{
				"26.basic.authorization.registration-002", "2511.basic.authorization-028", "26.basic.authorization.index-006", "2511.basic.authorization-007",
				"26.basic.authorization.registration-001", "2511.basic.authorization-027",
			},
			Does:    "Says that metadata documents of clients are supported, and registration too.",
			Accepts: "client_id is the URL of a document.",
			Mend:    "Publish a Client ID Metadata Document and use its URL where that is supported.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth-documents"},
		Watch: usesDocument,
	},
	{
		Info: probe.Info{
			ID: "auth/documents-url",
			Rows: []string{
				"26.basic.authorization.registration-005", "2511.basic.authorization-031", "26.basic.authorization.registration-004", "2511.basic.authorization-030",
				"2511.basic.authorization-029",
			},
			Does:    "Looks at a client_id that is a URL.",
			Accepts: "https and a path, without fragment, user and dot segments.",
			Mend:    "Publish the document with https, at a path.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth-documents"},
		Watch: namesDocument,
	},
	{
		Info: probe.Info{
			ID:      "auth/refresh-registered",
			Rows:    []string{"26.basic.authorization.index-052"},
			Does:    "Looks at grant_types of registrations.",
			Accepts: "refresh_token, if the client asks for offline_access.",
			Mend:    "Register the grant type refresh_token.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth"},
		Watch: registersRefresh,
	},
	{
		Info: probe.Info{
			ID:      "auth/upper-case",
			Rows:    []string{"26.basic.authorization.index-036", "2511.basic.authorization-053"},
			Does:    "Spells the scheme of resource in the metadata in upper case.",
			Accepts: "The client goes on.",
			Mend:    "Compare schemes and hosts without regard to case.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth-upper"},
		Watch: acceptsUpperCase,
	},
}

// Spec: 2026-07-28 basic/authorization/client-registration#client-id-metadata-documents.
func usesDocument(x *X, w *probe.Watch) {
	x.eachErrand(w, func(e *errand) string {
		if !strings.Contains(e.get("client_id"), "://") {
			return "client_id is no URL, though the authorization server supports metadata documents"
		}
		return ""
	}, pathAuthorize)
}

// Spec: 2026-07-28 basic/authorization/client-registration#implementation-requirements.
func namesDocument(x *X, w *probe.Watch) {
	for _, e := range x.errands(pathAuthorize) {
		id := e.get("client_id")
		u, err := url.Parse(id)
		switch {
		case !strings.Contains(id, "://"):
		case err != nil || u.Scheme != "https" || strings.Trim(u.Path, "/") == "" || u.User != nil || strings.Contains(id, "#") || strings.Contains(u.Path+"/", "/../"):
			w.FaultOf(e.blame(), "client_id is %s, which is no https URL with a path", id)
		default:
			w.SawExchange(e.Exchange)
		}
	}
}

// Spec: 2026-07-28 basic/authorization#refresh-tokens.
func registersRefresh(x *X, w *probe.Watch) {
	wants := slices.ContainsFunc(x.errands(pathAuthorize), func(e *errand) bool { return slices.Contains(strings.Fields(e.get("scope")), "offline_access") })
	for e, doc := range x.registrations() {
		grants, _ := doc["grant_types"].(list)
		switch {
		case slices.Contains(grants, any("refresh_token")):
			w.SawExchange(e.Exchange)
		case wants:
			w.FaultOf(e.blame(), "the client asks for offline_access and has not registered the grant type refresh_token")
		}
	}
}

// Spec: 2026-07-28 basic/authorization#canonical-server-uri.
func acceptsUpperCase(x *X, w *probe.Watch) {
	used := x.errands(pathAuthorize)
	for _, e := range x.errands(pathMetadata) {
		if len(used) == 0 {
			w.FaultOf(e.blame(), "the client gives up, because the scheme of resource is in upper case")
		} else {
			w.SawExchange(e.Exchange)
		}
	}
}

// Spec: 2026-07-28 basic/authorization/security-considerations#authorization-code-protection.
func usesPKCE(x *X, w *probe.Watch) {
	var challenges []string
	x.eachErrand(w, func(e *errand) string {
		challenges = append(challenges, e.get("code_challenge"))
		if e.get("code_challenge") == "" {
			return "the authorization request has no code_challenge"
		}
		return ""
	}, pathAuthorize)
	x.eachErrand(w, func(e *errand) string {
		sum := sha256.Sum256([]byte(e.get("code_verifier")))
		switch {
		case e.get("grant_type") != "authorization_code":
		case e.get("code_verifier") == "":
			return "the token request has no code_verifier"
		case !slices.Contains(challenges, base64.RawURLEncoding.EncodeToString(sum[:])) && !slices.Contains(challenges, e.get("code_verifier")):
			return "the code_verifier belongs to no code_challenge"
		}
		return ""
	}, pathToken)
}

// Spec: 2026-07-28 basic/authorization/security-considerations#authorization-code-protection.
func usesS256(x *X, w *probe.Watch) {
	x.eachErrand(w, func(e *errand) string {
		if e.get("code_challenge") != "" && e.get("code_challenge_method") != "S256" {
			return "code_challenge_method is not S256"
		}
		return ""
	}, pathAuthorize)
}

// Spec: 2026-07-28 basic/authorization#resource-parameter-implementation.
func sendsResource(x *X, w *probe.Watch) {
	x.eachErrand(w, func(e *errand) string {
		if e.get("resource") == "" {
			return "the request has no resource"
		}
		return ""
	}, pathAuthorize, pathToken)
}

// eachResource looks at the resource of requests that have one.
func (x *X) eachResource(w *probe.Watch, look func(u *url.URL) string) {
	x.eachErrand(w, func(e *errand) string {
		u, err := url.Parse(e.get("resource"))
		if e.get("resource") == "" {
			return ""
		}
		if err != nil {
			return ""
		}
		return look(u)
	}, pathAuthorize, pathToken)
}

// Spec: 2026-07-28 basic/authorization#resource-parameter-implementation.
func namesEndpoint(x *X, w *probe.Watch) {
	x.eachResource(w, func(u *url.URL) string {
		if !strings.EqualFold(u.Scheme+"://"+u.Host, x.Origin) || u.Path != "" && !strings.HasPrefix(pathMCP+"/", strings.TrimSuffix(u.Path, "/")+"/") {
			return "resource is " + u.String() + ", and the endpoint is " + x.Origin + pathMCP
		}
		return ""
	})
}

// Spec: 2026-07-28 basic/authorization#canonical-server-uri.
func isCanonical(x *X, w *probe.Watch) {
	x.eachErrand(w, func(e *errand) string {
		if r := e.get("resource"); strings.Contains(r, "#") || r != "" && !strings.Contains(r, "://") {
			return "resource is " + r + ", which is no absolute URI without a fragment"
		}
		return ""
	}, pathAuthorize, pathToken)
}

// Spec: 2026-07-28 basic/authorization#canonical-server-uri.
func isSpecific(x *X, w *probe.Watch) {
	x.eachResource(w, func(u *url.URL) string {
		if strings.TrimSuffix(u.Path, "/") != pathMCP {
			return "resource is " + u.String() + ", without the path of the endpoint"
		}
		return ""
	})
}

// Spec: 2026-07-28 basic/authorization#canonical-server-uri.
func hasNoSlash(x *X, w *probe.Watch) {
	x.eachResource(w, func(u *url.URL) string {
		if strings.HasSuffix(u.Path, "/") {
			return "resource is " + u.String() + ", with a slash at its end"
		}
		return ""
	})
}
