package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/check/coverage"
	"github.com/parley-mcp/parley/internal/check/requirement"
)

// requirements runs the command, and returns what it prints.
func requirements(t *testing.T, exit int, args ...string) *console {
	t.Helper()
	c := new(console)
	if code := Run(t.Context(), c.streams("", false), append([]string{"check", "requirements"}, args...)); code != exit {
		t.Fatalf("%q ends with %d, want %d: %s", args, code, exit, c.err.String())
	}
	return c
}

func TestRequirementsAreListed(t *testing.T) {
	var listed struct {
		Rows []shownRow `json:"rows"`
	}
	list := func(args ...string) []shownRow {
		listed.Rows = nil
		c := requirements(t, exitOK, append(args, "--output", "json")...)
		if err := json.Unmarshal(c.out.Bytes(), &listed); err != nil {
			t.Fatal(err)
		}
		return listed.Rows
	}
	if got, want := len(list()), len(slices.Collect(requirement.All())); got != want {
		t.Errorf("%d requirements are listed, want %d", got, want)
	}
	rows := list("--revision", "2025-11-25", "--who", "client", "--page", "basic/")
	if len(rows) == 0 {
		t.Error("nothing is listed")
	}
	for _, r := range rows {
		bound := slices.ContainsFunc(r.Binds, func(b shownRole) bool { return b.Role == requirement.Client })
		if !slices.Contains(r.Revisions, "2025-11-25") || !bound || !strings.HasPrefix(r.Page, "basic/") || !strings.Contains(r.URL, "/2025-11-25/basic/") {
			t.Errorf("%+v is listed", r)
		}
	}
	if text := requirements(t, exitOK, "--page", "server/discover").out.String(); !strings.Contains(text, "server/discover\n  26.server.discover-001  MUST  server/discover is implemented.\n      server: ") {
		t.Errorf("the list is\n%s", text)
	}
}

func TestRequirementsAreExplained(t *testing.T) {
	text := requirements(t, exitOK, "--explain", "2511.basic.lifecycle-030").out.String()
	for _, want := range []string{
		"2511.basic.lifecycle-030  SHOULD\n", "2025-03-26, 2025-06-18, 2025-11-25\n",
		"https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#timeouts\n",
		"server                Its questions wait for people, longer than a check lasts.\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if text := requirements(t, exitOK, "--explain", "2511.basic.lifecycle-030", "--revision", "2025-03-26").out.String(); !strings.Contains(text, "/2025-03-26/basic/lifecycle#timeouts") {
		t.Errorf("the place in the older revision is not in\n%s", text)
	}
	for _, p := range coverage.Probes() {
		text := requirements(t, exitOK, "--explain", p.ID).out.String()
		if !strings.Contains(text, p.Does) || !strings.Contains(text, p.Accepts) || !strings.Contains(text, p.Rows[0]) {
			t.Fatalf("the explanation of %s is\n%s", p.ID, text)
		}
	}
}

func TestRequirementsOfNobody(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--explain 26.server.tools-48", "near are 26.server.tools-048, "},
		{"--explain 2503.basic-001 --revision 2025-11-25", "2503.basic-001 does not hold in 2025-11-25; it does in 2025-03-26"},
		{"--page server/tool", `no requirement stands on a page "server/tool"; near are server/tools, `},
		{"--who me", `--who "me" is no role; there are server, client, authorization-server, host, intermediary`},
		{"--revision 2025-11-26", "is not a released revision"},
		{"--summary --explain 26.server.tools-048", "none of the others can be"},
		{"server", "unknown command"},
	} {
		if text := requirements(t, exitUsage, strings.Fields(c.args)...).err.String(); !strings.Contains(text, c.want) {
			t.Errorf("%s: %q is not in\n%s", c.args, c.want, text)
		}
	}
}

func TestRequirementsAreCounted(t *testing.T) {
	var got struct {
		Summary []struct {
			Revision string           `json:"revision"`
			Counts   []coverage.Count `json:"counts"`
		} `json:"summary"`
	}
	c := requirements(t, exitOK, "--summary", "--output", "json")
	if err := json.Unmarshal(c.out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Summary) != 6 || got.Summary[0].Revision != "" || got.Summary[1].Revision != "2026-07-28" {
		t.Errorf("the summary is of %+v, want all revisions together, then each, the newest first", got.Summary)
	}
	for _, s := range got.Summary {
		if !slices.Equal(s.Counts, coverage.Counts(s.Revision)) {
			t.Errorf("the counts of %q are %+v, want %+v", s.Revision, s.Counts, coverage.Counts(s.Revision))
		}
	}
	text := requirements(t, exitOK, "--summary", "--who", "intermediary", "--revision", "2026-07-28").out.String()
	if !strings.HasPrefix(text, "2026-07-28\n") || strings.Contains(text, "client") || strings.Count(text, "intermediary") != 2 {
		t.Errorf("the summary of intermediaries is\n%s", text)
	}
}
