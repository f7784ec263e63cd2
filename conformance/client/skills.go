package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-mcp/parley/client"
)

// listSkills lists the skills, and reads nothing of them.
//
// Spec: ext-skills/stable skills#listing-skills.
func listSkills(ctx context.Context, c *client.Client) error {
	_, err := client.Collect(c.Skills(ctx))
	return err
}

// readSkill reads the files of the skills, as far as they are what their entries say.
// The suite has a skill that is not; anything but the refusal of its SKILL.md is an error.
//
// Spec: ext-skills/stable skills#verification-on-read.
func readSkill(ctx context.Context, c *client.Client) error {
	refused := 0
	for entry, err := range c.Skills(ctx) {
		if err != nil {
			return err
		}
		s, err := c.HoldSkill("conformance", entry, nil)
		if err != nil {
			return err
		}
		_, err = s.Read(ctx, "SKILL.md")
		switch _, wrong := errors.AsType[*client.SkillError](err); {
		case err == nil:
			return fmt.Errorf("%s was read, though the suite's files are not what their entry says", entry.URI)
		case !wrong:
			return fmt.Errorf("reading %s: %w", entry.URI, err)
		}
		refused++
	}
	if refused == 0 {
		return errors.New("the server lists no skills")
	}
	return nil
}
