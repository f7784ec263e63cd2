package clientprobe

import (
	"net/url"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

// What clients do with tokens, and with those of another server.
var authTokens = []Probe{
	{
		Info: probe.Info{
			ID:      "auth/bearer",
			Rows:    []string{"26.basic.authorization.index-040", "2511.basic.authorization-057", "26.basic.authorization.index-039", "2511.basic.authorization-056"},
			Does:    "Looks at how tokens come to the endpoint.",
			Accepts: "In the header Authorization, with the scheme Bearer.",
			Mend:    "Send Authorization: Bearer with the token.",
		},
		Needs: []string{needsHTTP}, In: loginScenarios,
		Watch: sendsBearer,
	},
	{
		Info: probe.Info{
			ID:      "auth/every-request",
			Rows:    []string{"26.basic.authorization.index-041", "2511.basic.authorization-058"},
			Does:    "Looks at the requests to the endpoint after the first one with a token.",
			Accepts: "All have one.",
			Mend:    "Send the token with every request.",
		},
		Needs: []string{needsHTTP}, In: loginScenarios,
		Watch: sendsAlways,
	},
	{
		Info: probe.Info{
			ID:      "auth/not-in-query",
			Rows:    []string{"26.basic.authorization.index-042", "2511.basic.authorization-059"},
			Does:    "Looks for tokens in the URLs of requests.",
			Accepts: "There is none.",
			Mend:    "Leave tokens out of URLs.",
		},
		Needs: []string{needsHTTP}, In: loginScenarios,
		Watch: keepsOutOfURLs,
	},
	{
		Info: probe.Info{
			ID:      "auth/refresh",
			Rows:    []string{"26.basic.authorization.index-054"},
			Does:    "Issues no refresh token.",
			Accepts: "No request with one.",
			Mend:    "Take refresh tokens only if they were issued.",
		},
		Needs: []string{needsHTTP}, In: loginScenarios,
		Watch: assumesNoRefresh,
	},
	{
		Info: probe.Info{
			ID:      "auth/other-server",
			Rows:    []string{"26.basic.authorization.registration-026", "26.basic.authorization.discovery-004", "26.basic.authorization.registration-025", "26.basic.authorization.discovery-003", "26.basic.authorization.registration-027", "26.changelog-009"},
			Does:    "Names another authorization server in its metadata after the first one was used.",
			Accepts: "The client_id of the first one is not used there; the client registers anew.",
			Mend:    "Keep clients by issuer.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth-moves"},
		Watch: registersAnew,
	},
	{
		Info: probe.Info{
			ID:      "auth/other-tokens",
			Rows:    []string{"26.basic.authorization.index-048", "2511.basic.authorization-065"},
			Does:    "Looks at the tokens that come after the second authorization server issued one.",
			Accepts: "Its tokens.",
			Mend:    "Keep tokens by issuer.",
			After:   []string{"auth/other-server"},
		},
		Needs: []string{needsHTTP}, In: []string{"auth-moves"},
		Watch: usesNewToken,
	},
}

// calls are the requests to the endpoint, in order.
func (x *X) calls() []*peer.Exchange {
	return slices.DeleteFunc(x.Log.Exchanges(), func(e *peer.Exchange) bool {
		u, err := url.Parse(e.URL)
		return err != nil || !e.Incoming || u.Path != pathMCP
	})
}

// issued is the first exchange in which a token was issued, or nil.
func (x *X) issued() *errand {
	for _, e := range x.errands(pathToken) {
		if e.Status == 200 {
			return e
		}
	}
	return nil
}

// Spec: 2026-07-28 basic/authorization#token-requirements.
func sendsBearer(x *X, w *probe.Watch) {
	first := x.issued()
	if first == nil {
		return
	}
	for _, e := range x.calls() {
		if e.Number > first.Number && strings.HasPrefix(e.Header.Get("Authorization"), "Bearer ") {
			w.SawExchange(e)
			return
		}
	}
	for _, e := range x.calls() {
		if e.Number > first.Number && !x.ByHand {
			w.FaultOf([]probe.Blame{{Exchange: e}}, "the client was given a token and sends none as Authorization: Bearer")
			return
		}
	}
}

// Spec: 2026-07-28 basic/authorization#token-requirements.
func sendsAlways(x *X, w *probe.Watch) {
	began := false
	for _, e := range x.calls() {
		has := strings.HasPrefix(e.Header.Get("Authorization"), "Bearer ")
		switch {
		case has:
			began = true
			w.SawExchange(e)
		case began:
			w.FaultOf([]probe.Blame{{Exchange: e}}, "a request to the endpoint has no token, though earlier ones had")
		}
	}
}

// Spec: 2026-07-28 basic/authorization#token-requirements.
func keepsOutOfURLs(x *X, w *probe.Watch) {
	for _, e := range x.calls() {
		u, err := url.Parse(e.URL)
		switch {
		case err != nil || x.issued() == nil:
		case u.Query().Has("access_token") || strings.Contains(u.RawQuery, "token."):
			w.FaultOf([]probe.Blame{{Exchange: e}}, "a token is in the URL")
		default:
			w.SawExchange(e)
		}
	}
}

// Spec: 2026-07-28 basic/authorization#refresh-tokens.
func assumesNoRefresh(x *X, w *probe.Watch) {
	x.eachErrand(w, func(e *errand) string {
		if e.get("grant_type") == "refresh_token" {
			return "the client refreshes, though it was given no refresh token"
		}
		return ""
	}, pathToken)
}

// Spec: 2026-07-28 basic/authorization/client-registration#authorization-server-binding.
func registersAnew(x *X, w *probe.Watch) {
	x.eachErrand(w, func(e *errand) string {
		if strings.HasPrefix(e.url.Path, "/second") && strings.HasPrefix(e.get("client_id"), "client-") {
			return "the client_id of the first authorization server is used at the second one"
		}
		return ""
	}, pathAuthorize, pathToken)
}

// Spec: 2026-07-28 basic/authorization#token-handling.
func usesNewToken(x *X, w *probe.Watch) {
	var since *errand
	for _, e := range x.errands(pathToken) {
		if strings.HasPrefix(e.url.Path, "/second") && since == nil {
			since = e
		}
	}
	for _, e := range x.calls() {
		switch {
		case since == nil || e.Number < since.Number || e.Header.Get("Authorization") == "":
		case strings.HasPrefix(e.Header.Get("Authorization"), "Bearer token.0"):
			w.FaultOf([]probe.Blame{{Exchange: e}}, "a token of the first authorization server is sent after the endpoint named another")
		default:
			w.SawExchange(e)
		}
	}
}
