package clientprobe

import (
	"net/url"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/loopback"
)

// Spec: 2026-07-28 basic/authorization#client-registration.
func hasClientID(x *X, w *probe.Watch) {
	x.eachErrand(w, func(e *errand) string {
		if e.get("client_id") == "" {
			return "the authorization request has no client_id"
		}
		return ""
	}, pathAuthorize)
}

// registrations are what clients registered.
func (x *X) registrations() map[*errand]object {
	all := map[*errand]object{}
	for _, e := range x.errands(pathRegister) {
		if v, err := peer.Decode(e.Body); err == nil {
			if doc, ok := v.(object); ok {
				all[e] = doc
			}
		}
	}
	return all
}

func redirectsOf(doc object) []string {
	var all []string
	uris, _ := doc["redirect_uris"].(list)
	for _, v := range uris {
		if s, ok := v.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// Spec: 2026-07-28 basic/authorization/security-considerations#communication-security.
func usesSafeRedirect(x *X, w *probe.Watch) {
	x.eachErrand(w, func(e *errand) string {
		if r := e.get("redirect_uri"); r != "" && !isSafeRedirect(r) {
			return "redirect_uri is " + r + ", which is neither https nor on localhost"
		}
		return ""
	}, pathAuthorize)
}

// Spec: 2026-07-28 basic/authorization/security-considerations#open-redirection.
func usesRegistered(x *X, w *probe.Watch) {
	var registered []string
	for _, doc := range x.registrations() {
		for _, uri := range redirectsOf(doc) {
			registered = append(registered, uri, withoutPort(uri))
		}
	}
	if len(registered) == 0 {
		return
	}
	x.eachErrand(w, func(e *errand) string {
		if r := e.get("redirect_uri"); r != "" && !slices.Contains(registered, r) && !slices.Contains(registered, withoutPort(r)) {
			return "redirect_uri is " + r + ", and the client has registered " + registered[0]
		}
		return ""
	}, pathAuthorize)
}

// withoutPort is a redirect URI on the loopback, whose port does not matter.
func withoutPort(s string) string {
	u, err := url.Parse(s)
	if err != nil || !loopback.Is(u.Hostname()) {
		return s
	}
	u.Host = u.Hostname()
	return u.String()
}

// Spec: 2026-07-28 basic/authorization/security-considerations#open-redirection.
func verifiesState(x *X, w *probe.Watch) {
	for _, e := range x.errands(pathAuthorize) {
		if e.get("state") == "" {
			w.FaultOf(e.blame(), "the authorization request has no state")
			return
		}
	}
	x.forbidden(w, pathAuthorize, "a code is exchanged though the state of the answer is wrong", pathToken)
}

// eachRegistration looks at registrations. What look returns is wrong, or "".
func (x *X) eachRegistration(w *probe.Watch, look func(doc object) string) {
	for e, doc := range x.registrations() {
		if why := look(doc); why != "" {
			w.FaultOf(e.blame(), "%s", why)
		} else {
			w.SawExchange(e.Exchange)
		}
	}
}

// Spec: 2026-07-28 basic/authorization/client-registration#application-type-and-redirect-uri-constraints.
func sendsType(x *X, w *probe.Watch) {
	x.eachRegistration(w, func(doc object) string {
		if doc["application_type"] != "native" && doc["application_type"] != "web" {
			return "the registration has no application_type that is native or web"
		}
		return ""
	})
}

// isOf looks at registrations with redirect URIs of one kind.
func (x *X) isOf(w *probe.Watch, kind func(*url.URL) bool, want string) {
	for e, doc := range x.registrations() {
		uris := redirectsOf(doc)
		switch {
		case !slices.ContainsFunc(uris, func(s string) bool { u, err := url.Parse(s); return err == nil && kind(u) }):
		case doc["application_type"] != want:
			w.FaultOf(e.blame(), "application_type is %v with the redirect URI %s", doc["application_type"], uris[0])
		default:
			w.SawExchange(e.Exchange)
		}
	}
}

// Spec: 2026-07-28 basic/authorization/client-registration#application-type-and-redirect-uri-constraints.
func isNative(x *X, w *probe.Watch) {
	x.isOf(w, func(u *url.URL) bool { return loopback.Is(u.Hostname()) }, "native")
}

// Spec: 2026-07-28 basic/authorization/client-registration#application-type-and-redirect-uri-constraints.
func isWeb(x *X, w *probe.Watch) {
	x.isOf(w, func(u *url.URL) bool { return u.Scheme == "https" && !loopback.Is(u.Hostname()) }, "web")
}

// Spec: 2025-06-18 basic/authorization#dynamic-client-registration.
func registers(x *X, w *probe.Watch) {
	x.eachErrand(w, func(*errand) string { return "" }, pathRegister)
}

// Spec: 2026-07-28 basic/authorization/client-registration#application-type-and-redirect-uri-constraints.
func handlesRefusal(x *X, w *probe.Watch) {
	if len(x.errands(pathRegister)) > 0 {
		x.forbidden(w, pathRegister, "the client goes on without a client_id, though its registration was refused", pathAuthorize, pathToken)
	}
}

// Spec: 2026-07-28 basic/authorization/client-registration#advertising-cimd-support.
func checksDocuments(x *X, w *probe.Watch) {
	x.eachErrand(w, func(e *errand) string {
		if strings.HasPrefix(e.get("client_id"), "https://") {
			return "client_id is a URL, and the authorization server does not say that it supports that"
		}
		return ""
	}, pathAuthorize)
}
