package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-mcp/parley/internal/skill"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

const daily = "skill://reports/daily/SKILL.md"

// dailySkill counts its readers.
func dailySkill() DynamicSkill {
	n := 0
	return DynamicSkill{
		URI:         daily,
		Frontmatter: "name: daily\ndescription: Report.\n",
		Body: func(context.Context, *Call) (string, error) {
			n++
			return fmt.Sprintf("Reading %d\n", n), nil
		},
		Files: func(context.Context, *Call) (fs.FS, error) {
			return fstest.MapFS{
				"SKILL.md":       skillText("not this one"),
				"data/today.csv": skillText("a,b\n"),
				"data/today":     skillText(""),
				"link":           {Mode: fs.ModeSymlink, Data: []byte("data")},
				`a\b`:            skillText("no such name"),
			}, nil
		},
	}
}

// Spec: ext-skills/stable skills#resources.
func TestDynamicSkill(t *testing.T) {
	s, _ := newServer(Options{})
	s.AddSkills(someSkills(), nil)
	set := s.AddDynamicSkill(dailySkill())
	want := `{"skill":{"uri":"skill://reports/daily/SKILL.md","frontmatter":{"name":"daily","description":"Report."},"resources":"dynamic"}}`
	if got := serve(t, s, mcp.MethodGetSkill, `{"uri":"`+daily+`"}`); got != want {
		t.Errorf("got %s", got)
	}
	if got := skillsIn(t, s); !slices.Contains(got, daily) {
		t.Errorf("listed %q", got)
	}
	if got := serve(t, s, mcp.MethodListResources, "{}"); !strings.Contains(got, `{"uri":"`+daily+`","name":"daily","description":"Report.","mimeType":"text/markdown"}`) {
		t.Errorf("listed %s", got)
	}
	for i := range 2 {
		// Its frontmatter is that of its entry.
		//
		// Spec: ext-skills/stable skills#frontmatter-verification.
		var r mcp.ReadResourceResult
		if err := wire.Unmarshal([]byte(read(t, s, daily)), &r); err != nil {
			t.Fatal(err)
		}
		text := *r.Contents[0].Text
		frontmatter, err := skill.Frontmatter([]byte(text))
		if err != nil || string(frontmatter) != `{"name":"daily","description":"Report."}` || !strings.HasSuffix(text, fmt.Sprintf("---\nReading %d\n", i+1)) {
			t.Errorf("read %q (%v)", text, err)
		}
	}
	for _, tt := range []struct{ path, want string }{
		{"data/today.csv", `{"contents":[{"uri":"skill://reports/daily/data/today.csv","mimeType":"text/csv","text":"a,b\n"}]}`},
		{"data/today", `{"contents":[{"uri":"skill://reports/daily/data/today","mimeType":"text/plain","text":""}]}`},
		{"data", "error: resource not found"},
		{"none", "error: resource not found"},
		{"link", "error: resource not found"},
		{"link/today.csv", "error: resource not found"},
		{"data/../data/today.csv", "error: resource not found"},
		{"a%5Cb", "error: resource not found"},
		{"", "error: resource not found"},
	} {
		if got := read(t, s, "skill://reports/daily/"+tt.path); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %s", tt.path, got)
		}
	}
	for _, tt := range []struct{ uri, want string }{
		{"skill://reports", "skill://reports/daily"},
		{"skill://reports/daily", "skill://reports/daily/SKILL.md skill://reports/daily/data"},
		{"skill://reports/daily/data", "skill://reports/daily/data/today skill://reports/daily/data/today.csv"},
	} {
		if got := strings.Join(directoryOf(t, s, tt.uri), " "); got != tt.want {
			t.Errorf("%s has %s, want %s", tt.uri, got, tt.want)
		}
	}
	for _, uri := range []string{"skill://reports/daily/none", "skill://reports/daily/link", "skill://reports/daily/data/today", "skill://reports/daily/"} {
		if got := serve(t, s, mcp.MethodReadDirectory, `{"uri":"`+uri+`"}`); !strings.HasPrefix(got, "error: no directory is served") {
			t.Errorf("%s: %s", uri, got)
		}
	}
	if err := set.Refresh(); err != nil {
		t.Error(err)
	}
	set.Remove()
	if got := read(t, s, daily) + read(t, s, "skill://reports/daily/data/today.csv"); strings.Count(got, "error") != 2 {
		t.Errorf("still there after removal: %s", got)
	}
}

func TestDynamicSkillWithoutFiles(t *testing.T) {
	s, log := newServer(Options{})
	d := dailySkill()
	d.Files, d.Unlisted = nil, true
	d.Body = func(context.Context, *Call) (string, error) { return "", errors.New("hunter2") }
	s.AddDynamicSkill(d)
	if got := directoryOf(t, s, "skill://reports/daily"); !slices.Equal(got, []string{daily}) {
		t.Errorf("the directory has %q", got)
	}
	if got := read(t, s, "skill://reports/daily/x"); !strings.Contains(got, "not found") {
		t.Errorf("read %s", got)
	}
	if got := read(t, s, daily); got != "error: internal error (-32603)" || !strings.Contains(log.String(), "hunter2") {
		t.Errorf("an error of Body: %s", got)
	}
	if got := append(skillsIn(t, s), listed(t, s, mcp.MethodListResources, "", "{}")...); len(got) > 0 {
		t.Errorf("listed %q", got)
	}
	if got := serve(t, s, mcp.MethodReadDirectory, `{"uri":"skill://reports"}`); !strings.Contains(got, "no directory is served") {
		t.Errorf("a directory that gives the skill away: %s", got)
	}
}

func TestDynamicSkillRefused(t *testing.T) {
	s, _ := newServer(Options{})
	s.AddDynamicSkill(dailySkill())
	for _, tt := range []struct {
		change func(*DynamicSkill)
		want   string
	}{
		{func(d *DynamicSkill) { d.URI = "skill://x" }, "must end with"},
		{func(d *DynamicSkill) { d.URI = "skill://x/SKILL.md" }, "the directory must have the skill's name"},
		{func(d *DynamicSkill) { d.Frontmatter = "name: daily" }, `"description" is missing`},
		{func(d *DynamicSkill) { d.Frontmatter = "name: [" }, "not YAML"},
		{func(d *DynamicSkill) { d.Body = nil }, "it has no Body"},
		{func(*DynamicSkill) {}, "was added separately"},
	} {
		d := dailySkill()
		tt.change(&d)
		if set, err := s.TryAddDynamicSkill(d); err == nil || set != nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
	if _, err := s.TryAddSkills(fstest.MapFS{"reports/daily/SKILL.md": skillPage("daily")}, nil); err == nil {
		t.Error("files in the place of a dynamic skill")
	}
}

// Files of skills are watched without asking WatchResource, which knows nothing of
// them.
func TestSkillFilesAreWatched(t *testing.T) {
	var asked []string
	s, _ := newServer(Options{WatchResource: func(uri string) (func(), error) {
		asked = append(asked, uri)
		return nil, errors.New("unknown")
	}})
	s.AddSkills(someSkills(), nil)
	x := request(mcp.MethodListen, "")
	x.Watch = &mcp.Watch{Filter: mcp.SubscriptionFilter{ResourceSubscriptions: []string{"skill://git/SKILL.md", "x:other"}}, Deliver: func(mcp.Change) {}}
	result, err := s.Serve(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	w := result.(*mcp.Watching)
	defer w.Stop()
	if got := w.Filter.ResourceSubscriptions; !slices.Equal(got, []string{"skill://git/SKILL.md"}) || !slices.Equal(asked, []string{"x:other"}) {
		t.Errorf("watched %q, asked about %q", got, asked)
	}
}
