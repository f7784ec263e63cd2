package skilldir

import (
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/skill"
)

func TestFolder(t *testing.T) {
	tests := []struct{ server, uri, want string }{
		{"shop", "skill://refunds/SKILL.md", "shop/skill=/refunds"},
		{"shop", "skill://acme/billing/refunds/SKILL.md", "shop/skill=acme+billing+/refunds"},
		{"Shop", "skill://refunds/SKILL.md", "!shop/skill=/refunds"},
		{"https://shop.example.com/mcp", "github://Owner/repo/skills/refunds/SKILL.md", "https=shop.example.com+mcp/github=!owner+repo+skills+/refunds"},
		{"parley serve --stdio", "file:///srv/a%2Fb/x/SKILL.md", "parley%20serve%20--stdio/file=+srv+a%252!fb+/x"},
		{"..", "skill://../../x/SKILL.md", "%2e%2e/skill=..+..+/x"},
		{"con", "urn:x:y/z/SKILL.md", "%63on/urn%3ax%3ay+/z"},
		{"a.", "urn:a/x/SKILL.md", "a%2e/urn%3aa+/x"},
		{"shop", "x/SKILL.md", ""},
		{"shop", "skill://refunds", ""},
		{"shop", "skill://refunds/skill.md", ""},
		{"shop", "skill://refunds/../SKILL.md", ""},
		{"shop", "skill:////SKILL.md", ""},
		{"shop", "skill://Refunds/SKILL.md", ""},
		{"shop", "skill://nul/SKILL.md", ""},
		{"shop", "skill://a%2Fb/SKILL.md", ""},
		{"shop", `skill://a\..\b/SKILL.md`, ""},
		{"shop", "skill://a\x00b/SKILL.md", ""},
		{"shop", "skill://" + strings.Repeat("p/", 120) + "x/SKILL.md", ""},
		{"", "skill://refunds/SKILL.md", ""},
	}
	for _, tt := range tests {
		id := Identity{Server: tt.server, URI: tt.uri}
		got, err := id.Folder()
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%v: %q, %v; want %q", id, got, err, tt.want)
			continue
		}
		if back, ok := IdentityOf(got); err == nil && (!ok || back != id) {
			t.Errorf("%q is read as %v, want %v", got, back, id)
		}
	}
}

// Two servers that have a skill at the same URI, two URIs with the same name, and what
// differs only in case, have folders of their own; and none lies in another's.
//
// Spec: ext-skills/stable skills#skill-uris.
func TestFoldersAreApart(t *testing.T) {
	ids := []Identity{
		{"shop", "skill://refunds/SKILL.md"},
		{"Shop", "skill://refunds/SKILL.md"},
		{"other", "skill://refunds/SKILL.md"},
		{"shop", "skill://billing/refunds/SKILL.md"},
		{"shop", "skill://Billing/refunds/SKILL.md"},
		{"shop", "skill://refunds/nested/SKILL.md"},
		{"shop", "skill:///refunds/SKILL.md"},
		{"shop", "skill:refunds/x/refunds/SKILL.md"},
		{"shop", "x-skill://refunds/SKILL.md"},
		{"shop/skill:", "skill://refunds/SKILL.md"},
		{"shop+", "skill://refunds/SKILL.md"},
		{"shop%2b", "skill://refunds/SKILL.md"},
		{"shop", "skill://r=/refunds/SKILL.md"},
		{"shop", "skill://r:/refunds/SKILL.md"},
		{"shop", "skill://r:///refunds/SKILL.md"},
	}
	seen := map[string]Identity{}
	for _, id := range ids {
		at, err := id.Folder()
		if err != nil {
			t.Fatalf("%v: %v", id, err)
		}
		if other, twice := seen[strings.ToLower(at)]; twice {
			t.Errorf("%v and %v are both in %q", id, other, at)
		}
		seen[strings.ToLower(at)] = id
	}
	for a := range seen {
		for b := range seen {
			if strings.HasPrefix(a, b+"/") {
				t.Errorf("%q lies in %q", a, b)
			}
		}
	}
}

func TestFilePath(t *testing.T) {
	const skill = "skill://refunds/SKILL.md"
	tests := []struct{ rest, want string }{
		{"SKILL.md", "SKILL.md"},
		{"references/GUIDE.md", "references/GUIDE.md"},
		{"a%20b.md", "a b.md"},
		{"gr%C3%BC%C3%9Fe.md", "grüße.md"},
		{"nested/SKILL.md", "nested/SKILL.md"},
		{"", ""},
		{"a//b", ""},
		{"/etc/passwd", ""},
		{"a/", ""},
		{".", ""},
		{"..", ""},
		{"../x", ""},
		{"a/../../x", ""},
		{"a/./b", ""},
		{"%2e%2e/x", ""},
		{"%2E%2E/x", ""},
		{"..%2fx", ""},
		{"a%2Fb", ""},
		{"a%5Cb", ""},
		{`a\b`, ""},
		{"a%00b", ""},
		{"a\x00b", ""},
		{"a%0Ab", ""},
		{"a\nb", ""},
		{"%E2%80%AEgpj.exe", ""},
		{"a%ZZ", ""},
		{"a%", ""},
		{"%ff", ""},
		{"C:", ""},
		{"C:%5Cx", ""},
		{"a:stream", ""},
		{"CON", ""},
		{"con.md", ""},
		{"Nul.tar.gz", ""},
		{"com1.txt", ""},
		{"LPT%C2%B9", ""},
		{"aux .md", ""},
		{"x.", ""},
		{"x%20", ""},
		{"a|b", ""},
		{"a%3Fb", ""},
		{"a?b", ""},
		{"a#b", ""},
		{".git/hooks/post-checkout", ""},
		{".envrc", ""},
		{".parley.json", ""},
		{"a/.vscode/tasks.json", ""},
		{strings.Repeat("x", 201), ""},
		{strings.Repeat("x/", 600) + "x", ""},
		{"community.md", "community.md"},
		{"com.md", "com.md"},
		{"com10.md", "com10.md"},
		{"comlpt1.md", "comlpt1.md"},
	}
	for _, tt := range tests {
		got, err := FilePath(skill, "skill://refunds/"+tt.rest)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q: %q, %v; want %q", tt.rest, got, err, tt.want)
		}
	}
	for _, other := range []string{"skill://refunds", "skill://refunds2/x", "skill://other/x", "file:///etc/passwd", "", "SKILL.md"} {
		if got, err := FilePath(skill, other); err == nil {
			t.Errorf("%q is the file %q", other, got)
		}
	}
}

func TestCollisions(t *testing.T) {
	tests := []struct {
		paths []string
		ok    bool
	}{
		{[]string{"a", "b", "c/d", "c/e"}, true},
		{[]string{"a", "a"}, false},
		{[]string{"README.md", "readme.md"}, false},
		{[]string{"A/x", "a/y"}, false},
		{[]string{"a", "a/b"}, false},
		{[]string{"a/b", "a"}, false},
		{[]string{"a/b", "A"}, false},
		{[]string{"stra\u00dfe", "STRASSE"}, false},
		{[]string{"caf\u00e9", "cafe\u0301"}, false},
		{[]string{"\u212a.md", "k.md"}, false}, // the sign for kelvin
	}
	for _, tt := range tests {
		var files []File
		for _, p := range tt.paths {
			files = append(files, File{Path: p})
		}
		if err := (&Note{Files: files}).check(); (err == nil) != tt.ok {
			t.Errorf("%q: %v", tt.paths, err)
		}
	}
}

// Whatever the URIs, a path is local, stays what it was when it is cleaned, and says
// which skill is meant.
func FuzzPlaces(f *testing.F) {
	for _, uri := range []string{"skill://a/SKILL.md", "skill://../a/SKILL.md", "a/SKILL.md", "file:///x%2f/a/SKILL.md", "skill://A=:///+!%/a/SKILL.md"} {
		f.Add("shop", uri, "x/%2e%2e/y")
		f.Add("https://Shop.example/mcp?x=1", uri, "con/SKILL.md")
	}
	f.Fuzz(func(t *testing.T, server, uri, rest string) {
		id := Identity{Server: server, URI: uri}
		at, err := id.Folder()
		if err != nil {
			return
		}
		local(t, at)
		if back, ok := IdentityOf(at); !ok || back != id {
			t.Errorf("%q is read as %q, want %q", at, back, id)
		}
		if strings.ToLower(path.Dir(at)) != path.Dir(at) {
			t.Errorf("%q has upper-case letters", at)
		}
		file, err := FilePath(uri, strings.TrimSuffix(uri, skill.File)+rest)
		if err != nil {
			return
		}
		local(t, file)
	})
}

func local(t *testing.T, name string) {
	t.Helper()
	if !filepath.IsLocal(name) || path.Clean(name) != name || strings.ContainsAny(name, "\\:\x00") {
		t.Errorf("%q is not the path of a file", name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if err := checkName(part); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}
