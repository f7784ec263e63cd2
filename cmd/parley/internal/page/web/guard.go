package web

import (
	"net/http"
	"strings"
)

// admits refuses requests that are not the page's own, whatever they bring along. Pages of
// other origins cannot choose these headers.
func (d *Door) admits(r *http.Request) error {
	if !d.hosts[strings.ToLower(r.Host)] {
		return Errorf(http.StatusMisdirectedRequest, "host", "%q is not the host of this page", r.Host)
	}
	origins := r.Header.Values("Origin")
	if len(origins) > 1 || len(origins) == 1 && !strings.EqualFold(origins[0], d.scheme+"://"+r.Host) {
		return Errorf(http.StatusForbidden, "origin", "pages of %q may not come in", strings.Join(origins, ", "))
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "same-origin":
		return nil
	case "none": // typed, or opened by another program
		if isPage(r) {
			return nil
		}
		fallthrough
	default:
		return Errorf(http.StatusForbidden, "site", "a request from a site that is %q may not come in", site)
	}
}

// isPage reports whether a request is for the page itself.
func isPage(r *http.Request) bool {
	return r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead)
}

// letIn answers a request for the page that has a code, and reports whether it had one.
// The key goes into the fragment, which browsers send nowhere.
func (d *Door) letIn(w http.ResponseWriter, r *http.Request) bool {
	text := r.URL.Query().Get("code")
	if text == "" || r.Method != http.MethodGet {
		return false
	}
	w.Header().Set("Cache-Control", "no-store")
	who, right, to := Visitor{Name: "operator", Role: Operator}, d.redeem(text), "/#refused"
	if d.o.Redeemed != nil {
		if err := d.o.Redeemed(r, who, right); err != nil && right {
			http.Error(w, "Nobody can come in now: "+err.Error(), http.StatusServiceUnavailable)
			return true
		}
	}
	if right {
		to = "/#key=" + d.Enter(w, who)
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return true
}
