package spec_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

const (
	refundsPage = "skill://acme/refunds/SKILL.md"
	refundsMail = "skill://acme/refunds/examples/email.md"
	refundsLogo = "skill://acme/refunds/logo.png"
	dailyPage   = "skill://reports/daily/SKILL.md"
)

func skillTree() fstest.MapFS {
	return fstest.MapFS{
		"acme/refunds/SKILL.md":          {Data: []byte("---\nname: refunds\ndescription: Pay money back.\nlicense: Apache-2.0\nmetadata:\n  version: \"1.0\"\n---\n\nSee examples/email.md.\n")},
		"acme/refunds/examples/email.md": {Data: []byte("Dear customer,\n")},
		"acme/refunds/logo.png":          {Data: []byte("\x89PNG\r\n\x1a\n\xff\x00")},
		"git/SKILL.md":                   {Data: []byte("---\nname: git\ndescription: Our ways with Git.\n---\n")},
	}
}

// skilled returns a server with skills of every kind.
func skilled() *server.Server {
	s := server.New(mcp.Implementation{Name: "s", Version: "1"}, &server.Options{
		Logger:        mcptest.Quiet(),
		Subscriptions: true,
		PageSize:      2,
		Cache: map[string]server.CacheHint{
			mcp.MethodListSkills: {TTL: 5 * time.Minute, Scope: mcp.CachePublic},
			mcp.MethodGetSkill:   {TTL: time.Minute},
		},
	})
	s.AddSkills(skillTree(), nil)
	s.AddDynamicSkill(server.DynamicSkill{
		URI: dailyPage, Frontmatter: "name: daily\ndescription: The report of today.",
		Body: func(context.Context, *server.Call) (string, error) { return "All is well.\n", nil },
	})
	return s
}

// Spec: ext-skills/stable skills#listing-skills.
// Spec: ext-skills/stable skills#integrity-and-verification.
func TestSkillsFromServerToHost(t *testing.T) {
	mcptest.RunModes(t, statelessModes(), func() mcp.Handler { return skilled() }, nil, func(t *testing.T, c *client.Client) {
		all, err := client.Collect(c.Skills(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, entry := range all {
			names = append(names, entry.Name())
			held, err := c.HoldSkill("label", entry, nil)
			if err != nil {
				t.Errorf("%s: %v", entry.URI, err)
				continue
			}
			for _, f := range append(entry.Resources.Files, mcp.SkillResource{URI: entry.URI}) {
				if _, err := held.Read(t.Context(), f.URI); err != nil {
					t.Errorf("%s: %v", f.URI, err)
				}
			}
			again, err := c.GetSkill(t.Context(), entry.URI)
			if err != nil || string(again.Frontmatter) != string(entry.Frontmatter) || len(again.Resources.Files) != len(entry.Resources.Files) {
				t.Errorf("skills/get of %s: %+v (%v)", entry.URI, again, err)
			}
		}
		if want := []string{"refunds", "git", "daily"}; !slices.Equal(names, want) {
			t.Errorf("listed %q, want %q", names, want)
		}
		children, err := client.Collect(c.Directory(t.Context(), "skill://acme/refunds"))
		if err != nil || len(children) != 3 || children[1].MIMEType != mcp.MIMETypeDirectory {
			t.Errorf("the directory has %+v (%v)", children, err)
		}
		if _, err := c.GetSkill(t.Context(), "skill://none/SKILL.md"); !errors.Is(err, client.ErrNotFound) {
			t.Errorf("a skill that is not there: %v", err)
		}
	})
}

// What goes over the wire is as the page has it.
//
// Spec: ext-skills/stable skills#listing-skills.
// Spec: ext-skills/stable skills#getting-a-skill.
// Spec: ext-skills/stable skills#reading-directories.
func TestSkillsOnTheWire(t *testing.T) {
	mcptest.RunModes(t, statelessModes(), func() mcp.Handler { return skilled() }, nil, func(t *testing.T, c *client.Client) {
		for _, tt := range []struct{ method, params, want string }{
			{mcp.MethodListSkills, `{}`, `{"resultType":"complete","skills":[` + refundsEntry + `,` + gitEntry + `],"ttlMs":300000,"cacheScope":"public","nextCursor":"*"}`},
			{mcp.MethodGetSkill, `{"uri":"` + refundsPage + `"}`, `{"resultType":"complete","skill":` + refundsEntry + `,"ttlMs":60000,"cacheScope":"private"}`},
			{mcp.MethodGetSkill, `{"uri":"` + dailyPage + `"}`, `{"resultType":"complete","skill":{"uri":"` + dailyPage + `","frontmatter":{"name":"daily","description":"The report of today."},"resources":"dynamic"},"ttlMs":60000,"cacheScope":"private"}`},
			{mcp.MethodReadDirectory, `{"uri":"skill://acme/refunds/examples"}`, `{"resultType":"complete","resources":[{"uri":"` + refundsMail + `","name":"email.md","mimeType":"text/markdown","size":15}]}`},
			{mcp.MethodReadDirectory, `{"uri":"skill://acme"}`, `{"resultType":"complete","resources":[{"uri":"skill://acme/refunds","name":"refunds","mimeType":"inode/directory"}]}`},
		} {
			got, err := c.Do(t.Context(), tt.method, json.RawMessage(tt.params))
			if err != nil {
				t.Errorf("%s %s: %v", tt.method, tt.params, err)
				continue
			}
			sameResult(t, got, tt.want)
		}
		var failed *jsonrpc.Error
		for _, tt := range []struct{ method, uri string }{
			{mcp.MethodGetSkill, "skill://acme/billing/SKILL.md"},
			{mcp.MethodGetSkill, refundsMail},
			{mcp.MethodReadDirectory, refundsPage},
			{mcp.MethodReadDirectory, "skill://none"},
			{mcp.MethodReadResource, "skill://acme/refunds/none.md"},
		} {
			_, err := c.Do(t.Context(), tt.method, map[string]string{"uri": tt.uri})
			if !errors.As(err, &failed) || failed.Code != jsonrpc.CodeInvalidParams || !strings.Contains(string(failed.Data), tt.uri) {
				t.Errorf("%s of %s: %v", tt.method, tt.uri, err)
			}
		}
	})
}

var (
	refundsEntry = `{"uri":"` + refundsPage + `","frontmatter":{"name":"refunds","description":"Pay money back.","license":"Apache-2.0","metadata":{"version":"1.0"}},"resources":[` +
		listedFile(refundsPage) + "," + listedFile(refundsMail) + "," + listedFile(refundsLogo) + `]}`
	gitEntry = `{"uri":"skill://git/SKILL.md","frontmatter":{"name":"git","description":"Our ways with Git."},"resources":[` + listedFile("skill://git/SKILL.md") + `]}`
)

// listedFile returns what a manifest says of a file of skillTree.
func listedFile(uri string) string {
	data := skillTree()[strings.TrimPrefix(uri, "skill://")].Data
	return fmt.Sprintf(`{"uri":%q,"digest":"sha256:%x","size":%d}`, uri, sha256.Sum256(data), len(data))
}

// sameResult compares a result with the JSON that is wanted, but for _meta. A cursor may
// be anything.
func sameResult(t *testing.T, got json.RawMessage, want string) {
	t.Helper()
	var have, wanted map[string]any
	if err := errors.Join(json.Unmarshal(got, &have), json.Unmarshal([]byte(want), &wanted)); err != nil {
		t.Fatal(err)
	}
	delete(have, "_meta")
	if _, more := have["nextCursor"]; more {
		have["nextCursor"] = "*"
	}
	if !reflect.DeepEqual(have, wanted) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// In a session the files are resources, and nothing else is there.
//
// Spec: ext-skills/stable skills#capability-negotiation.
func TestSkillsInSessions(t *testing.T) {
	sessions := slices.DeleteFunc(mcptest.Modes(), func(m mcptest.Mode) bool { return m.Revision == mcp.Revision20260728 })
	mcptest.RunModes(t, sessions, func() mcp.Handler { return skilled() }, nil, func(t *testing.T, c *client.Client) {
		if caps := c.ServerCapabilities(); caps.Extensions[mcp.ExtensionSkills] != nil || caps.Resources == nil {
			t.Errorf("declared %+v", caps)
		}
		for _, method := range []string{mcp.MethodListSkills, mcp.MethodGetSkill, mcp.MethodReadDirectory} {
			if _, err := c.Do(t.Context(), method, map[string]string{"uri": refundsPage}); err == nil {
				t.Errorf("%s was answered", method)
			}
		}
		var uris []string
		for r, err := range c.Resources(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			uris = append(uris, r.URI)
			if _, err := c.ReadResource(t.Context(), r.URI); err != nil {
				t.Errorf("%s: %v", r.URI, err)
			}
		}
		if want := []string{refundsPage, refundsMail, refundsLogo, "skill://git/SKILL.md", dailyPage}; !slices.Equal(uris, want) {
			t.Errorf("listed %q", uris)
		}
	})
}

// Who subscribes is told that skills changed, and reads what the new manifest says.
//
// Spec: ext-skills/stable skills#verification-on-read.
func TestSkillsChange(t *testing.T) {
	var tree fstest.MapFS
	var set *server.SkillSet
	h := func() mcp.Handler {
		s := server.New(mcp.Implementation{Name: "s", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), Subscriptions: true})
		tree = skillTree()
		set = s.AddSkills(tree, nil)
		return s
	}
	mcptest.Run(t, h, nil, func(t *testing.T, c *client.Client) {
		events := make(chan mcp.Change, 10)
		sub, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ResourcesListChanged: true, ResourceSubscriptions: []string{refundsMail}}, func(_ context.Context, e client.Event) { events <- e.Change })
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = sub.Close() }()
		stateless := c.Revision() == mcp.Revision20260728
		var held *client.Skill
		if stateless {
			held = holdRefunds(t, c)
		}
		tree["acme/refunds/examples/email.md"] = &fstest.MapFile{Data: []byte("Dear friend,\n")}
		if err := set.Refresh(); err != nil {
			t.Fatal(err)
		}
		want := map[mcp.Change]bool{{Kind: mcp.ResourcesChanged}: true, {Kind: mcp.ResourceUpdated, URI: refundsMail}: true}
		for len(want) > 0 {
			delete(want, <-events)
		}
		r, err := c.ReadResource(t.Context(), refundsMail)
		if err != nil || *r.Contents[0].Text != "Dear friend,\n" {
			t.Errorf("read %+v (%v)", r, err)
		}
		if !stateless {
			return
		}
		if _, err := held.Read(t.Context(), refundsMail, client.WithFresh()); err == nil {
			t.Error("a file was read that the manifest in hand does not have")
		}
		if data, err := holdRefunds(t, c).Read(t.Context(), refundsMail); err != nil || string(data) != "Dear friend,\n" {
			t.Errorf("with the new manifest: %q, %v", data, err)
		}
	})
}

func holdRefunds(t *testing.T, c *client.Client) *client.Skill {
	t.Helper()
	entry, err := c.GetSkill(t.Context(), refundsPage)
	if err != nil {
		t.Fatal(err)
	}
	held, err := c.HoldSkill("label", entry, nil)
	if err != nil {
		t.Fatal(err)
	}
	return held
}
