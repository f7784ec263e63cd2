package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/parley-mcp/parley/internal/skill"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// skillPage returns a SKILL.md.
func skillPage(name string) *fstest.MapFile {
	return skillText("---\nname: " + name + "\ndescription: About " + name + ".\n---\nBody of " + name + "\n")
}

func skillText(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

// someSkills returns three skills, one of them nested.
func someSkills() fstest.MapFS {
	return fstest.MapFS{
		"README.md":                          skillText("beside"),
		"git/SKILL.md":                       skillPage("git"),
		"acme/refunds/SKILL.md":              skillPage("refunds"),
		"acme/refunds/logo.png":              skillText("\x89PNG\xff"),
		"acme/refunds/scripts/run.sh":        skillText("#!/bin/sh\n"),
		"acme/refunds/scripts/deep/SKILL.md": skillPage("deep"),
		"acme/refunds/none":                  {Mode: fs.ModeDir},
		"acme/refunds/.env":                  skillText("hunter2"),
	}
}

// listed returns the URIs in a result of a method, page by page.
func listed(t *testing.T, s *Server, method, member, params string) []string {
	t.Helper()
	var uris []string
	for range 100 {
		result := serve(t, s, method, params)
		var page struct {
			Skills, Resources []struct{ URI string }
			NextCursor        *string
		}
		decodeResult(t, result, &page)
		for _, e := range slices.Concat(page.Skills, page.Resources) {
			uris = append(uris, e.URI)
		}
		if page.NextCursor == nil {
			return uris
		}
		params = fmt.Sprintf(`{"uri":%q,"cursor":%q}`, member, *page.NextCursor)
	}
	t.Fatal("the list has no end")
	return nil
}

func decodeResult(t *testing.T, result string, v any) {
	t.Helper()
	if err := wire.Unmarshal([]byte(strings.NewReplacer(`"uri"`, `"URI"`, `"skills"`, `"Skills"`, `"resources"`, `"Resources"`, `"nextCursor"`, `"NextCursor"`).Replace(result)), v); err != nil {
		t.Fatalf("%v: %s", err, result)
	}
}

func skillsIn(t *testing.T, s *Server) []string {
	return listed(t, s, mcp.MethodListSkills, "", "{}")
}

func directoryOf(t *testing.T, s *Server, uri string) []string {
	return listed(t, s, mcp.MethodReadDirectory, uri, fmt.Sprintf(`{"uri":%q}`, uri))
}

func TestAddSkills(t *testing.T) {
	s, _ := newServer(Options{})
	if got := serve(t, s, mcp.MethodListSkills, "{}"); got != "error: method not found: skills/list" {
		t.Errorf("without skills: %s", got)
	}
	set := s.AddSkills(someSkills(), nil)
	all := []string{"skill://acme/refunds/SKILL.md", "skill://acme/refunds/scripts/deep/SKILL.md", "skill://git/SKILL.md"}
	if got := skillsIn(t, s); !slices.Equal(got, all) || !slices.Equal(set.URIs(), all) {
		t.Errorf("listed %q, added %q", got, set.URIs())
	}
	d := s.Describe(t.Context(), nil).Capabilities
	if string(d.Extensions[mcp.ExtensionSkills]) != `{"directoryRead":true}` || d.Resources == nil {
		t.Errorf("declared %+v", d)
	}
	// Spec: ext-skills/stable skills#getting-a-skill.
	got := serve(t, s, mcp.MethodGetSkill, `{"uri":"skill://git/SKILL.md"}`)
	data := skillPage("git").Data
	want := fmt.Sprintf(`{"skill":{"uri":"skill://git/SKILL.md","frontmatter":{"name":"git","description":"About git."},"resources":[{"uri":"skill://git/SKILL.md","digest":%q,"size":%d}]}}`, skill.Digest(data), len(data))
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	// Spec: ext-skills/stable skills#resource-metadata.
	for _, tt := range []struct{ uri, want string }{
		{"skill://git/SKILL.md", `{"contents":[{"uri":"skill://git/SKILL.md","mimeType":"text/markdown","text":"---\nname: git\ndescription: About git.\n---\nBody of git\n"}]}`},
		{"skill://acme/refunds/logo.png", `{"contents":[{"uri":"skill://acme/refunds/logo.png","mimeType":"image/png","blob":"iVBOR/8="}]}`},
		{"skill://acme/refunds/scripts/run.sh", `{"contents":[{"uri":"skill://acme/refunds/scripts/run.sh","mimeType":"application/x-sh","text":"#!/bin/sh\n"}]}`},
		{"skill://acme/refunds/.env", "error: resource not found: skill://acme/refunds/.env"},
		{"skill://README.md", "error: resource not found: skill://README.md"},
		{"skill://acme/refunds/../../README.md", "error: resource not found: skill://acme/refunds/../../README.md"},
	} {
		if got := read(t, s, tt.uri); got != tt.want {
			t.Errorf("got %s\nwant %s", got, tt.want)
		}
	}
	resources := serve(t, s, mcp.MethodListResources, "{}")
	for _, want := range []string{
		fmt.Sprintf(`{"uri":"skill://git/SKILL.md","name":"git","description":"About git.","mimeType":"text/markdown","size":%d}`, len(data)),
		`{"uri":"skill://acme/refunds/scripts/run.sh","name":"run.sh","mimeType":"application/x-sh","size":10}`,
	} {
		if !strings.Contains(resources, want) {
			t.Errorf("no %s in %s", want, resources)
		}
	}
	set.Remove()
	set.Remove()
	if got := append(skillsIn(t, s), listed(t, s, mcp.MethodListResources, "", "{}")...); len(got) > 0 {
		t.Errorf("still there after removal: %q", got)
	}
	if got := read(t, s, all[0]); !strings.HasPrefix(got, "error: resource not found") {
		t.Errorf("still there after removal: %s", got)
	}
	if err := set.Refresh(); err == nil || len(set.URIs()) > 0 {
		t.Errorf("refreshed after removal: %v, %q", err, set.URIs())
	}
}

// Every digest is that of what a client reads.
//
// Spec: ext-skills/stable skills#integrity-and-verification.
func TestManifestIsWhatIsRead(t *testing.T) {
	s, _ := newServer(Options{})
	s.AddSkills(someSkills(), &SkillsOptions{Prefix: "github://owner/repo/", Skip: func(string) bool { return false }})
	checkManifests(t, s, 3)
	if got := read(t, s, "github://owner/repo/acme/refunds/.env"); !strings.Contains(got, "hunter2") {
		t.Errorf("a file that is not to be skipped: %s", got)
	}
}

// checkManifests reads all files of all listed skills.
func checkManifests(t *testing.T, s *Server, want int) {
	t.Helper()
	var result mcp.ListSkillsResult
	if err := wire.Unmarshal([]byte(serve(t, s, mcp.MethodListSkills, "{}")), &result); err != nil || len(result.Skills) != want {
		t.Fatalf("%d skills, want %d (%v)", len(result.Skills), want, err)
	}
	for _, e := range result.Skills {
		if err := skill.CheckEntry(e); err != nil {
			t.Error(err)
		}
		for _, f := range e.Resources.Files {
			var r mcp.ReadResourceResult
			if err := wire.Unmarshal([]byte(read(t, s, f.URI)), &r); err != nil {
				t.Fatalf("%s: %v", f.URI, err)
			}
			data := r.Contents[0].Blob
			if r.Contents[0].Text != nil {
				data = []byte(*r.Contents[0].Text)
			}
			if skill.Digest(data) != f.Digest || int64(len(data)) != f.Size {
				t.Errorf("%s is not what the manifest says", f.URI)
			}
		}
	}
}

// Spec: ext-skills/stable skills#reading-directories.
func TestReadDirectory(t *testing.T) {
	for _, size := range []int{0, 1, 2} {
		s, _ := newServer(Options{PageSize: size})
		s.AddSkills(someSkills(), nil)
		s.AddSkills(fstest.MapFS{"taxes/SKILL.md": skillPage("taxes")}, &SkillsOptions{Prefix: "skill://acme/"})
		for _, tt := range []struct{ uri, want string }{
			{"skill://acme", "skill://acme/refunds skill://acme/taxes"},
			{"skill://git", "skill://git/SKILL.md"},
			{"skill://acme/refunds", "skill://acme/refunds/SKILL.md skill://acme/refunds/logo.png skill://acme/refunds/none skill://acme/refunds/scripts"},
			{"skill://acme/refunds/scripts", "skill://acme/refunds/scripts/deep skill://acme/refunds/scripts/run.sh"},
			{"skill://acme/refunds/none", ""},
		} {
			if got := strings.Join(directoryOf(t, s, tt.uri), " "); got != tt.want {
				t.Errorf("%s has %s, want %s", tt.uri, got, tt.want)
			}
		}
	}
	s, _ := newServer(Options{})
	s.AddSkills(someSkills(), nil)
	want := `{"resources":[{"uri":"skill://acme/refunds/scripts/deep","name":"deep","mimeType":"inode/directory"},{"uri":"skill://acme/refunds/scripts/run.sh","name":"run.sh","mimeType":"application/x-sh","size":10}]}`
	if got := serve(t, s, mcp.MethodReadDirectory, `{"uri":"skill://acme/refunds/scripts"}`); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got := serve(t, s, mcp.MethodReadDirectory, `{"uri":"skill://acme/refunds/none"}`); got != `{"resources":[]}` {
		t.Errorf("an empty directory is %s", got)
	}
}

// Spec: ext-skills/stable skills#error-handling.
func TestSkillErrors(t *testing.T) {
	s, _ := newServer(Options{})
	s.AddSkills(someSkills(), nil)
	for _, tt := range []struct{ method, params, want string }{
		{mcp.MethodGetSkill, `{"uri":"skill://none/SKILL.md"}`, `no skill is served at "skill://none/SKILL.md"`},
		{mcp.MethodGetSkill, `{"uri":"skill://git"}`, `no skill is served at "skill://git"; the URI of a skill ends with "/SKILL.md"`},
		{mcp.MethodGetSkill, `{"uri":"skill://acme/refunds/logo.png"}`, "no skill is served"},
		{mcp.MethodGetSkill, `{}`, "no skill is served"},
		{mcp.MethodGetSkill, `{"uri":7}`, "params of skills/get"},
		{mcp.MethodReadDirectory, `{"uri":"skill://git/SKILL.md"}`, `"skill://git/SKILL.md" is a file, not a directory`},
		{mcp.MethodReadDirectory, `{"uri":"skill://none"}`, `no directory is served at "skill://none"`},
		{mcp.MethodReadDirectory, `{"uri":"skill://git/"}`, "its URI has no slash at the end"},
		{mcp.MethodReadDirectory, `{"uri":"skill://"}`, "no directory is served"},
		{mcp.MethodReadDirectory, `{"uri":"skill:/"}`, "no directory is served"},
		{mcp.MethodReadDirectory, `{}`, "no directory is served"},
		{mcp.MethodReadDirectory, `{"uri":"skill://git","cursor":"x"}`, `invalid cursor "x"`},
		{mcp.MethodListSkills, `{"cursor":"x"}`, `invalid cursor "x"`},
	} {
		got := serve(t, s, tt.method, tt.params)
		if !strings.HasPrefix(got, "error: ") || !strings.Contains(got, tt.want) {
			t.Errorf("%s %s: %s", tt.method, tt.params, got)
		}
	}
	_, err := s.Serve(t.Context(), request(mcp.MethodGetSkill, `{"uri":"skill://none/SKILL.md"}`))
	if coded, ok := errors.AsType[*jsonrpc.Error](err); !ok || coded.Code != jsonrpc.CodeInvalidParams || string(coded.Data) != `{"uri":"skill://none/SKILL.md"}` {
		t.Errorf("the error is %+v", err)
	}
}

func TestSkillsAreListedInPages(t *testing.T) {
	s, _ := newServer(Options{PageSize: 1})
	s.AddSkills(someSkills(), nil)
	if got := skillsIn(t, s); len(got) != 3 {
		t.Errorf("listed %q", got)
	}
	var first struct{ NextCursor string }
	decodeResult(t, serve(t, s, mcp.MethodListResources, "{}"), &first)
	if got := serve(t, s, mcp.MethodListSkills, fmt.Sprintf(`{"cursor":%q}`, first.NextCursor)); !strings.Contains(got, "invalid cursor") {
		t.Errorf("a cursor of another list: %s", got)
	}
}

// Spec: ext-skills/stable skills#getting-a-skill.
func TestUnlistedSkills(t *testing.T) {
	s, _ := newServer(Options{})
	s.AddSkills(someSkills(), &SkillsOptions{Unlisted: true})
	if got := append(skillsIn(t, s), listed(t, s, mcp.MethodListResources, "", "{}")...); len(got) > 0 {
		t.Errorf("listed %q", got)
	}
	if got := serve(t, s, mcp.MethodGetSkill, `{"uri":"skill://git/SKILL.md"}`); !strings.Contains(got, `"name":"git"`) {
		t.Errorf("got %s", got)
	}
	if got := read(t, s, "skill://acme/refunds/scripts/run.sh"); !strings.Contains(got, "#!/bin/sh") {
		t.Errorf("read %s", got)
	}
	if got := directoryOf(t, s, "skill://acme/refunds/scripts"); len(got) != 2 {
		t.Errorf("the directory has %q", got)
	}
	if got := serve(t, s, mcp.MethodReadDirectory, `{"uri":"skill://acme"}`); !strings.Contains(got, "no directory is served") {
		t.Errorf("a directory that gives the skills in it away: %s", got)
	}
}

// Whoever may not see one file of a skill sees the other files, and no skill.
func TestVisibleSkills(t *testing.T) {
	s, _ := newServer(Options{PageSize: 1, Visible: func(_ context.Context, _ *mcp.Exchange, kind mcp.FeatureKind, name string) bool {
		if kind != mcp.ResourceFeature {
			t.Errorf("asked about a feature of the kind %d", kind)
		}
		return name != "skill://acme/refunds/logo.png" && name != "skill://git/SKILL.md" && !strings.HasPrefix(name, "skill://acme/refunds/scripts/d")
	}})
	s.AddSkills(someSkills(), nil)
	s.AddSkills(fstest.MapFS{"tax/SKILL.md": skillPage("tax")}, nil)
	if got := skillsIn(t, s); !slices.Equal(got, []string{"skill://tax/SKILL.md"}) {
		t.Errorf("listed %q", got)
	}
	for _, uri := range []string{"skill://acme/refunds/SKILL.md", "skill://git/SKILL.md"} {
		if got := serve(t, s, mcp.MethodGetSkill, `{"uri":"`+uri+`"}`); !strings.Contains(got, "no skill is served") {
			t.Errorf("%s: %s", uri, got)
		}
	}
	if got := read(t, s, "skill://acme/refunds/SKILL.md"); !strings.Contains(got, "Body of refunds") {
		t.Errorf("a file that is not hidden: %s", got)
	}
	if got := directoryOf(t, s, "skill://acme/refunds/scripts"); !slices.Equal(got, []string{"skill://acme/refunds/scripts/run.sh"}) {
		t.Errorf("the directory has %q", got)
	}
	for _, uri := range []string{"skill://git", "skill://git/SKILL.md", "skill://acme/refunds/scripts/deep"} {
		if got := serve(t, s, mcp.MethodReadDirectory, `{"uri":"`+uri+`"}`); !strings.Contains(got, "no directory is served") {
			t.Errorf("%s: %s", uri, got)
		}
	}
}

func TestSkillsRefused(t *testing.T) {
	s, _ := newServer(Options{})
	s.AddSkills(fstest.MapFS{"acme/refunds/SKILL.md": skillPage("refunds")}, nil)
	s.AddResource(mcp.Resource{URI: "skill://taken/SKILL.md", Name: "n"}, readText(""))
	one := func(name string, file *fstest.MapFile) fs.FS { return fstest.MapFS{name: file} }
	for _, tt := range []struct {
		name string
		fsys fs.FS
		opts *SkillsOptions
		want []string
	}{
		{"no file tree", nil, nil, []string{"the file tree is nil"}},
		{"prefix without a slash", someSkills(), &SkillsOptions{Prefix: "skill://x"}, []string{"SkillsOptions.Prefix", "end with a slash"}},
		{"prefix without a scheme", someSkills(), &SkillsOptions{Prefix: "x/"}, []string{"SkillsOptions.Prefix", "scheme"}},
		{"prefix with a query", someSkills(), &SkillsOptions{Prefix: "skill://x?/"}, []string{"SkillsOptions.Prefix"}},
		{"two bad ones", fstest.MapFS{"a/SKILL.md": skillPage("b"), "c/SKILL.md": skillText("no frontmatter"), "d/SKILL.md": skillPage("d")}, nil, []string{
			`the directory "a": skill://a/SKILL.md: the directory must have the skill's name, which is "b"`, `the directory "c": c/SKILL.md: it must begin with YAML frontmatter`,
		}},
		{"the same", one("acme/refunds/SKILL.md", skillPage("refunds")), nil, []string{"was added separately"}},
		{"around", one("acme/SKILL.md", skillPage("acme")), nil, []string{"was added separately"}},
		{"within", one("acme/refunds/more/SKILL.md", skillPage("more")), nil, []string{"was added separately"}},
		{"a resource", one("taken/SKILL.md", skillPage("taken")), nil, []string{"skill://taken/SKILL.md: there is a resource"}},
		{"the root itself", one("SKILL.md", skillPage("x")), nil, []string{"a directory must stand before"}},
		{"too much", someSkills(), &SkillsOptions{Prefix: "skill://y/", MaxBytes: 60}, []string{"raise MaxBytes"}},
		{"unreadable", brokenFS{}, nil, []string{"no disk"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set, err := s.TryAddSkills(tt.fsys, tt.opts)
			if err == nil || set != nil {
				t.Fatal("added")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q", err, want)
				}
			}
		})
	}
	if got := skillsIn(t, s); len(got) != 1 {
		t.Errorf("listed %q", got)
	}
	if err := s.TryAddResource(mcp.Resource{URI: "skill://acme/refunds/SKILL.md", Name: "n"}, readText("")); err == nil || !strings.Contains(err.Error(), "is a file of a skill") {
		t.Errorf("a resource in the place of a skill's file: %v", err)
	}
	s.RemoveResources("skill://acme/refunds/SKILL.md", "skill://taken/SKILL.md")
	if got := listed(t, s, mcp.MethodListResources, "", "{}"); !slices.Equal(got, []string{"skill://acme/refunds/SKILL.md"}) {
		t.Errorf("left are %q", got)
	}
	if _, err := s.TryAddSkills(one("SKILL.md", skillPage("pdf")), &SkillsOptions{Prefix: "skill://tools/pdf/"}); err != nil {
		t.Errorf("a tree that is one skill: %v", err)
	}
	defer func() {
		if p := recover(); p == nil {
			t.Error("AddSkills did not panic")
		}
	}()
	s.AddSkills(one("x/SKILL.md", skillPage("y")), nil)
}

type brokenFS struct{}

func (brokenFS) Open(string) (fs.File, error) { return nil, errors.New("no disk") }

// changesFor subscribes to changes.
func changesFor(s *Server, uris ...string) (seen func() []mcp.Change) {
	var mu sync.Mutex
	var got []mcp.Change
	s.hub.Subscribe(mcp.SubscriptionFilter{ResourcesListChanged: true, ResourceSubscriptions: uris}, func(c mcp.Change) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, c)
	})
	return func() []mcp.Change {
		mu.Lock()
		defer mu.Unlock()
		all := got
		got = nil
		return all
	}
}

func TestRefreshSkills(t *testing.T) {
	s, _ := newServer(Options{})
	fsys := someSkills()
	set := s.AddSkills(fsys, nil)
	const script, page = "skill://acme/refunds/scripts/run.sh", "skill://acme/refunds/SKILL.md"
	changes := changesFor(s, script, page)
	list := mcp.Change{Kind: mcp.ResourcesChanged}
	updated := mcp.Change{Kind: mcp.ResourceUpdated, URI: script}
	refresh := func(what string, skills int, want ...mcp.Change) {
		t.Helper()
		if err := set.Refresh(); err != nil {
			t.Fatal(err)
		}
		if got := changes(); !slices.Equal(got, want) {
			t.Errorf("%s: told of %v, want %v", what, got, want)
		}
		checkManifests(t, s, skills)
	}
	refresh("nothing", 3)
	fsys["acme/refunds/scripts/run.sh"] = skillText("#!/bin/no\n") // as long as before
	refresh("a file", 3, list, updated)
	fsys["new/SKILL.md"] = skillPage("new")
	refresh("a skill more", 4, list)
	delete(fsys, "acme/refunds/scripts/run.sh")
	refresh("a file less", 4, list, updated)
	delete(fsys, "git/SKILL.md")
	refresh("a skill less", 3, list)
	if got := directoryOf(t, s, "skill://acme/refunds/scripts"); !slices.Equal(got, []string{"skill://acme/refunds/scripts/deep"}) {
		t.Errorf("the directory has %q", got)
	}

	before := skillsIn(t, s)
	fsys["new/SKILL.md"] = skillText("---\nname: new\n")
	fsys["acme/refunds/SKILL.md"] = skillText("---\nname: refunds\ndescription: Changed.\n---\n")
	if err := set.Refresh(); err == nil || !strings.Contains(err.Error(), `the directory "new"`) {
		t.Errorf("refreshed: %v", err)
	}
	if got := changes(); len(got) > 0 || !slices.Equal(skillsIn(t, s), before) || !strings.Contains(read(t, s, page), "About refunds.") {
		t.Errorf("a failed refresh changed something: %v", got)
	}
	checkManifests(t, s, 3)
	set.Remove()
	if got := changes(); !slices.Contains(got, list) || !slices.Contains(got, mcp.Change{Kind: mcp.ResourceUpdated, URI: page}) {
		t.Errorf("removal told of %v", got)
	}
}

// Of two refreshs at the same time, the one that began later counts.
func TestRefreshSkillsAtOnce(t *testing.T) {
	s, _ := newServer(Options{})
	fsys := &slowFS{MapFS: fstest.MapFS{"a/SKILL.md": skillPage("a")}}
	set := s.AddSkills(fsys, nil)
	begun, proceed := fsys.hold()
	done := make(chan error)
	go func() { done <- set.Refresh() }()
	<-begun
	fsys.replace(fstest.MapFS{"b/SKILL.md": skillPage("b")})
	if err := set.Refresh(); err != nil {
		t.Fatal(err)
	}
	close(proceed)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := skillsIn(t, s); !slices.Equal(got, []string{"skill://b/SKILL.md"}) {
		t.Errorf("listed %q", got)
	}
}

// slowFS is a tree whose next file is opened at once, and read later.
type slowFS struct {
	fstest.MapFS

	mu             sync.Mutex
	begun, proceed chan struct{}
}

func (f *slowFS) hold() (begun, proceed chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begun, f.proceed = make(chan struct{}), make(chan struct{})
	return f.begun, f.proceed
}

func (f *slowFS) replace(m fstest.MapFS) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.MapFS = m
}

func (f *slowFS) ReadDir(name string) ([]fs.DirEntry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.MapFS.ReadDir(name)
}

func (f *slowFS) Open(name string) (fs.File, error) {
	f.mu.Lock()
	tree, begun, proceed := f.MapFS, f.begun, f.proceed
	f.begun = nil
	f.mu.Unlock()
	if begun != nil {
		close(begun)
		<-proceed
	}
	return tree.Open(name)
}
