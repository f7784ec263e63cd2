package requirement

import "strings"

// site is where the specification is published.
const site = "https://modelcontextprotocol.io/"

// Citation names the place in the specification, in the newest revision that
// has the row and in the form of the project:
// 2026-07-28 server/tools#error-handling.
func (r *Row) Citation() string {
	return r.Revisions[len(r.Revisions)-1] + " " + r.Page + r.fragment()
}

// Address returns the URL of the place where the row stands in a revision. A
// guide has one for all revisions.
func (r *Row) Address(revision string) string {
	if guide, ok := strings.CutPrefix(r.Page, "guides/"); ok {
		return site + "docs/tutorials/security/" + guide + r.fragment()
	}
	return site + "specification/" + revision + "/" + r.Page + r.fragment()
}

func (r *Row) fragment() string {
	if r.Anchor == "" {
		return ""
	}
	return "#" + r.Anchor
}
