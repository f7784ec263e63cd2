package authprobe

import (
	"net/http"
	"net/url"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/requirement"
)

// The metadata of the authorization server.
var metadataProbes = []Probe{
	{
		Info: probe.Info{
			ID:      "metadata/found",
			Rows:    []string{"26.basic.authorization.index-010", "2511.basic.authorization-011"},
			Does:    "Fetches the metadata of the issuer at each place of RFC 8414 and OpenID Connect.",
			Accepts: "A JSON object at one of them.",
			Mend:    "Serve it at /.well-known/oauth-authorization-server followed by the path of the issuer.",
		},
		Role: requirement.Authorization, Run: findsMetadata,
	},
	{
		Info: probe.Info{
			ID:      "metadata/rfc8414",
			Rows:    []string{"2506.basic.authorization-002"},
			Does:    "Fetches the metadata of the issuer at the place of RFC 8414.",
			Accepts: "A JSON object.",
			Mend:    "Serve it at /.well-known/oauth-authorization-server followed by the path of the issuer.",
			After:   []string{"metadata/found"},
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer}, Run: findsRFC8414,
	},
	{
		Info: probe.Info{
			ID:      "metadata/document",
			Rows:    []string{"26.basic.authorization.index-010", "2511.basic.authorization-011", "2506.basic.authorization-002"},
			Does:    "Reads each document that there is by RFC 8414: issuer, content type, required members and their types.",
			Accepts: "An issuer that is exactly the one that the document was found by; endpoints for authorization and tokens; response_types_supported.",
			Mend:    "Give issuer the value that authorization_servers of the protected resource names, to the letter.",
			After:   []string{"metadata/found"},
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer}, Run: readsMetadata,
	},
	{
		Info: probe.Info{
			ID: "metadata/https",
			Rows: []string{
				"26.basic.authorization.security-009", "2511.basic.authorization-085", "2503.basic.authorization-018",
				"26.security.best-practices-025",
			},
			Does:    "Looks at the URLs of all endpoints in the metadata.",
			Accepts: "https. On the loopback of this machine nothing is said of http.",
			Mend:    "Serve all endpoints over https only.",
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer}, Run: usesHTTPS,
	},
	{
		Info: probe.Info{
			ID:      "metadata/openid-pkce",
			Rows:    []string{"26.basic.authorization.security-019", "2511.basic.authorization-093"},
			Does:    "Looks for code_challenge_methods_supported in the documents of OpenID Connect.",
			Accepts: "An array that has S256.",
			Mend:    `Add "code_challenge_methods_supported": ["S256"]: clients of MCP refuse to go on without it.`,
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer}, Run: openIDNamesPKCE,
	},
	{
		Info: probe.Info{
			ID:      "metadata/pkce",
			Rows:    []string{"26.basic.authorization.index-005", "2511.basic.authorization-005"},
			Does:    "Looks for code_challenge_methods_supported in the documents of RFC 8414.",
			Accepts: "An array that has S256.",
			Mend:    `Support PKCE and add "code_challenge_methods_supported": ["S256"]: clients of MCP refuse to go on without it.`,
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer}, Run: namesPKCE,
	},
	{
		Info: probe.Info{
			ID: "metadata/documents-supported",
			Rows: []string{
				"26.basic.authorization.registration-002", "2511.basic.authorization-028",
				"26.basic.authorization.index-006", "2511.basic.authorization-006",
			},
			Does:    "Looks for client_id_metadata_document_supported in the metadata.",
			Accepts: "true.",
			Mend:    "Support Client ID Metadata Documents, and say so.",
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer}, Run: supportsDocuments,
	},
	{
		Info: probe.Info{
			ID:      "metadata/registration",
			Rows:    []string{"2506.basic.authorization-001"},
			Does:    "Looks for registration_endpoint in the metadata.",
			Accepts: "A URL.",
			Mend:    "Let clients register (RFC 7591).",
		},
		Role: requirement.Authorization, Needs: []string{needsIssuer}, Run: offersRegistration,
	},
}

// Spec: 2026-07-28 basic/authorization#overview.
func findsMetadata(x *X) probe.Finding {
	if x.Issuer == "" {
		return probe.Unverified("nobody names the authorization server: give it with --issuer")
	}
	var asked []*peer.Exchange
	for _, d := range x.Servers {
		if d.is() {
			return probe.Pass(Of(d.Exchange)...)
		}
		if d.Status != 0 {
			asked = append(asked, d.Exchange)
		}
	}
	if len(asked) == 0 {
		return probe.Unverified("the authorization server %s can't be reached", x.Issuer)
	}
	return probe.Fail(Of(asked...), "the issuer %s has no metadata at any well-known place", x.Issuer)
}

// Spec: 2025-06-18 basic/authorization#overview.
func findsRFC8414(x *X) probe.Finding {
	for _, d := range x.Servers {
		switch {
		case d.isOpenID():
		case d.Status == 0:
			return silent(d.Exchange)
		case !d.is():
			return fault(d.Exchange, "there is no document at the place of RFC 8414 (status %d), only that of OpenID Connect", d.Status)
		default:
			return probe.Pass(Of(d.Exchange)...)
		}
	}
	return probe.Unverified("no place of RFC 8414 was asked")
}

// each calls look with all documents that there are, until it finds a fault.
func (x *X) each(look func(*Document) probe.Finding) probe.Finding {
	last := probe.Unverified("there is no such document")
	for _, d := range x.Servers {
		if !d.is() {
			continue
		}
		if f := look(d); f.Why != "" {
			return f
		} else if f.Outcome != "" {
			last = f
		}
	}
	return last
}

// readsMetadata reads the documents by RFC 8414, sections 2 and 3.3.
//
// Spec: 2026-07-28 basic/authorization/authorization-server-discovery#authorization-server-metadata-discovery.
func readsMetadata(x *X) probe.Finding {
	return x.each(func(d *Document) probe.Finding {
		if kind := peer.MediaType(d.ResponseHeader); kind != "application/json" {
			return fault(d.Exchange, "the metadata has the content type %q instead of application/json", kind)
		}
		if issuer := text(d.Value, "issuer"); issuer != x.Issuer {
			return wrong(d, "/issuer", "the issuer in the document is %q, and it was found by %q: clients refuse the document", issuer, x.Issuer)
		}
		for _, name := range []string{"authorization_endpoint", "token_endpoint"} {
			if u, err := url.Parse(text(d.Value, name)); err != nil || u.Host == "" {
				return wrong(d, "/"+name, "%s is missing or no URL", name)
			}
		}
		if v, ok := d.Value["response_types_supported"]; !ok || !isTexts(v) || !holds(texts(d.Value, "response_types_supported"), "code") {
			return wrong(d, "/response_types_supported", "response_types_supported, which is required, does not have code")
		}
		for _, name := range []string{"scopes_supported", "grant_types_supported", "token_endpoint_auth_methods_supported", "code_challenge_methods_supported"} {
			if v, ok := d.Value[name]; ok && !isTexts(v) {
				return wrong(d, "/"+name, "%s is no array of strings", name)
			}
		}
		for _, name := range []string{"authorization_response_iss_parameter_supported", "client_id_metadata_document_supported"} {
			if _, is := d.Value[name].(bool); d.Value[name] != nil && !is {
				return wrong(d, "/"+name, "%s is neither true nor false", name)
			}
		}
		return probe.Pass(Of(d.Exchange)...)
	})
}

// endpoints are the members of the metadata that clients or browsers send
// secrets to.
var endpoints = []string{
	"authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint", "introspection_endpoint",
	"userinfo_endpoint", "device_authorization_endpoint", "pushed_authorization_request_endpoint", "jwks_uri", "end_session_endpoint",
}

// Spec: 2026-07-28 basic/authorization/security-considerations#communication-security.
func usesHTTPS(x *X) probe.Finding {
	local := false
	f := x.each(func(d *Document) probe.Finding {
		for _, name := range append([]string{"issuer"}, endpoints...) {
			u, err := url.Parse(text(d.Value, name))
			switch {
			case err != nil || u.Host == "" || u.Scheme == "https":
			case isLocal(u.String()):
				local = true
			default:
				return wrong(d, "/"+name, "%s is %s, which is not https", name, u)
			}
		}
		return probe.Pass(Of(d.Exchange)...)
	})
	if f.Outcome == "pass" && local {
		return probe.Unverified("the authorization server is on this machine, where http shows nothing to anybody")
	}
	return f
}

// Spec: 2026-07-28 basic/authorization/security-considerations#authorization-code-protection.
func openIDNamesPKCE(x *X) probe.Finding {
	return x.each(func(d *Document) probe.Finding {
		if !d.isOpenID() {
			return probe.Finding{}
		}
		return namesS256(d)
	})
}

// Spec: 2026-07-28 basic/authorization/security-considerations#authorization-code-protection.
func namesPKCE(x *X) probe.Finding {
	return x.each(func(d *Document) probe.Finding {
		if d.isOpenID() {
			return probe.Finding{}
		}
		return namesS256(d)
	})
}

func namesS256(d *Document) probe.Finding {
	if !holds(texts(d.Value, "code_challenge_methods_supported"), "S256") {
		return wrong(d, "/code_challenge_methods_supported", "code_challenge_methods_supported does not have S256")
	}
	return probe.Pass(Of(d.Exchange)...)
}

// Spec: 2026-07-28 basic/authorization/client-registration#advertising-cimd-support.
func supportsDocuments(x *X) probe.Finding {
	if x.Metadata.Value["client_id_metadata_document_supported"] != true {
		return wrong(x.Metadata, "/client_id_metadata_document_supported", "client_id_metadata_document_supported is not true")
	}
	return probe.Pass(Of(x.Metadata.Exchange)...)
}

// Spec: 2025-06-18 basic/authorization#overview.
func offersRegistration(x *X) probe.Finding {
	if x.at("registration_endpoint") == "" {
		return wrong(x.Metadata, "", "the metadata has no registration_endpoint")
	}
	return probe.Pass(Of(x.Metadata.Exchange)...)
}

// isRedirect reports whether a browser would be sent elsewhere.
func isRedirect(e *peer.Exchange) bool {
	return e.Status >= 300 && e.Status < 400 && e.Status != http.StatusNotModified && e.ResponseHeader.Get("Location") != ""
}
