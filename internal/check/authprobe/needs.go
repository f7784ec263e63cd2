package authprobe

import "github.com/parley-mcp/parley/internal/check/probe"

// What a probe may need.
const (
	needsEndpoint = "endpoint" // an MCP endpoint, not only an issuer
	needsGuard    = "guard"    // it refuses who has no token
	needsResource = "resource" // its metadata
	needsIssuer   = "issuer"   // metadata of the authorization server
	needsToken    = "token"    // a good token
	needsOther    = "other"    // one for another audience
	needsNarrow   = "narrow"   // one with too few scopes
	needsSecond   = "second"   // one of another user
	needsDocument = "document" // the URL of a client's document
	needsClient   = "client"   // a client that was registered
	needsLogin    = "login"    // a person has logged in
)

// lacks says what of the needs is missing.
func (x *X) lacks(needs []string) (probe.Finding, bool) {
	for _, need := range needs {
		if f, missing := x.lack(need); missing {
			return f, true
		}
	}
	return probe.Finding{}, false
}

func (x *X) lack(need string) (probe.Finding, bool) {
	given := func(there bool, flag, what string) (probe.Finding, bool) {
		return probe.Unverified("it takes %s: give it with %s", what, flag), !there
	}
	switch need {
	case needsEndpoint:
		return probe.NotApplicable("only an authorization server is judged"), x.endpoint == nil
	case needsGuard:
		return probe.NotApplicable("the endpoint asks for no authorization"), !x.Guarded
	case needsResource:
		return probe.Unverified("the endpoint has no metadata").Explained("resource/found"), x.Resource == nil
	case needsIssuer:
		return probe.Unverified("the authorization server has no metadata").Explained("metadata/found"), x.Metadata == nil
	case needsToken:
		return given(x.token() != "", "--token or --login", "a good access token")
	case needsOther:
		return given(x.opts.OtherToken != "", "--other-token", "a token for another audience")
	case needsNarrow:
		return given(x.opts.NarrowToken != "", "--narrow-token", "a token with too few scopes")
	case needsSecond:
		return given(x.opts.SecondToken != "", "--second-token", "a token of another user")
	case needsDocument:
		return given(x.opts.ClientMetadata != "", "--client-metadata", "the URL of a client's metadata document")
	case needsClient:
		return x.lackClient()
	case needsLogin:
		return x.lackLogin()
	}
	panic("authprobe: nothing is called " + need)
}

// token is a good access token, or "".
func (x *X) token() string {
	if x.opts.Token == "" && x.logged != nil {
		return x.logged.access
	}
	return x.opts.Token
}
