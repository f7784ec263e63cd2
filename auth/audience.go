package auth

import (
	"net/url"
	"strings"
)

// normalAudience returns what two names of one audience have in common. Scheme
// and host of URLs may be written in upper case, default ports may be there,
// and one slash at the end does not count: clients write the canonical URI with
// it and without.
//
// Spec: 2026-07-28 basic/authorization#canonical-server-uri.
func normalAudience(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.ContainsAny(s, "?#") {
		return s
	}
	host := strings.ToLower(u.Host)
	if port := u.Port(); u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		host = strings.TrimSuffix(host, ":"+port)
	}
	return u.Scheme + "://" + host + strings.TrimSuffix(u.EscapedPath(), "/")
}
