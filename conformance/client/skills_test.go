package main

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// A skill that is what its entry says ends a scenario about one that is not.
func TestSkillScenarios(t *testing.T) {
	s := server.New(mcp.Implementation{Name: "counterpart", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	set := s.AddSkills(fstest.MapFS{"good/SKILL.md": {Data: []byte("---\nname: good\ndescription: As it should be.\n---\n")}}, nil)
	c := connect(t, s)
	if err := listSkills(t.Context(), c); err != nil {
		t.Error(err)
	}
	if err := readSkill(t.Context(), c); err == nil || !strings.Contains(err.Error(), "skill://good/SKILL.md") {
		t.Errorf("a good skill: error %v, want one that names it", err)
	}
	set.Remove()
	if err := readSkill(t.Context(), connect(t, s)); err == nil || !strings.Contains(err.Error(), "no skills") {
		t.Errorf("without skills: error %v, want one that says so", err)
	}
}
