package requirement

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

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

// Digest identifies a set of rows by what grades depend on: IDs, revisions,
// levels, and the sides that are bound and seen. Their order and their words do
// not count.
func Digest(set []*Row) string {
	lines := make([]string, len(set))
	for i, r := range set {
		lines[i] = fmt.Sprintln(r.ID, r.Revisions, r.Level, r.Binds, r.Seen)
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	return hex.EncodeToString(sum[:8])
}
