package skill

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/mcp"
)

// Spec: ext-skills/stable skills#resource-mapping.
func TestRoot(t *testing.T) {
	for _, tt := range []struct{ uri, root, name string }{
		{"skill://git-workflow/SKILL.md", "skill://git-workflow", "git-workflow"},
		{"skill://acme/billing/refunds/SKILL.md", "skill://acme/billing/refunds", "refunds"},
		{"github://owner/repo/skills/refunds/SKILL.md", "github://owner/repo/skills/refunds", "refunds"},
		{"file:///srv/a%2Db/SKILL.md", "file:///srv/a%2Db", "a-b"},
		{"urn:skills/x/SKILL.md", "urn:skills/x", "x"},
		{"skill:x/SKILL.md", "skill:x", "x"},
	} {
		root, err := Root(tt.uri)
		if err != nil || root != tt.root || Name(root) != tt.name {
			t.Errorf("%s: %q, %q (%v)", tt.uri, root, Name(root), err)
		}
	}
	for _, bad := range []string{
		"", "x", "/x/SKILL.md", "skill://x", "skill://x/skill.md", "skill://x/SKILL.md/", "skill://SKILL.md", "skill:///SKILL.md", "skill:SKILL.md",
		"skill://x/a.md", "skill://x/aSKILL.md", "skill://x/SKILL.md?y", "skill://x?/SKILL.md", "skill://x/SKILL.md#y", "skill://x y/SKILL.md", "skill://x//SKILL.md",
		"skill://x/%zz/SKILL.md",
	} {
		if root, err := Root(bad); err == nil {
			t.Errorf("%q is the skill %q", bad, root)
		}
	}
}

// A path becomes a URI and a path again. What could lead out of the directory, or to
// different files on different systems, is none.
//
// Spec: ext-skills/stable skills#resources.
func TestPath(t *testing.T) {
	const root = "skill://a/b"
	for _, name := range []string{"SKILL.md", "references/GUIDE.md", "with space/ä#?%41.md", "...", ".hidden", "a:b@c"} {
		back, err := Path(root, URI(root, name))
		if err != nil || back != name {
			t.Errorf("%q became %q, then %q (%v)", name, URI(root, name), back, err)
		}
	}
	if URI(root, ".") != root {
		t.Errorf("the directory is %q", URI(root, "."))
	}
	for _, bad := range []string{
		"", "skill://a/b", "skill://a/b/", "skill://a/bc/SKILL.md", "skill://a/B/SKILL.md", "skill://c/b/SKILL.md", "file://a/b/SKILL.md",
		"skill://a/b/../SKILL.md", "skill://a/b/..", "skill://a/b/./x", "skill://a/b//x", "skill://a/b/x/", "skill://a/b/%2e%2e/x", "skill://a/b/..%2fx", "skill://a/b/x%2Fy",
		"skill://a/b/x%5Cy", "skill://a/b/x%00", "skill://a/b/x%0Ay", "skill://a/b/%ff", "skill://a/b/x?y", "skill://a/b/x#y", "skill://a/b/x y", `skill://a/b/x\y`,
	} {
		if name, err := Path(root, bad); err == nil {
			t.Errorf("%q is the file %q", bad, name)
		}
	}
}

func file(uri string) mcp.SkillResource {
	return mcp.SkillResource{URI: uri, Digest: Digest(nil), Size: 0}
}

// Spec: ext-skills/stable skills#resources.
// Spec: ext-skills/stable skills#limits.
func TestCheckEntry(t *testing.T) {
	const uri = "skill://a/b/SKILL.md"
	many := func(n int, size int64) []mcp.SkillResource {
		files := []mcp.SkillResource{file(uri)}
		for i := 1; i < n; i++ {
			files = append(files, mcp.SkillResource{URI: fmt.Sprintf("skill://a/b/%d", i), Digest: Digest(nil), Size: size})
		}
		return files
	}
	for _, tt := range []struct {
		name   string
		change func(*mcp.Skill)
		want   string
	}{
		{"good", func(*mcp.Skill) {}, ""},
		{"dynamic", func(s *mcp.Skill) { s.Resources = mcp.SkillResources{Dynamic: true} }, ""},
		{"another scheme", func(s *mcp.Skill) { s.URI, s.Resources.Files[0].URI = "x:b/SKILL.md", "x:b/SKILL.md" }, ""},
		{"a nested skill", func(s *mcp.Skill) { s.Resources.Files = append(s.Resources.Files, file("skill://a/b/c/SKILL.md")) }, ""},
		{"as many as allowed", func(s *mcp.Skill) { s.Resources.Files = many(MaxFiles, 0) }, ""},
		{"as large as allowed", func(s *mcp.Skill) { s.Resources.Files = many(3, MaxBytes/2) }, ""},

		{"too many", func(s *mcp.Skill) { s.Resources.Files = many(MaxFiles+1, 0) }, "513 files"},
		{"too large", func(s *mcp.Skill) { s.Resources.Files = many(4, MaxBytes/2) }, "more than 16777216 bytes"},
		{"endless", func(s *mcp.Skill) { s.Resources.Files = many(3, 1<<62) }, "more than 16777216 bytes"},
		{"not a skill's", func(s *mcp.Skill) { s.URI = "skill://a/b/README.md" }, "must end with"},
		{"another name", func(s *mcp.Skill) { s.URI = "skill://a/c/SKILL.md" }, "must have the skill's name"},
		{"no description", func(s *mcp.Skill) { s.Frontmatter = json.RawMessage(`{"name":"b"}`) }, "description"},
		{"no frontmatter", func(s *mcp.Skill) { s.Frontmatter = nil }, "name"},
		{"no resources", func(s *mcp.Skill) { s.Resources.Files = nil }, "neither a list"},
		{"no files", func(s *mcp.Skill) { s.Resources.Files = []mcp.SkillResource{} }, "SKILL.md is not among"},
		{"without itself", func(s *mcp.Skill) { s.Resources.Files[0].URI = "skill://a/b/x" }, "SKILL.md is not among"},
		{"itself, spelled differently", func(s *mcp.Skill) { s.Resources.Files[0].URI = "skill://a/b/S%4BILL.md" }, "SKILL.md is not among"},
		{"twice", func(s *mcp.Skill) { s.Resources.Files = append(s.Resources.Files, file(uri)) }, "listed twice"},
		{"twice, spelled differently", func(s *mcp.Skill) { s.Resources.Files = append(s.Resources.Files, file("skill://a/b/S%4BILL.md")) }, "listed twice"},
		{"outside", func(s *mcp.Skill) { s.Resources.Files = append(s.Resources.Files, file("skill://a/c/x")) }, "not in the skill's directory"},
		{"above", func(s *mcp.Skill) { s.Resources.Files = append(s.Resources.Files, file("skill://a/b/../x")) }, "cannot be the name of a file"},
		{"no digest", func(s *mcp.Skill) { s.Resources.Files[0].Digest = "" }, "digest"},
		{"negative size", func(s *mcp.Skill) { s.Resources.Files[0].Size = -1 }, "the size is -1"},
	} {
		s := &mcp.Skill{URI: uri, Frontmatter: json.RawMessage(`{"name":"b","description":"d"}`), Resources: mcp.SkillResources{Files: []mcp.SkillResource{file(uri)}}}
		tt.change(s)
		err := CheckEntry(s)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		large := strings.HasPrefix(tt.name, "too ") || tt.name == "endless"
		if errors.Is(err, ErrTooLarge) != large {
			t.Errorf("%s: %v is ErrTooLarge: %t", tt.name, err, !large)
		}
	}
}

// No URI becomes a path that leaves its directory.
func FuzzPath(f *testing.F) {
	for _, s := range []string{"SKILL.md", "../x", "%2e%2e/x", "a/%2F", "a//b", "a\\b", "%00", "ä"} {
		f.Add("skill://a", "skill://a/"+s)
	}
	f.Fuzz(func(t *testing.T, root, uri string) {
		name, err := Path(root, uri)
		if err != nil {
			return
		}
		for s := range strings.SplitSeq(name, "/") {
			if s == "" || s == "." || s == ".." || strings.ContainsAny(s, "\\\x00") {
				t.Fatalf("%q below %q is %q", uri, root, name)
			}
		}
		if back, err := Path(root, URI(root, name)); err != nil || back != name {
			t.Fatalf("%q below %q is %q, and back %q (%v)", uri, root, name, back, err)
		}
	})
}
