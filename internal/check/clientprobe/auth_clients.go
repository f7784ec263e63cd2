package clientprobe

import (
	"net/url"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/probe"
)

// As whom clients come: registered, or by a document of their own.
var authClients = []Probe{
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
