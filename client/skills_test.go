package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/skill"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

const (
	refunds     = "skill://acme/refunds/SKILL.md"
	refundsText = "---\nname: refunds\ndescription: Pay money back.\nmetadata:\n  version: 1.0\n---\n\n# Refunds\n"
	guide       = "skill://acme/refunds/references/The%20guide.md"
)

// shelf is a server of skills that says of them whatever a test makes it say.
type shelf struct {
	mu      sync.Mutex
	entries []string          // JSON
	files   map[string]string // by URI
	hints   string            // about caching
	lie     string            // what skills/get answers, whatever was asked for
	asked   []string          // methods and URIs, as they came
}

func newShelf() *shelf {
	s := &shelf{files: map[string]string{refunds: refundsText, guide: "Ask twice."}, hints: `"ttlMs":0,"cacheScope":"private"`}
	s.entries = []string{s.entry(refunds, guide)}
	return s
}

// entry returns the entry of the skill refunds with some of the files.
func (s *shelf) entry(uris ...string) string {
	files := []mcp.SkillResource{}
	for _, uri := range uris {
		data := []byte(s.files[uri])
		files = append(files, mcp.SkillResource{URI: uri, Digest: skill.Digest(data), Size: int64(len(data))})
	}
	raw, _ := wire.Marshal(files)
	return entryWith(string(raw))
}

func entryWith(resources string) string {
	return fmt.Sprintf(`{"uri":%q,"frontmatter":{"description":"Pay money back.","name":"refunds","metadata":{"version":1}},"resources":%s}`, refunds, resources)
}

func (s *shelf) serve(_ context.Context, x *mcp.Exchange) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	uri := mcp.MethodNamed(x.Method).SubjectOf(x.Params)
	s.asked = append(s.asked, strings.TrimSpace(x.Method+" "+uri))
	switch x.Method {
	case mcp.MethodListSkills:
		return s.page(x.Params)
	case mcp.MethodGetSkill:
		if s.lie != "" {
			return raw(`{"skill":%s,%s}`, s.lie, s.hints), nil
		}
		for _, e := range s.entries {
			if strings.Contains(e, `"uri":"`+uri+`","frontmatter"`) {
				return raw(`{"skill":%s,%s}`, e, s.hints), nil
			}
		}
	case mcp.MethodReadResource:
		if text, ok := s.files[uri]; ok {
			return raw(`{"contents":[{"uri":%q,"text":%q}],%s}`, uri, text, s.hints), nil
		}
	case mcp.MethodReadDirectory:
		return raw(`{"resources":[{"uri":%q,"name":"The guide.md"},{"uri":"%s/new.md","name":"new.md"}]}`, guide, uri), nil
	}
	return nil, &mcp.ResourceNotFoundError{URI: uri}
}

// page returns a page of one entry.
func (s *shelf) page(params json.RawMessage) (any, error) {
	at := 0
	if cursor, ok := wire.Text(wire.Find(params, "cursor")); ok {
		if _, err := fmt.Sscan(cursor, &at); err != nil {
			return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "no such cursor")
		}
	}
	next := ""
	if at+1 < len(s.entries) {
		next = fmt.Sprintf(`,"nextCursor":"%d"`, at+1)
	}
	return raw(`{"skills":[%s],%s%s}`, s.entries[at], s.hints, next), nil
}

// count returns how often something was asked for.
func (s *shelf) count(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(s.asked), func(asked string) bool { return asked != what }))
}

// set changes what the server has.
func (s *shelf) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// handler returns the server; settings are those of its extension.
func (s *shelf) handler(settings any) *server.Server {
	srv := newServer(&server.Options{
		Announce:   server.Features{Resources: true},
		Extensions: map[string]any{mcp.ExtensionSkills: settings},
	})
	srv.Use(func(next mcp.ServeFunc) mcp.ServeFunc {
		return func(ctx context.Context, x *mcp.Exchange) (any, error) {
			if x.Watch != nil {
				return next(ctx, x)
			}
			return s.serve(ctx, x)
		}
	})
	return srv
}

// connect connects to the server in memory.
func (s *shelf) connect(t *testing.T, settings any) *client.Client {
	t.Helper()
	return mcptest.Connect(t, s.handler(settings), mcptest.Mode{Revision: mcp.Revision20260728, Transport: "lines"}, &client.Options{})
}

// hold fetches the entry of a skill and holds it.
func hold(t *testing.T, c *client.Client) *client.Skill {
	t.Helper()
	entry, err := c.GetSkill(t.Context(), refunds, client.WithFresh())
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.HoldSkill("docs", entry, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// failed checks that an error is that of a check.
func failed(t *testing.T, err error, check client.SkillCheck, words string) {
	t.Helper()
	wrong, ok := errors.AsType[*client.SkillError](err)
	if !ok || wrong.Check != check || !strings.Contains(err.Error(), words) {
		t.Errorf("error: %v; want one of the check %q with %q", err, check, words)
	}
	if ok && (wrong.Server != "docs" || !strings.HasPrefix(wrong.URI, "skill://acme/")) {
		t.Errorf("the error is about %q of %q", wrong.URI, wrong.Server)
	}
}

// Listing, holding and approving a skill read none of its files; each of them is read when
// it is needed, by its URI or as the skill's texts refer to it.
//
// Spec: ext-skills/stable skills#lazy-retrieval.
func TestSkillIsReadWhenNeeded(t *testing.T) {
	shelf := newShelf()
	shelf.entries = append(shelf.entries, strings.ReplaceAll(entryWith(`"dynamic"`), "acme", "other"))
	c := shelf.connect(t, nil)
	listed, err := client.Collect(c.Skills(t.Context()))
	if err != nil || len(listed) != 2 || listed[0].Name() != "refunds" || !listed[1].Resources.Dynamic {
		t.Fatalf("listed: %v, %v", listed, err)
	}
	s := hold(t, c)
	if _, err := s.Approval(); err != nil {
		t.Error(err)
	}
	if n := shelf.count("resources/read " + refunds); n != 0 {
		t.Errorf("SKILL.md was read %d times before it was needed", n)
	}
	for _, ref := range []string{"SKILL.md", refunds, "./references/../SKILL.md"} {
		if data, err := s.Read(t.Context(), ref); err != nil || string(data) != refundsText {
			t.Errorf("%s: %q, %v", ref, data, err)
		}
	}
	for _, ref := range []string{guide, "references/The guide.md", "references/The%20guide.md"} {
		if data, err := s.Read(t.Context(), ref); err != nil || string(data) != "Ask twice." {
			t.Errorf("%s: %q, %v", ref, data, err)
		}
	}
	if s.Server() != "docs" || s.Entry().URI != refunds {
		t.Errorf("it is %q of %q", s.Entry().URI, s.Server())
	}
}

// Spec: ext-skills/stable skills#getting-a-skill.
// A skill that no list has is found by its URI. An answer about another skill is none.
func TestGetSkill(t *testing.T) {
	shelf := newShelf()
	c := shelf.connect(t, nil)
	if _, err := c.GetSkill(t.Context(), "skill://nope/SKILL.md"); !errors.Is(err, client.ErrNotFound) {
		t.Errorf("an unknown skill: %v", err)
	}
	shelf.set(func() { shelf.lie = strings.ReplaceAll(shelf.entries[0], "acme", "evil") })
	if entry, err := c.GetSkill(t.Context(), refunds); err == nil {
		t.Errorf("an entry of another skill was returned: %v", entry)
	}
}

// Spec: ext-skills/stable skills#capability-negotiation.
func TestSkillsAreNotAskedForUndeclared(t *testing.T) {
	shelf := newShelf()
	c := shelf.connect(t, nil)
	var undeclared *client.NotDeclaredError
	if _, err := client.Collect(c.Directory(t.Context(), "skill://acme/refunds")); !errors.As(err, &undeclared) {
		t.Errorf("a directory: %v", err)
	}
	plain := mcptest.Connect(t, newServer(nil), mcptest.Mode{Revision: mcp.Revision20260728, Transport: "lines"}, &client.Options{})
	if _, err := client.Collect(plain.Skills(t.Context())); !errors.As(err, &undeclared) || undeclared.Capability != mcp.ExtensionSkills {
		t.Errorf("a list of skills: %v", err)
	}
	if n := shelf.count("resources/directory/read skill://acme/refunds"); n != 0 {
		t.Error("the server was asked")
	}
}

// What a directory has now adds nothing to the skill that is held.
//
// Spec: ext-skills/stable skills#directory-reads-and-the-held-entry.
func TestDirectoryDoesNotExtendTheManifest(t *testing.T) {
	shelf := newShelf()
	c := shelf.connect(t, map[string]bool{"directoryRead": true})
	s := hold(t, c)
	found, err := client.Collect(c.Directory(t.Context(), "skill://acme/refunds/references"))
	if err != nil || len(found) != 2 || found[0].URI != guide {
		t.Fatalf("found %v, %v", found, err)
	}
	shelf.set(func() { shelf.files[found[1].URI] = "new" })
	_, err = s.Read(t.Context(), found[1].URI)
	failed(t, err, client.CheckManifest, "not among the files")
	if n := shelf.count("resources/read " + found[1].URI); n != 0 {
		t.Error("an unlisted file was asked for")
	}
}

// Each check of an entry, with a server that fails it and none else.
//
// Spec: ext-skills/stable skills#skill-entries.
func TestHoldSkill(t *testing.T) {
	good := newShelf().entries[0]
	file := func(uri string, size int) string {
		return fmt.Sprintf(`{"uri":%q,"digest":%q,"size":%d}`, uri, skill.Digest(nil), size)
	}
	files := func(n, size int) string {
		list := []string{file(refunds, size)}
		for i := range n - 1 {
			list = append(list, file(fmt.Sprintf("skill://acme/refunds/%d.md", i), size))
		}
		return entryWith("[" + strings.Join(list, ",") + "]")
	}
	replaced := func(old, by string) string { return strings.Replace(good, old, by, 1) }
	tests := []struct {
		name, entry string
		check       client.SkillCheck // "" means that it is fine
		words       string
	}{
		{"as it should be", good, "", ""},
		{"dynamic", entryWith(`"dynamic"`), "", ""},
		{"unknown members", replaced(`{"uri"`, `{"x":1,"uri"`), "", ""},
		{"other scheme", strings.ReplaceAll(good, "skill://acme", "github://acme/x"), "", ""},
		{"other last segment", strings.ReplaceAll(good, "acme/refunds", "acme/returns"), client.CheckName, `"returns"`},
		{"other name", replaced(`"name":"refunds"`, `"name":"returns"`), client.CheckName, `"returns"`},
		{"no name", replaced(`"name":"refunds"`, `"nom":"refunds"`), client.CheckName, ""},
		{"name is no text", replaced(`"name":"refunds"`, `"name":7`), client.CheckName, ""},
		{"no description", replaced(`"description"`, `"about"`), client.CheckEntry, "description"},
		{"no frontmatter", replaced(`"frontmatter"`, `"front"`), client.CheckName, ""},
		{"not a SKILL.md", replaced(`refunds/SKILL.md","frontmatter"`, `refunds","frontmatter"`), client.CheckEntry, "SKILL.md"},
		{"no resources", replaced(`"resources"`, `"res"`), client.CheckEntry, "dynamic"},
		{"resources null", entryWith("null"), client.CheckEntry, "dynamic"},
		{"resources an object", entryWith("{}"), client.CheckEntry, "dynamic"},
		{"other text", entryWith(`"later"`), client.CheckEntry, "dynamic"},
		{"empty list", entryWith("[]"), client.CheckEntry, "SKILL.md"},
		{"without SKILL.md", entryWith("[" + file(guide, 1) + "]"), client.CheckEntry, "SKILL.md"},
		{"twice", entryWith("[" + file(refunds, 1) + "," + file(refunds, 1) + "]"), client.CheckEntry, "twice"},
		{"outside", entryWith("[" + file(refunds, 1) + "," + file("skill://acme/other/x.md", 1) + "]"), client.CheckEntry, "not in the skill"},
		{"of another server", entryWith("[" + file(refunds, 1) + "," + file("https://evil.example/x.md", 1) + "]"), client.CheckEntry, "not in the skill"},
		{"dots", entryWith("[" + file(refunds, 1) + "," + file("skill://acme/refunds/%2e%2e/x.md", 1) + "]"), client.CheckEntry, "segment"},
		{"no digest", replaced(`"digest":"sha256:`, `"digest":"md5:`), client.CheckEntry, "digest"},
		{"digest in capitals", entryWith(`[{"uri":"` + refunds + `","digest":"` + strings.ToUpper(skill.Digest(nil)) + `","size":1}]`), client.CheckEntry, "digest"},
		{"negative size", entryWith("[" + file(refunds, -1) + "]"), client.CheckEntry, "-1"},
		{"as many files as allowed", files(512, 32768), "", ""},
		{"too many files", files(513, 1), client.CheckLimits, "513"},
		{"too many bytes", files(2, 8<<20+1), client.CheckLimits, "bytes"},
		{"far too many bytes", files(3, 1<<62), client.CheckLimits, "bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			shelf := newShelf()
			shelf.entries = []string{tt.entry}
			c := shelf.connect(t, nil)
			for entry, err := range c.Skills(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				_, err = c.HoldSkill("docs", entry, nil)
				if tt.check == "" && err != nil {
					t.Error(err)
				} else if tt.check != "" {
					failed(t, err, tt.check, tt.words)
				}
			}
			if n := len(shelf.asked); n != 1 {
				t.Errorf("the server was asked for %q", shelf.asked)
			}
		})
	}
}

// Each check of a file, with a server that changes it after its entry was fetched.
//
// Spec: ext-skills/stable skills#integrity-and-verification.
func TestReadOfASkill(t *testing.T) {
	edit := func(file, old, by string) func(s *shelf) {
		return func(s *shelf) { s.files[file] = strings.Replace(s.files[file], old, by, 1) }
	}
	// reseal changes SKILL.md before the entry is made, which leaves out what changed.
	reseal := func(old, by string) func(s *shelf) {
		return func(s *shelf) {
			edit(refunds, old, by)(s)
			s.entries = []string{s.entry(refunds, guide)}
		}
	}
	tests := []struct {
		name          string
		before, after func(s *shelf)
		file          string
		check         client.SkillCheck
		words         string
	}{
		{"other bytes", nil, edit(guide, "twice", "THICK"), guide, client.CheckDigest, "sha256:"},
		{"more bytes", nil, edit(guide, "twice", "thrice"), guide, client.CheckSize, "11 bytes"},
		{"SKILL.md changed", nil, edit(refunds, "# Refunds", "# Refuses"), refunds, client.CheckDigest, "sha256:"},
		{"unlisted", nil, func(s *shelf) { s.files["skill://acme/refunds/x.md"] = "" }, "x.md", client.CheckManifest, "not among"},
		{"above the skill", nil, nil, "../other/SKILL.md", client.CheckManifest, "not among"},
		{"of another skill", nil, nil, "skill://acme/other/SKILL.md", client.CheckManifest, "not among"},
		{"of the machine", nil, nil, "file:///etc/passwd", client.CheckManifest, "not among"},
		{"a field more", reseal("name:", "allowed-tools: Bash\nname:"), nil, "SKILL.md", client.CheckFrontmatter, "allowed-tools"},
		{"a field less", reseal("metadata:\n  version: 1.0\n", ""), nil, "SKILL.md", client.CheckFrontmatter, "metadata"},
		{"another value", reseal("version: 1.0", "version: 2.0"), nil, "SKILL.md", client.CheckFrontmatter, "metadata"},
		{"a deeper field more", reseal("version: 1.0", "version: 1.0\n  x: y"), nil, "SKILL.md", client.CheckFrontmatter, "metadata"},
		{"text for a number", reseal("version: 1.0", "version: '1'"), nil, "SKILL.md", client.CheckFrontmatter, "metadata"},
		{"no frontmatter", reseal("---\n", ""), nil, "SKILL.md", client.CheckFrontmatter, "frontmatter"},
		{"no YAML", reseal("description: Pay", "description: [Pay"), nil, "SKILL.md", client.CheckFrontmatter, "YAML"},
		{"dynamic, a field more", func(s *shelf) {
			edit(refunds, "name:", "x: y\nname:")(s)
			s.entries = []string{entryWith(`"dynamic"`)}
		}, nil, "SKILL.md", client.CheckFrontmatter, `"x"`},
		{"dynamic, outside", func(s *shelf) { s.entries = []string{entryWith(`"dynamic"`)} }, nil, "../x/SKILL.md", client.CheckManifest, "not within"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			shelf := newShelf()
			if tt.before != nil {
				tt.before(shelf)
			}
			s := hold(t, shelf.connect(t, nil))
			if tt.after != nil {
				shelf.set(func() { tt.after(shelf) })
			}
			data, err := s.Read(t.Context(), tt.file)
			failed(t, err, tt.check, tt.words)
			if data != nil {
				t.Errorf("content that failed a check was returned: %q", data)
			}
		})
	}
}

// A file that was cached before the entry was fetched is fetched anew; one that fits it is
// not. An entry is cached for as long as the server says.
//
// Spec: ext-skills/stable skills#lazy-retrieval.
func TestSkillsAreCached(t *testing.T) {
	shelf := newShelf()
	shelf.hints = `"ttlMs":60000,"cacheScope":"public"`
	c := shelf.connect(t, nil)
	s := hold(t, c)
	for range 2 {
		if _, err := s.Read(t.Context(), guide); err != nil {
			t.Fatal(err)
		}
		if _, err := c.GetSkill(t.Context(), refunds); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Collect(c.Skills(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	for _, what := range []string{"resources/read " + guide, "skills/get " + refunds, "skills/list"} {
		if n := shelf.count(what); n != 1 {
			t.Errorf("%s: asked %d times, want once", what, n)
		}
	}
	shelf.set(func() {
		shelf.files[guide] = "Ask thrice."
		shelf.entries = []string{shelf.entry(refunds, guide)}
	})
	now := hold(t, c)
	if data, err := now.Read(t.Context(), guide); err != nil || string(data) != "Ask thrice." {
		t.Errorf("after the change: %q, %v", data, err)
	}
	_, err := s.Read(t.Context(), guide)
	failed(t, err, client.CheckSize, "bytes")
}

// Spec: ext-skills/stable skills#security-considerations.
// An approval is bound to the server, the skill and all its files, in any order.
func TestApproval(t *testing.T) {
	shelf := newShelf()
	c := shelf.connect(t, nil)
	s := hold(t, c)
	approved, err := s.Approval()
	if err != nil || !s.Approved(approved) || s.Approved("") {
		t.Fatalf("%q, %v", approved, err)
	}
	shelf.set(func() { shelf.entries = []string{shelf.entry(guide, refunds)} })
	if !hold(t, c).Approved(approved) {
		t.Error("another order of the files revokes the approval")
	}
	other, err := c.HoldSkill("other", s.Entry(), nil)
	if err != nil || other.Approved(approved) {
		t.Errorf("the skill of another server is approved, too; %v", err)
	}
	const added = "skill://acme/refunds/new.md"
	for name, change := range map[string]func(){
		"rotated": func() { shelf.files[guide] = "Never ask." },
		"added":   func() { shelf.files[added] = "" },
	} {
		shelf.set(func() {
			shelf.files = newShelf().files
			change()
			uris := []string{refunds, guide}
			if _, ok := shelf.files[added]; ok {
				uris = append(uris, added)
			}
			shelf.entries = []string{shelf.entry(uris...)}
		})
		if hold(t, c).Approved(approved) {
			t.Errorf("a file was %s, and the approval still holds", name)
		}
	}
	shelf.set(func() { shelf.entries = []string{shelf.entry(refunds)} })
	if hold(t, c).Approved(approved) {
		t.Error("a file was removed, and the approval still holds")
	}
	shelf.set(func() { shelf.entries = []string{entryWith(`"dynamic"`)} })
	dynamic := hold(t, c)
	if _, err := dynamic.Approval(); dynamic.Approved(approved) || dynamic.Approved("") {
		t.Error("a dynamic skill is approved")
	} else {
		failed(t, err, client.CheckDynamic, "digests")
	}
}

// Spec: ext-skills/stable skills#limits.
func TestDynamicSkills(t *testing.T) {
	shelf := newShelf()
	shelf.entries = []string{entryWith(`"dynamic"`)}
	for i := range 3 {
		shelf.files[fmt.Sprintf("skill://acme/refunds/%d.md", i)] = strings.Repeat("x", 6<<20)
	}
	c := shelf.connect(t, nil)
	s := hold(t, c)
	for range 2 { // what is read again counts once
		for _, file := range []string{"SKILL.md", "references/The guide.md", "0.md", "1.md"} {
			if _, err := s.Read(t.Context(), file); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, err := s.Read(t.Context(), "2.md")
	failed(t, err, client.CheckLimits, "bytes")
	_, err = c.HoldSkill("docs", s.Entry(), &client.SkillOptions{NoDynamic: true})
	failed(t, err, client.CheckDynamic, "digests")
}

func TestSkillNeedsALabel(t *testing.T) {
	c := newShelf().connect(t, nil)
	entry, err := c.GetSkill(t.Context(), refunds)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.HoldSkill("", entry, nil); err == nil || !strings.Contains(err.Error(), "label") {
		t.Errorf("error: %v", err)
	}
}

// Content that a host has kept is checked as if it had just come.
func TestVerify(t *testing.T) {
	s := hold(t, newShelf().connect(t, nil))
	if err := s.Verify("SKILL.md", []byte(refundsText)); err != nil {
		t.Error(err)
	}
	failed(t, s.Verify(guide, []byte("Ask thick.")), client.CheckDigest, "sha256:")
	failed(t, s.Verify("x.md", nil), client.CheckManifest, "x.md")
}
