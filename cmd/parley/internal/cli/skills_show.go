package cli

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

const showLong = `Show what a server says of a skill, and its SKILL.md; or, with FILE, that file of the
skill, unchanged. SKILL is the skill's URI, or its name if the server lists one skill
with that name. What does not pass the checks is not shown.

The approval is a value that stands for all files of this skill of this server: as
long as it is the same, so are they.`

func (a *app) skillsShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show [URL|@NAME] SKILL [FILE] [-- COMMAND...]",
		Short:   "Show a skill",
		Long:    showLong,
		Example: "  parley skills show sample-shop -- parley serve --stdio\n  parley skills show sample-shop references/queries.md -- parley serve --stdio",
	}
	honours(cmd, a.flags.reach, a.flags.format, a.flags.verbatim)
	a.flags.labelled(cmd)
	a.completes(cmd, func(ctx context.Context, c *client.Client, args []string, prefix string) ([]string, error) {
		if len(args) > 0 {
			return nil, nil
		}
		return completeSkill(ctx, c, args, prefix)
	})
	cmd.RunE = a.onServer(1, 2, func(ctx context.Context, t target.Target, args []string) error {
		c, err := a.connectToSkills(ctx, t)
		if err != nil {
			return err
		}
		defer a.leave(c)
		uri, err := findSkill(ctx, c, args[0])
		if err != nil {
			return err
		}
		raw, result, err := do[mcp.GetSkillResult](ctx, c, mcp.MethodGetSkill, mcp.GetSkillParams{URI: uri})
		if err != nil {
			return err
		}
		s, err := a.hold(c, t, uri, result.Skill)
		switch {
		case err != nil:
			return err
		case len(args) > 1:
			return a.showSkillFile(ctx, s, args[1])
		case a.flags.json():
			a.out.json(raw)
			return nil
		}
		return a.showSkill(ctx, s)
	})
	return cmd
}

// hold checks what a server says of the skill that it was asked for.
func (a *app) hold(c *client.Client, t target.Target, uri string, entry *mcp.Skill) (*client.Skill, error) {
	if entry == nil || entry.URI != uri {
		return nil, malformed(mcp.MethodGetSkill, errors.New("the skill is another one than was asked for"))
	}
	return c.HoldSkill(a.serverLabel(t), entry, nil)
}

// showSkillFile writes a file of a skill.
func (a *app) showSkillFile(ctx context.Context, s *client.Skill, file string) error {
	data, err := s.Read(ctx, file)
	if err != nil {
		return err
	}
	content := mcp.BlobResource(file, "", data)
	if utf8.Valid(data) && !slices.Contains(data, 0) {
		content = mcp.TextResource(file, "", string(data))
	}
	if a.flags.json() {
		raw, err := wire.Marshal(map[string]any{"contents": []*mcp.ResourceContents{content}})
		a.out.json(raw)
		return err
	}
	return a.showContents([]*mcp.ResourceContents{content}, "")
}

// showSkill shows an entry and its SKILL.md.
//
// Spec: ext-skills/stable skills#security-considerations.
func (a *app) showSkill(ctx context.Context, s *client.Skill) error {
	text, err := s.Read(ctx, s.Entry().URI)
	if err != nil {
		return err
	}
	e := s.Entry()
	a.out.printf("%s  %s\n", a.out.bold(label(e.Name(), 100)), label(e.URI, 500))
	a.out.printf("%s\n", indent(e.Description(), "  "))
	line := func(name, text string) { a.out.printf("  %-14s %s\n", name, label(text, 2000)) }
	line("server", s.Server())
	for field, value := range wire.Each(e.Frontmatter) {
		switch name := string(field); name {
		case "name", "description":
		case "allowed-tools":
			line(name, textOr(value)+"  (asked for, not granted)")
		default:
			line(name, textOr(value))
		}
	}
	if approval, err := s.Approval(); err == nil {
		line("approval", approval)
	}
	line("files", extent(e))
	for _, f := range e.Resources.Files {
		a.out.printf("  %14d %s\n", f.Size, label(strings.TrimPrefix(f.URI, strings.TrimSuffix(e.URI, "SKILL.md")), 500))
	}
	a.out.printf("\n%s\n%s", a.out.dim("SKILL.md, as "+label(s.Server(), 200)+" sent it:"), endLine(string(text)))
	return nil
}

// textOr returns a string as it is, and any other value as JSON.
func textOr(value json.RawMessage) string {
	if text, ok := wire.Text(value); ok {
		return text
	}
	return string(value)
}
