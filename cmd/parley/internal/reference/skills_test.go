package reference

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// withSkills is the mode in which a server has skills.
var withSkills = mcptest.Mode{Revision: mcp.Revision20260728, Transport: "lines"}

// The server's own skill names no tool or resource that there is not, its queries run, and
// what it says is in the files that it refers to.
func TestOwnSkill(t *testing.T) {
	c := mcptest.Connect(t, start(t, Options{}).srv, withSkills, &client.Options{})
	entry, err := c.GetSkill(t.Context(), ownSkill)
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.HoldSkill("reference", entry, nil)
	if err != nil {
		t.Fatal(err)
	}
	tools := map[string]bool{}
	for tool, err := range c.Tools(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		tools[tool.Name] = true
	}
	text, err := s.Read(t.Context(), "SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, word := range regexp.MustCompile("`([a-z]+_[a-z_]+)`").FindAllStringSubmatch(string(text), -1) {
		if name := word[1]; strings.HasSuffix(name, "_id") {
			continue
		} else if named++; !tools[name] {
			t.Errorf("it names %q, which is no tool", name)
		}
	}
	if named == 0 {
		t.Error("it names no tool")
	}
	queries, err := s.Read(t.Context(), "references/queries.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(queries), -1)
	for _, query := range found {
		r, err := c.CallTool(t.Context(), "query_database", map[string]any{"sql": query[1]})
		if err != nil || r.IsError || strings.Contains(string(r.StructuredContent), `"row_count":0`) {
			t.Errorf("%s: %v, %+v", query[1], err, r)
		}
	}
	if len(found) == 0 {
		t.Error("there are no queries")
	}
	if !strings.Contains(c.Instructions(), ownSkill) {
		t.Error("the server's instructions do not point to it")
	}
}

func skillText(name string) string {
	return "---\nname: " + name + "\ndescription: d\n---\n"
}

// listedSkills returns the URIs of the skills that are listed, without the server's own.
func listedSkills(t *testing.T, c *client.Client) []string {
	t.Helper()
	var uris []string
	for entry, err := range c.Skills(t.Context(), client.WithFresh()) {
		if err != nil {
			t.Fatal(err)
		}
		if entry.URI != ownSkill {
			uris = append(uris, entry.URI)
		}
	}
	return uris
}

// Skills in folders are served, and so is what becomes of them. While one is not good,
// everything stays as it was.
func TestSkillFolders(t *testing.T) {
	one, two := t.TempDir(), filepath.Join(t.TempDir(), "itself")
	write(t, filepath.Join(one, "acme", "refunds", "SKILL.md"), skillText("refunds"))
	write(t, filepath.Join(two, "SKILL.md"), skillText("itself"))
	c := mcptest.Connect(t, start(t, Options{Skills: []string{one, two}}).srv, withSkills, &client.Options{})
	if got, want := listedSkills(t, c), []string{"skill://acme/refunds/SKILL.md", "skill://itself/SKILL.md"}; !slices.Equal(got, want) {
		t.Fatalf("listed are %q, want %q", got, want)
	}
	told, err := listen(t, c, mcp.SubscriptionFilter{ResourcesListChanged: true})
	if err != nil {
		t.Fatal(err)
	}
	change := mcp.Change{Kind: mcp.ResourcesChanged}
	write(t, filepath.Join(one, "acme", "new", "deep", "SKILL.md"), skillText("deep"))
	told.want(t, change)
	if got := listedSkills(t, c); !slices.Contains(got, "skill://acme/new/deep/SKILL.md") {
		t.Errorf("after one was added, listed are %q", got)
	}
	write(t, filepath.Join(one, "bad", "SKILL.md"), skillText("other"))
	if err := os.RemoveAll(filepath.Join(one, "bad")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(one, "acme", "new", "deep", "more.md"), "more")
	told.want(t, change)
	entry, err := c.GetSkill(t.Context(), "skill://acme/new/deep/SKILL.md", client.WithFresh())
	if err != nil || len(entry.Resources.Files) != 2 {
		t.Errorf("after a file was added: %+v, %v", entry, err)
	}
	if err := os.RemoveAll(filepath.Join(one, "acme")); err != nil {
		t.Fatal(err)
	}
	for slices.Contains(listedSkills(t, c), "skill://acme/refunds/SKILL.md") { // it may go in several steps
		told.want(t, change)
	}
}

func TestBadSkillFolders(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "refunds", "SKILL.md"), skillText("returns"))
	for _, dirs := range [][]string{{dir}, {filepath.Join(dir, "none")}} {
		_, release, err := build(Options{Skills: dirs, Logger: mcptest.Quiet()})
		if err == nil {
			t.Errorf("%q: no error", dirs)
			_ = release()
		} else if !strings.Contains(err.Error(), filepath.Base(dirs[0])) {
			t.Errorf("error: %v", err)
		}
	}
}
