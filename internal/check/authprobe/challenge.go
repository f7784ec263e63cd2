package authprobe

import (
	"net/http"
	"net/url"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/requirement"
	"github.com/parley-mcp/parley/internal/wellknown"
)

// What the endpoint says to those who have no token.
var challengeProbes = []Probe{
	{
		Info: probe.Info{
			ID: "challenge/unauthorized",
			Rows: []string{
				"26.basic.authorization.index-056", "2503.basic.authorization-006", "2511.basic.authorization-068",
				"26.basic.authorization.index-002", "2511.basic.authorization-002",
			},
			Does:    "Sends requests without a token and looks at the status of those that are refused.",
			Accepts: "401 for POST. GET and DELETE may also be refused with 404 or 405.",
			Mend:    "Answer 401 with WWW-Authenticate where a token is missing.",
		},
		Role: requirement.Server, Needs: []string{needsEndpoint}, Run: refusesBare,
	},
	{
		Info: probe.Info{
			ID:      "challenge/every-request",
			Rows:    []string{"26.security.best-practices-016", "2511.security_best_practices-013"},
			Does:    "Sends requests of each kind without a token to an endpoint that refuses some of them.",
			Accepts: "All are refused.",
			Mend:    "Check the token of each request, before anything else is done with it.",
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsGuard}, Run: refusesAll,
	},
	{
		Info: probe.Info{
			ID:      "challenge/bearer",
			Rows:    []string{"26.basic.authorization.index-046", "2511.basic.authorization-063"},
			Does:    "Looks at WWW-Authenticate of answers with 401, without a token and with one that is garbage.",
			Accepts: "A challenge of the scheme Bearer (or DPoP), whose error, if a token was sent and there is one, is invalid_token.",
			Mend:    `Send WWW-Authenticate: Bearer error="invalid_token" with 401; leave error out if there was no token.`,
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsGuard}, Run: challengesBearer,
	},
	{
		Info: probe.Info{
			ID:      "challenge/resource-metadata",
			Rows:    []string{"2506.basic.authorization-004"},
			Does:    "Looks for resource_metadata in WWW-Authenticate of 401.",
			Accepts: "A URL.",
			Mend:    "Name the URL of the protected resource metadata in the parameter resource_metadata.",
			After:   []string{"challenge/bearer"},
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsGuard}, Run: namesMetadata,
	},
	{
		Info: probe.Info{
			ID:      "challenge/local",
			Rows:    []string{"26.security.best-practices-023", "2511.security_best_practices-019"},
			Does:    "Sends requests without a token to an endpoint on this machine, as any program on it can.",
			Accepts: "They are refused.",
			Mend:    "Ask for a token, use a socket with permissions, or serve over stdio.",
		},
		Role: requirement.Server, Needs: []string{needsEndpoint}, Run: refusesNeighbours,
	},
	{
		Info: probe.Info{
			ID:      "challenge/upper-case",
			Rows:    []string{"26.basic.authorization.index-036", "2511.basic.authorization-053"},
			Does:    "Sends a request without a token to the host in upper case.",
			Accepts: "What is answered to the host in lower case.",
			Mend:    "Compare hosts without regard to case.",
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsGuard}, Run: takesUpperCase,
	},
}

// refusesBare looks at the status with which requests are refused.
//
// Spec: 2026-07-28 basic/authorization#error-handling.
func refusesBare(x *X) probe.Finding {
	if !x.Guarded && x.Resource == nil {
		return probe.NotApplicable("the endpoint asks for no authorization")
	}
	var seen *peer.Exchange
	for _, e := range x.Bare {
		switch {
		case e.Status == 0, took(e), e.Status >= 500, e.Method != http.MethodPost && e.Status != http.StatusForbidden:
		case e.Status == http.StatusUnauthorized:
			seen = e
		case e.Status == http.StatusForbidden, !x.Guarded:
			return fault(e, "a request without a token is refused with %d instead of 401", e.Status)
		}
	}
	if seen == nil {
		return probe.Unverified("no request without a token was refused")
	}
	return probe.Pass(Of(seen)...)
}

// refusesAll looks for requests that are served without a token.
//
// Spec: 2026-07-28 guides/security_best_practices#state-handle-hijacking.
func refusesAll(x *X) probe.Finding {
	for _, e := range x.Bare {
		if took(e) {
			return fault(e, "%s is served without a token, though other requests are refused", named(e))
		}
	}
	return probe.Pass(Of(x.Bare[0])...)
}

// named is what a request asks for.
func named(e *peer.Exchange) string {
	if e.Message != nil && e.Message.Method != "" {
		return e.Message.Method
	}
	return e.Method
}

// challengesBearer looks at the challenges.
//
// Spec: 2026-07-28 basic/authorization#token-handling.
func challengesBearer(x *X) probe.Finding {
	bad := x.Ask(Bearer(x.list(), garbage))
	for _, e := range append(x.Bare[:len(x.Bare):len(x.Bare)], bad) {
		if e.Status != http.StatusUnauthorized {
			continue
		}
		c := bearer(e)
		switch {
		case c == nil:
			return fault(e, "the answer has the status 401 and no challenge for a bearer token in WWW-Authenticate")
		case e == bad && c.Get("error") != "" && c.Get("error") != "invalid_token":
			return fault(e, "a token that is garbage is answered with the error %q instead of invalid_token", c.Get("error"))
		}
	}
	return probe.Pass(Of(x.First)...)
}

// Spec: 2025-06-18 basic/authorization#authorization-server-location.
func namesMetadata(x *X) probe.Finding {
	c := bearer(x.First)
	if c == nil {
		return probe.Unverified("there is no challenge")
	}
	named := c.Get("resource_metadata")
	u, err := url.Parse(named)
	switch {
	case named == "":
		return fault(x.First, "WWW-Authenticate of the 401 does not name resource_metadata")
	case err != nil || u.Host == "":
		return fault(x.First, "resource_metadata is %q, which is no URL", named)
	}
	return probe.Pass(Of(x.First)...)
}

// Spec: 2026-07-28 guides/security_best_practices#local-mcp-server-compromise.
func refusesNeighbours(x *X) probe.Finding {
	if !isLocal(x.endpoint.String()) {
		return probe.NotApplicable("the endpoint is not on this machine")
	}
	if !x.Guarded {
		return fault(x.Bare[0], "any program on this machine can use the endpoint: nothing is asked of it")
	}
	return probe.Pass(Of(x.First)...)
}

// Spec: 2026-07-28 basic/authorization#canonical-server-uri.
func takesUpperCase(x *X) probe.Finding {
	lower := x.Ask(x.list())
	upper := x.Ask(x.list().With("Host", upperHost(x.endpoint)))
	switch {
	case lower.Status == 0:
		return silent(lower)
	case upper.Status == 0:
		return silent(upper)
	case lower.Status != upper.Status:
		return probe.Fail(Of(lower, upper), "the host in upper case is answered with %d instead of %d", upper.Status, lower.Status)
	}
	for _, at := range wellknown.Resources(x.endpoint) {
		if x.Resource != nil && x.Resource.URL == at {
			e := x.Ask((&peer.Out{HTTPMethod: http.MethodGet, URL: at}).With("Host", upperHost(x.endpoint)))
			if e.Status != 0 && e.Status != http.StatusOK {
				return probe.Fail(Of(e), "the metadata is not found at the host in upper case")
			}
		}
	}
	return probe.Pass(Of(upper)...)
}
