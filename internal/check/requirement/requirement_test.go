package requirement_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/check/requirement"
	"github.com/parley-mcp/parley/internal/check/specdir"
	"github.com/parley-mcp/parley/internal/revision"
)

func TestEveryRowIsWhole(t *testing.T) {
	levels := []string{"MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY"}
	ids := map[string]bool{}
	for r := range requirement.All() {
		if ids[r.ID] {
			t.Errorf("%s is there twice", r.ID)
		}
		ids[r.ID] = true
		if r.Page == "" || r.Text == "" || r.Probe == "" && len(r.Seen) > 0 {
			t.Errorf("%s lacks its page, its text or an idea of how to see it", r.ID)
		}
		if !slices.Contains(levels, r.Level) {
			t.Errorf("%s has the level %q", r.ID, r.Level)
		}
		checkRevisions(t, r)
		checkRoles(t, r)
		checkReason(t, r)
	}
	if len(ids) < 1750 {
		t.Errorf("%d rows, want all of the specification", len(ids))
	}
}

func checkRevisions(t *testing.T, r *requirement.Row) {
	last := -1
	all := revision.All()
	for _, name := range r.Revisions {
		at := slices.IndexFunc(all, func(f *revision.Facts) bool { return f.Revision.String() == name })
		if at <= last {
			t.Errorf("%s: revision %q is unknown or out of order", r.ID, name)
		}
		last = at
	}
}

func checkRoles(t *testing.T, r *requirement.Row) {
	roles := requirement.Roles()
	if len(r.Binds) == 0 {
		t.Errorf("%s binds nobody", r.ID)
	}
	for _, role := range r.Binds {
		if !slices.Contains(roles, role) {
			t.Errorf("%s binds %q", r.ID, role)
		}
	}
	for _, role := range r.Seen {
		if !slices.Contains(r.Binds, role) {
			t.Errorf("%s is seen on %q, which it does not bind", r.ID, role)
		}
	}
}

// A reason is a sentence. One for a single side names it.
var reason = regexp.MustCompile(`^((server|client): )?[\p{L}-].*\.$`)

func checkReason(t *testing.T, r *requirement.Row) {
	if len(r.Seen) < len(r.Binds) && r.Reason == "" {
		t.Errorf("%s can't be seen on all that it binds (%v), and says no reason", r.ID, r.Binds)
	}
	if r.Reason != "" && !reason.MatchString(r.Reason) {
		t.Errorf("%s: the reason %q is no sentence", r.ID, r.Reason)
	}
	side, _, one := strings.Cut(r.Reason, ": ")
	if role := requirement.Role(side); one && slices.Contains(requirement.Roles(), role) {
		if r.IsSeenOn(role) || len(r.Seen) != len(r.Binds)-1 || !strings.HasPrefix(strings.ToLower(r.ReasonOn(role)), strings.ToLower(r.Reason[len(side)+2:])) {
			t.Errorf("%s is seen on %v of %v, but has a reason for the %s", r.ID, r.Seen, r.Binds, role)
		}
	}
}

// TestPagesExist looks up every page and anchor in the specification, if it is
// here: in the newest revision of each row, which is the one it is cited by.
func TestPagesExist(t *testing.T) {
	dir := specdir.Of(t)
	known := map[string]map[string]bool{}
	for r := range requirement.All() {
		file := pageFile(dir, r)
		if known[file] == nil {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Errorf("%s: %v", r.ID, err)
				continue
			}
			known[file] = anchors(t, file, text)
		}
		if r.Anchor != "" && !known[file][plain(r.Anchor)] {
			t.Errorf("%s: there is no heading for %s", r.ID, r.Citation())
		}
	}
}

func pageFile(dir string, r *requirement.Row) string {
	newest := r.Revisions[len(r.Revisions)-1]
	switch {
	case r.Page == "schema":
		return filepath.Join(dir, newest, "schema.json")
	case strings.HasPrefix(r.Page, "guides/"): // guides are not of a revision
		return filepath.Join(dir, filepath.FromSlash(r.Page)+".mdx")
	}
	return filepath.Join(dir, newest, filepath.FromSlash(r.Page)+".mdx")
}

// anchors returns the headings of a page, or the types of a schema.
func anchors(t *testing.T, file string, text []byte) map[string]bool {
	found := map[string]bool{}
	if filepath.Ext(file) == ".json" {
		var schema struct {
			Old map[string]any `json:"definitions"`
			New map[string]any `json:"$defs"`
		}
		if err := json.Unmarshal(text, &schema); err != nil {
			t.Error(err)
		}
		for _, types := range []map[string]any{schema.Old, schema.New} {
			for name := range types {
				found[plain(name)] = true
			}
		}
		return found
	}
	code := false
	for line := range strings.SplitSeq(string(text), "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		if heading := strings.TrimLeft(line, "#"); !code && heading != line {
			found[plain(heading)] = true
		}
	}
	return found
}

var sign = regexp.MustCompile(`[^a-z0-9]`)

// plain returns the letters and digits of a heading or of an anchor made from
// it, so that the rules by which a site makes one do not matter.
func plain(s string) string { return sign.ReplaceAllString(strings.ToLower(s), "") }

func TestAddress(t *testing.T) {
	for id, want := range map[string]string{
		"26.server.tools-048":             "https://modelcontextprotocol.io/specification/2026-07-28/server/tools#error-handling",
		"26.basic.index-001":              "https://modelcontextprotocol.io/specification/2026-07-28/basic/index",
		"2511.client.roots-022":           "https://modelcontextprotocol.io/specification/2025-11-25/schema#listrootsresult",
		"26.security.best-practices-009":  "https://modelcontextprotocol.io/docs/tutorials/security/security_best_practices#token-passthrough",
		"2411.basic.transports-001":       "https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse",
		"2503.basic.authorization-006":    "https://modelcontextprotocol.io/specification/2025-03-26/basic/authorization#error-handling",
		"2511.security_best_practices-01": "",
	} {
		r := requirement.ByID(id)
		if r == nil {
			if want != "" {
				t.Errorf("there is no %s", id)
			}
			continue
		}
		if got := r.Address(r.Revisions[len(r.Revisions)-1]); got != want {
			t.Errorf("%s stands at %s, want %s", id, got, want)
		}
	}
}
