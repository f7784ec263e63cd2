package mcp_test

import (
	"encoding/json"
	"testing"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// The files of a skill are an array or "dynamic". Whatever else a server sends
// spoils that skill, and not the list that it is in.
//
// Spec: ext-skills/stable skills#resources.
func TestSkillResources(t *testing.T) {
	file := `{"uri":"skill://a/SKILL.md","digest":"sha256:00","size":9007199254740993}`
	for _, tt := range []struct {
		sent, back string
		valid      bool
	}{
		{"[" + file + "]", "[" + file + "]", true},
		{"[]", "[]", true},
		{`"dynamic"`, `"dynamic"`, true},
		{`"dyn\u0061mic"`, `"dynamic"`, true},
		{`"static"`, "null", false},
		{"null", "null", false},
		{"{}", "null", false},
		{"7", "null", false},
		{`[{"uri":7}]`, "null", false},
	} {
		var list mcp.ListSkillsResult
		doc := `{"skills":[{"uri":"skill://a/SKILL.md","frontmatter":{},"resources":` + tt.sent + `},{"uri":"skill://b/SKILL.md","frontmatter":{}}]}`
		if err := wire.Unmarshal([]byte(doc), &list); err != nil || len(list.Skills) != 2 {
			t.Errorf("%s: %v", tt.sent, err)
			continue
		}
		back, err := wire.Marshal(list.Skills[0].Resources)
		if err != nil || string(back) != tt.back || list.Skills[0].Resources.Valid() != tt.valid {
			t.Errorf("%s became %s (%v), valid %t", tt.sent, back, err, list.Skills[0].Resources.Valid())
		}
		if list.Skills[1].Resources.Valid() {
			t.Error("a skill without resources is valid")
		}
	}
}

func TestSkillNames(t *testing.T) {
	s := &mcp.Skill{Frontmatter: json.RawMessage(`{"description":"d","name":"n"}`)}
	if s.Name() != "n" || s.Description() != "d" {
		t.Errorf("%q, %q", s.Name(), s.Description())
	}
	for _, none := range []string{"", "{}", `{"name":7}`, `{"description":null}`} {
		s := &mcp.Skill{Frontmatter: json.RawMessage(none)}
		if s.Name() != "" || s.Description() != "" {
			t.Errorf("%s: %q, %q", none, s.Name(), s.Description())
		}
	}
}

// A method of an extension is offered by declaring the extension, with the
// setting that it needs; or, where it has one, its capability.
//
// Spec: ext-skills/stable skills#capability-negotiation.
func TestOffers(t *testing.T) {
	skills := func(settings string) *mcp.ServerCapabilities {
		return &mcp.ServerCapabilities{Extensions: map[string]json.RawMessage{mcp.ExtensionSkills: json.RawMessage(settings)}}
	}
	both := &mcp.Method{Capability: mcp.CapTools, Extension: mcp.ExtensionSkills}
	list, read := mcp.MethodNamed(mcp.MethodListSkills), mcp.MethodNamed(mcp.MethodReadDirectory)
	for _, tt := range []struct {
		name string
		caps *mcp.ServerCapabilities
		m    *mcp.Method
		want bool
	}{
		{"nothing declared", &mcp.ServerCapabilities{}, list, false},
		{"another capability", &mcp.ServerCapabilities{Resources: &mcp.ResourcesCapability{}}, list, false},
		{"no settings", skills("{}"), list, true},
		{"null settings", skills("null"), list, true},
		{"the setting missing", skills("{}"), read, false},
		{"the setting false", skills(`{"directoryRead":false}`), read, false},
		{"the setting no boolean", skills(`{"directoryRead":"true"}`), read, false},
		{"the setting", skills(`{"directoryRead":true}`), read, true},
		{"by extension", skills("{}"), both, true},
		{"by capability", &mcp.ServerCapabilities{Tools: &mcp.ListCapability{}}, both, true},
		{"by neither", &mcp.ServerCapabilities{}, both, false},
		{"a method of the core", &mcp.ServerCapabilities{}, mcp.MethodNamed(mcp.MethodListTools), false},
		{"a method that needs nothing", &mcp.ServerCapabilities{}, mcp.MethodNamed(mcp.MethodPing), true},
	} {
		if got := tt.caps.Offers(tt.m); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}
