package authprobe

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/requirement"
	"github.com/parley-mcp/parley/internal/revision"
)

// garbage has the form of a token and means nothing.
const garbage = "parley-check.not-a-token.0000000000"

func upperHost(u *url.URL) string { return strings.ToUpper(u.Host) }

// What the endpoint makes of credentials that are no good.
var credentialProbes = []Probe{
	{
		Info: probe.Info{
			ID: "credentials/validated",
			Rows: []string{
				"26.basic.authorization.index-044", "2511.basic.authorization-061",
				"26.basic.authorization.security-033", "2511.basic.authorization-107",
				"26.basic.authorization.index-039", "2511.basic.authorization-056",
			},
			Does:    "Presents garbage, and tokens that name the issuer and the endpoint but are signed by nobody, with the algorithms none, RS256, ES256 and HS256.",
			Accepts: "None of them is served.",
			Mend:    "Verify the signature with the keys of the issuer, whatever algorithm the token names, or ask the issuer.",
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsGuard}, Run: refusesForged,
	},
	{
		Info: probe.Info{
			ID:      "credentials/unauthorized",
			Rows:    []string{"26.basic.authorization.index-047", "2511.basic.authorization-064"},
			Does:    "Presents tokens that are no good and looks at the status.",
			Accepts: "401.",
			Mend:    "Answer 401 to a token that is invalid, for whatever reason.",
			After:   []string{"credentials/validated"},
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsGuard}, Run: refusesWith401,
	},
	{
		Info: probe.Info{
			ID:      "credentials/malformed",
			Rows:    []string{"26.basic.authorization.index-058", "2511.basic.authorization-068"},
			Does:    "Sends the header Authorization without a token, with characters that no token has, twice, and with another scheme.",
			Accepts: "400, or 401 because there is no valid token.",
			Mend:    "Answer 400 to what can't be read as credentials.",
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsGuard}, Run: refusesMalformed,
	},
	{
		Info: probe.Info{
			ID:      "credentials/before-processing",
			Rows:    []string{"26.basic.authorization.security-032", "2511.basic.authorization-106"},
			Does:    "Presents a bad token with requests whose answers would tell that they were processed: unknown methods, notifications, calls.",
			Accepts: "Nothing but the refusal of the token.",
			Mend:    "Look at the token before the message is read.",
			After:   []string{"credentials/validated", "challenge/every-request"},
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsGuard}, Run: refusesBeforeProcessing,
	},
}

// forgeries are tokens that nobody issued.
func (x *X) forgeries() []string {
	resource := x.endpoint.String()
	if x.Resource != nil {
		if named := text(x.Resource.Value, "resource"); named != "" {
			resource = named
		}
	}
	all := []string{garbage}
	for _, algorithm := range []string{"none", "RS256", "ES256", "HS256"} {
		all = append(all, forged(x.Issuer, resource, algorithm))
	}
	return all
}

// Spec: 2026-07-28 basic/authorization#token-handling.
func refusesForged(x *X) probe.Finding {
	var seen *peer.Exchange
	for n, token := range x.forgeries() {
		for _, out := range []*peer.Out{x.list(), x.hello()} {
			e := x.Ask(Bearer(out, token))
			if took(e) {
				return fault(e, "a request is served with %s", [...]string{"a token that is garbage", "an unsigned token", "a token that nobody signed (RS256)", "a token that nobody signed (ES256)", "a token that nobody signed (HS256)"}[n])
			}
			if e.Status != 0 {
				seen = e
			}
		}
	}
	if seen == nil {
		return probe.Unverified("no request with a bad token was answered")
	}
	return probe.Pass(Of(seen)...)
}

// Spec: 2026-07-28 basic/authorization#token-handling.
func refusesWith401(x *X) probe.Finding {
	var seen *peer.Exchange
	for _, token := range x.forgeries() {
		e := x.Ask(Bearer(x.list(), token))
		switch {
		case e.Status == 0 || e.Status == http.StatusServiceUnavailable || e.Status == http.StatusTooManyRequests:
		case e.Status != http.StatusUnauthorized && !took(e):
			return fault(e, "an invalid token is answered with %d instead of 401", e.Status)
		default:
			seen = e
		}
	}
	if seen == nil {
		return probe.Unverified("the endpoint could not look at tokens when it was asked")
	}
	return probe.Pass(Of(seen)...)
}

// Spec: 2026-07-28 basic/authorization#error-handling.
func refusesMalformed(x *X) probe.Finding {
	for _, values := range [][]string{
		{"Bearer"},
		{"Bearer "},
		{"Bearer not a token"},
		{`Bearer "` + garbage + `"`},
		{"Bearer " + garbage, "Bearer " + garbage},
		{"Parley-Check " + garbage},
	} {
		e := x.Ask(x.list().With("Authorization", values...))
		if e.Status != 0 && e.Status != http.StatusBadRequest && e.Status != http.StatusUnauthorized {
			return fault(e, "malformed credentials (Authorization: %s) are answered with %d instead of 400", strings.Join(values, ", and again "), e.Status)
		}
	}
	return probe.Pass()
}

// refusesBeforeProcessing looks for answers that only somebody who has read the
// message can give.
//
// Spec: 2026-07-28 basic/authorization/security-considerations#access-token-privilege-restriction.
func refusesBeforeProcessing(x *X) probe.Finding {
	older, newer := revision.Default(nil, false), revision.Default(nil, true)
	notification := peer.Frame(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	for _, out := range []*peer.Out{
		x.Message(newer, "parley/no-such-method", nil), x.Message(older, "parley/no-such-method", nil),
		x.Message(newer, "tools/call", map[string]any{"name": "parley-check-no-such-tool", "arguments": map[string]any{}}),
		notification,
	} {
		e := x.Ask(Bearer(out, garbage))
		switch {
		case took(e):
			return fault(e, "%s is taken with a bad token", named(e))
		case len(e.Messages) > 0 && isAbout(e.Messages[0]):
			return fault(e, "%s is processed though the token is bad: the answer is about the request", named(e))
		}
	}
	return probe.Pass()
}

// isAbout reports whether an answer is one to the message: a result, or an error
// about methods or parameters.
func isAbout(m *peer.Message) bool {
	code, ok := m.Code()
	return m.IsResult() || ok && (code == -32601 || code == -32602)
}
