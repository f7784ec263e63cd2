package authprobe

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/requirement"
	"github.com/parley-mcp/parley/internal/revision"
)

// What the endpoint makes of real tokens.
var tokenProbes = []Probe{
	{
		Info: probe.Info{
			ID:      "tokens/query",
			Rows:    []string{"26.basic.authorization.index-043", "2511.basic.authorization-060"},
			Does:    "Presents a good token in the query string, and not in the header.",
			Accepts: "A refusal.",
			Mend:    "Read tokens from the header Authorization only.",
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsGuard, needsToken}, Run: ignoresQuery,
	},
	{
		Info: probe.Info{
			ID: "tokens/audience",
			Rows: []string{
				"26.basic.authorization.index-045", "2511.basic.authorization-062",
				"26.basic.authorization.index-049", "2511.basic.authorization-066", "26.basic.authorization.index-050", "2511.basic.authorization-067",
				"26.basic.authorization.security-004", "2511.basic.authorization-080", "26.basic.authorization.security-034", "26.basic.authorization.security-035",
				"2511.basic.authorization-108", "26.security.best-practices-009", "2511.security_best_practices-007",
			},
			Does:    "Presents a good token that was issued for another resource.",
			Accepts: "A refusal.",
			Mend:    "Take only tokens whose audience is the URI of the endpoint.",
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsGuard, needsOther}, Run: comparesAudience,
	},
}

// Sessions are not authentication.
var sessionProbes = []Probe{
	{
		Info: probe.Info{
			ID:      "sessions/no-token",
			Rows:    []string{"2511.security_best_practices-014"},
			Does:    "Opens a session with a good token and sends a request in it without one.",
			Accepts: "A refusal.",
			Mend:    "Check the token of each request, in a session too.",
			After:   []string{"challenge/every-request"},
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsGuard, needsToken}, Run: wantsTokenInSession,
	},
	{
		Info: probe.Info{
			ID:      "sessions/other-user",
			Rows:    []string{"2511.security_best_practices-016"},
			Does:    "Opens a session with one user's token and sends a request in it with another's.",
			Accepts: "A refusal.",
			Mend:    "Bind a session to the user of the token that opened it.",
			After:   []string{"sessions/no-token"},
		},
		Role: requirement.Server, Needs: []string{needsEndpoint, needsGuard, needsToken, needsSecond}, Run: bindsSession,
	},
}

// good reports whether the endpoint takes the good token at all.
func (x *X) good() bool {
	for _, out := range []*peer.Out{x.list(), x.hello()} {
		if e := x.Ask(Bearer(out, x.token())); e.Status != 0 && e.Status != http.StatusUnauthorized && e.Status != http.StatusForbidden {
			return true
		}
	}
	return false
}

// Spec: 2026-07-28 basic/authorization#token-requirements.
func ignoresQuery(x *X) probe.Finding {
	if !x.good() {
		return probe.Unverified("the endpoint does not take the good token, wherever it is")
	}
	var seen *peer.Exchange
	for _, out := range []*peer.Out{x.list(), x.hello()} {
		out.Query = url.Values{"access_token": {x.token()}}.Encode()
		e := x.Ask(out)
		if took(e) {
			return fault(e, "a token in the query string is accepted")
		}
		seen = e
	}
	return probe.Pass(Of(seen)...)
}

// Spec: 2026-07-28 basic/authorization#token-handling.
func comparesAudience(x *X) probe.Finding {
	var seen *peer.Exchange
	for _, out := range []*peer.Out{x.list(), x.hello()} {
		e := x.Ask(Bearer(out, x.opts.OtherToken))
		if took(e) {
			return fault(e, "a token that was issued for another resource is accepted")
		}
		seen = e
	}
	if seen.Status == 0 {
		return silent(seen)
	}
	return probe.Pass(Of(seen)...)
}

// session is one that was opened with a token.
type session struct {
	id, version string
}

// open opens a session with the good token, once. Its id is "" if the endpoint
// has none.
func (x *X) open() *session {
	if x.session != nil {
		return x.session
	}
	x.session = &session{version: revision.Default(nil, false).Revision.String()}
	e := x.Ask(Bearer(x.hello(), x.token()))
	if !took(e) || len(e.Messages) == 0 || !e.Messages[len(e.Messages)-1].IsResult() {
		return x.session
	}
	x.session.id = e.ResponseHeader.Get("Mcp-Session-Id")
	if v := e.Messages[len(e.Messages)-1].Text("result/protocolVersion"); v != "" {
		x.session.version = v
	}
	note := peer.Frame(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	x.Ask(Bearer(x.within(note), x.token()))
	return x.session
}

// within puts a message into the session.
func (x *X) within(out *peer.Out) *peer.Out {
	return out.With("Mcp-Session-Id", x.session.id).With("Mcp-Protocol-Version", x.session.version)
}

// inSession sends a request in the session, with a token or without.
func (x *X) inSession(token, accused string) probe.Finding {
	if x.open().id == "" {
		return probe.NotApplicable("the endpoint has no sessions")
	}
	ask := func(token string) *peer.Exchange {
		out := x.within(x.Message(revision.Default(nil, false), "ping", nil))
		if token != "" {
			out = Bearer(out, token)
		}
		return x.Ask(out)
	}
	if e := ask(x.token()); !took(e) {
		return probe.Unverified("the session does not work (status %d)", e.Status)
	}
	if token != "" && !took(x.Ask(Bearer(x.hello(), token))) {
		return probe.Unverified("the second token is not good at the endpoint")
	}
	e := ask(token)
	if took(e) && (len(e.Messages) == 0 || e.Messages[len(e.Messages)-1].IsResult()) {
		return fault(e, "%s", accused)
	}
	return probe.Pass(Of(e)...)
}

// Spec: 2025-11-25 guides/security_best_practices#session-hijacking.
func wantsTokenInSession(x *X) probe.Finding {
	return x.inSession("", "a request is served without a token, because it names a session")
}

// Spec: 2025-11-25 guides/security_best_practices#session-hijacking.
func bindsSession(x *X) probe.Finding {
	return x.inSession(x.opts.SecondToken, "a request in the session of one user is served with the token of another")
}

// seconds reads a number that may have come as a text.
func seconds(v any) (int64, bool) {
	s, ok := v.(string)
	if n, is := v.(json.Number); is {
		s, ok = n.String(), true
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, ok && err == nil
}
