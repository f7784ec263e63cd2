package authprobe

import (
	"crypto/rand"
	"net/url"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/requirement"
)

// Client ID Metadata Documents, with one that the user serves.
var documentProbes = []Probe{
	{
		Info: probe.Info{
			ID:      "documents/fetched",
			Rows:    []string{"26.basic.authorization.registration-009", "2511.basic.authorization-035"},
			Does:    "Asks for tokens as the client whose document --client-metadata names, with a code that was never issued.",
			Accepts: "An error about the code: the client is known.",
			Mend:    "Fetch the document that a client_id with https names.",
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer, needsDocument}, Run: fetchesDocument,
	},
	{
		Info: probe.Info{
			ID:      "documents/client-id",
			Rows:    []string{"26.basic.authorization.registration-010", "2511.basic.authorization-036"},
			Does:    "Adds a query to the URL of the document, so that its client_id is another one.",
			Accepts: "The client is refused.",
			Mend:    "Compare client_id in the document with the URL, as strings.",
			After:   []string{"documents/fetched"},
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer, needsDocument}, Run: comparesClientID,
	},
	{
		Info: probe.Info{
			ID:      "documents/valid",
			Rows:    []string{"26.basic.authorization.registration-013", "2511.basic.authorization-039"},
			Does:    "Names a URL on the host of the document where there is none.",
			Accepts: "The client is refused.",
			Mend:    "Refuse clients whose document can't be fetched, is no JSON, or lacks client_id, client_name or redirect_uris.",
			After:   []string{"documents/fetched"},
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer, needsDocument}, Run: wantsDocument,
	},
	{
		Info: probe.Info{
			ID:      "documents/url",
			Rows:    []string{"2511.basic.authorization-029", "26.basic.authorization.registration-014", "2511.basic.authorization-040"},
			Does:    "Names the document by URLs that the draft forbids: with http, a fragment, a user, dots in the path, or no path.",
			Accepts: "The client is refused.",
			Mend:    "Take https URLs with a path only, without fragment, user and dot segments.",
			After:   []string{"documents/fetched", "documents/client-id"},
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer, needsDocument}, Run: refusesURLs,
	},
	{
		Info: probe.Info{
			ID:      "documents/redirect-uri",
			Rows:    []string{"26.basic.authorization.registration-012", "2511.basic.authorization-038"},
			Does:    "Asks for authorization as that client, with a redirect URI that its document does not have.",
			Accepts: "A refusal without a redirect there.",
			Mend:    "Take the redirect URIs of the document only.",
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer, needsDocument}, Run: takesItsRedirects,
	},
	{
		Info: probe.Info{
			ID:      "documents/private-address",
			Rows:    []string{"26.basic.authorization.security-026", "2511.basic.authorization-100"},
			Does:    "Names a port of this machine as the place of a document, to an authorization server that runs on it too.",
			Accepts: "Nobody calls there.",
			Mend:    "Connect to public addresses only, looking at the address and not at the name.",
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer}, Run: callsNobody,
	},
}

// redeem asks for tokens as a client, with a code that was never issued, and
// returns the error.
func (x *X) redeem(id string) (*peer.Exchange, string) {
	e := x.Form(x.at("token_endpoint"), url.Values{
		"grant_type": {"authorization_code"}, "code": {"parley-check-" + rand.Text()}, "client_id": {id},
		"redirect_uri": {nowhere}, "code_verifier": {rand.Text() + rand.Text()},
	})
	v, _ := object(e)
	return e, text(v, "error")
}

// tells reports whether the token endpoint says of a client whether it knows it:
// that it answers a client that nobody knows in another way than with
// invalid_grant.
func (x *X) tells() bool {
	_, code := x.redeem("parley-check-unknown-" + rand.Text())
	return code != "" && code != "invalid_grant"
}

// supportsIt says what to make of an authorization server that knows no
// documents.
func (x *X) supportsIt() (probe.Finding, bool) {
	if x.Metadata.Value["client_id_metadata_document_supported"] != true {
		return probe.NotApplicable("the authorization server does not say that it supports client metadata documents"), false
	}
	if !x.tells() {
		return probe.Unverified("the token endpoint does not tell known clients from others"), false
	}
	return probe.Finding{}, true
}

// Spec: 2026-07-28 basic/authorization/client-registration#implementation-requirements.
func fetchesDocument(x *X) probe.Finding {
	if f, ok := x.supportsIt(); !ok {
		return f
	}
	e, code := x.redeem(x.opts.ClientMetadata)
	switch code {
	case "invalid_grant":
		return probe.Pass(Of(e)...)
	case "":
		return silent(e)
	}
	return fault(e, "the client whose document is at %s is refused with %s", x.opts.ClientMetadata, code)
}

// refusesClient says what is wrong if an authorization server knows a client
// that it must refuse.
func (x *X) refusesClient(why string, ids ...string) probe.Finding {
	if f, ok := x.supportsIt(); !ok {
		return f
	}
	if _, code := x.redeem(x.opts.ClientMetadata); code != "invalid_grant" {
		return probe.Unverified("the client itself is not accepted (%s)", code).Explained("documents/fetched")
	}
	var seen *peer.Exchange
	for _, id := range ids {
		e, code := x.redeem(id)
		if code == "invalid_grant" || took(e) {
			return fault(e, "%s: the client %s is accepted", why, id)
		}
		seen = e
	}
	return probe.Pass(Of(seen)...)
}

// Spec: 2026-07-28 basic/authorization/client-registration#implementation-requirements.
func comparesClientID(x *X) probe.Finding {
	separator := "?"
	if strings.Contains(x.opts.ClientMetadata, "?") {
		separator = "&"
	}
	return x.refusesClient("its document has another client_id", x.opts.ClientMetadata+separator+"parley-check=1")
}

// Spec: 2026-07-28 basic/authorization/client-registration#implementation-requirements.
func wantsDocument(x *X) probe.Finding {
	u, err := url.Parse(x.opts.ClientMetadata)
	if err != nil {
		return probe.Unverified("%s is no URL", x.opts.ClientMetadata)
	}
	return x.refusesClient("there is no document", origin(u)+"/parley-check-no-such-document")
}

// Spec: 2025-11-25 basic/authorization#implementation-requirements.
func refusesURLs(x *X) probe.Finding {
	u, err := url.Parse(x.opts.ClientMetadata)
	if err != nil {
		return probe.Unverified("%s is no URL", x.opts.ClientMetadata)
	}
	plain := x.opts.ClientMetadata
	return x.refusesClient("its URL is one that the draft forbids",
		"http"+strings.TrimPrefix(plain, "https"), plain+"#parley-check", strings.Replace(plain, "://", "://parley-check@", 1),
		origin(u)+"/parley-check/.."+u.EscapedPath(), origin(u))
}

// Spec: 2026-07-28 basic/authorization/client-registration#implementation-requirements.
func takesItsRedirects(x *X) probe.Finding {
	if x.Metadata.Value["client_id_metadata_document_supported"] != true {
		return probe.NotApplicable("the authorization server does not say that it supports client metadata documents")
	}
	seen := false
	q := x.asks(x.opts.ClientMetadata, nowhere)
	for _, asked := range []*question{q, q.without("response_type"), q.with("prompt", "none")} {
		e := x.submit(asked)
		if _, there := leadsTo(e, nowhere); there {
			return fault(e, "the browser is sent to %s, which the document does not have", nowhere)
		}
		seen = seen || refuses(e)
	}
	if !seen {
		return probe.Unverified("the authorization server looks at redirect URIs only after a login")
	}
	return probe.Pass()
}

// callsNobody sets a trap on this machine.
//
// Spec: 2026-07-28 basic/authorization/security-considerations#authorization-server-abuse-protection.
func callsNobody(x *X) probe.Finding {
	switch {
	case x.Metadata.Value["client_id_metadata_document_supported"] != true:
		return probe.NotApplicable("the authorization server does not say that it supports client metadata documents")
	case !isLocal(x.at("token_endpoint")):
		return probe.Unverified("whom a server elsewhere calls can't be seen from here")
	case x.opts.Trap == nil:
		return probe.Unverified("no port could be watched")
	}
	trap, err := x.opts.Trap(x.Ctx)
	if err != nil {
		return probe.Unverified("no port could be watched: %v", err)
	}
	x.trap = trap
	id := "https://" + trap.Addr() + "/parley-check.json"
	first, _ := x.redeem(id)
	second := x.submit(x.asks(id, nowhere))
	if trap.Calls() > 0 {
		return probe.Fail(Of(first, second), "the authorization server called %s, which a client named that nobody knows", trap.Addr())
	}
	return probe.Pass(Of(first)...)
}
