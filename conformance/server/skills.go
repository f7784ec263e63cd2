package main

import (
	"testing/fstest"

	"github.com/parley-mcp/parley/server"
)

// addSkills adds the skill with which the suite tests skills.
//
// Spec: ext-skills/stable skills#resource-mapping.
func addSkills(s *server.Server) {
	s.AddSkills(fstest.MapFS{
		"pdf-processing/SKILL.md":            {Data: []byte("---\nname: pdf-processing\ndescription: Fills in and merges PDF documents.\n---\n\n# PDF\n\nSee references/FORMS.md for forms.\n")},
		"pdf-processing/references/FORMS.md": {Data: []byte("# Forms\n\nFill in one field after the other.\n")},
	}, nil)
}
