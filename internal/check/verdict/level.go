package verdict

import "strings"

// Must reports whether the row is a MUST or a MUST NOT.
func (v *Verdict) Must() bool { return strings.HasPrefix(v.Level, "MUST") }

// Should reports whether the row is a SHOULD or a SHOULD NOT.
func (v *Verdict) Should() bool { return strings.HasPrefix(v.Level, "SHOULD") }

// site has the specification; its pages are named by revision and page.
const site = "https://modelcontextprotocol.io/"

// URL is where the row stands in the specification, or "" if its citation names
// no page.
func (v *Verdict) URL() string {
	revision, rest, ok := strings.Cut(v.Citation, " ")
	if !ok {
		return ""
	}
	page, anchor, _ := strings.Cut(rest, "#")
	if anchor != "" {
		anchor = "#" + anchor
	}
	switch page {
	case "schema.json":
		page = "schema"
	case "guides/security_best_practices":
		page = "basic/security_best_practices"
	}
	page = strings.TrimSuffix(strings.TrimSuffix(page, "index"), "/")
	if page != "" {
		page = "/" + page
	}
	return site + "specification/" + revision + page + anchor
}
