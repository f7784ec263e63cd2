package devauth

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

const maxRedirect = 2048 // bytes

// checkRedirect returns an error that says why a redirect URI cannot be
// registered. http is for this machine only. Schemes of an application's own, which
// any other application can claim, are for no one.
//
// Spec: 2026-07-28 basic/authorization/security-considerations#communication-security (2).
func checkRedirect(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil || len(s) > maxRedirect || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"<>\\^`{|}", r) }):
		return errors.New("a redirect URI is malformed or over 2 KiB")
	case u.Scheme == "" || strings.Contains(s, "#") || u.User != nil:
		return errors.New("a redirect URI has to be absolute, without a fragment and without a user")
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("a redirect URI must not be of the scheme %q: it has to be https, or http on this machine", u.Scheme)
	case u.Scheme == "http" && !isLoopback(u):
		return errors.New("a redirect URI with http has to be on 127.0.0.1, [::1] or localhost; others need https")
	case u.Scheme == "https" && u.Hostname() == "":
		return errors.New("a redirect URI has no host")
	}
	return nil
}

// isLoopback reports whether a URL is on the machine of the browser. localhost
// counts, though RFC 8252 advises against it: clients use it.
func isLoopback(u *url.URL) bool {
	if strings.EqualFold(u.Hostname(), "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && (ip == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || ip == netip.IPv6Loopback())
}

// registered reports whether a redirect URI is one of a client's: by exact
// comparison, except for the port of a loopback URI, which a program only gets
// when it runs (RFC 8252, section 7.3).
//
// Spec: 2026-07-28 basic/authorization/security-considerations#open-redirection.
func registered(uris []string, s string) bool {
	if slices.Contains(uris, s) {
		return true
	}
	bare, ok := portless(s)
	return ok && slices.ContainsFunc(uris, func(uri string) bool {
		other, ok := portless(uri)
		return ok && other == bare
	})
}

// portless returns a loopback redirect URI without its port.
func portless(s string) (string, bool) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" || !isLoopback(u) || checkRedirect(s) != nil {
		return "", false
	}
	if port := u.Port(); port != "" {
		s = strings.Replace(s, u.Host, strings.TrimSuffix(u.Host, ":"+port), 1)
	}
	return s, true
}

// formTarget is the source expression for a redirect URI in form-action, which
// some browsers apply also to redirects after a form. "" means none.
func formTarget(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil || checkRedirect(s) != nil:
		return ""
	case strings.Contains(u.Host, "["), strings.ContainsAny(u.Host, ";, '*"):
		return u.Scheme + ":" // an IPv6 address cannot be expressed
	}
	return u.Scheme + "://" + u.Host
}

// destination says where a redirect URI leads, for the user.
func destination(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return ""
	}
	return u.Host
}
