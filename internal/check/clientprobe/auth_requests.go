package clientprobe

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"

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
