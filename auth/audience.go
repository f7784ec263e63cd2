package auth

import (
	"net/url"
	"strings"
)

// SameAudience reports whether two names are of one audience: whether they are URLs that
// are the same in their normal form, or the same text.
func SameAudience(one, other string) bool { return normalAudience(one) == normalAudience(other) }

// normalAudience returns the form that all names of one audience have in
// common. URLs may have scheme and host in upper case and a default port, and
// one slash at the end makes no difference: clients write the canonical URI
// with and without it.
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
