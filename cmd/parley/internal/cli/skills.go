package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/serverlist"
	"github.com/parley-mcp/parley/cmd/parley/internal/shellwords"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

const skillsLong = `Skills are instructions for agents that a server publishes: folders of files with a
SKILL.md, verified here against what the server says of them. That proves that they
belong together, and nothing about whether they are to be trusted.`

const skillsExamples = `  parley skills list -- parley serve --stdio
  parley skills show sample-shop -- parley serve --stdio
  parley skills pull https://mcp.example.com/mcp ./pulled`

// labelled registers the flag with which a user names the server of a skill.
func (f *flags) labelled(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.label, "label", "", "call the server `NAME`; by default, the name in its configuration file, its URL or its command")
}

func (a *app) skills() *cobra.Command {
	return family(&cobra.Command{
		Use:     "skills list|show|pull",
		Short:   "List, show and fetch the skills of a server",
		Long:    skillsLong,
		Example: skillsExamples,
	}, a.skillsList(), a.skillsShow(), a.skillsPull())
}

func (a *app) skillsList() *cobra.Command {
	var b bounds
	cmd := &cobra.Command{
		Use:     "list [URL|@NAME] [-- COMMAND...]",
		Short:   "List the skills of a server",
		Long:    "List the skills of a server. Nothing is read of them. A server may have more than it\nlists; \"skills show\" finds those by their URIs.",
		Example: "  parley skills list -- parley serve --stdio\n  parley skills list @docs --output json",
	}
	honours(cmd, a.flags.reach, a.flags.format, a.flags.verbatim)
	b.register(cmd)
	a.completes(cmd, nil)
	cmd.RunE = a.onServer(0, 0, func(ctx context.Context, t target.Target, _ []string) error {
		c, err := a.connectToSkills(ctx, t)
		if err != nil {
			return err
		}
		defer a.leave(c)
		items, endless := everything(ctx, c, serverlist.Skills, b)
		if a.flags.json() && endless == nil {
			raw, err := wire.Marshal(map[string]any{"skills": items})
			a.out.json(raw)
			return err
		}
		if len(items) == 0 || a.flags.json() {
			if endless == nil {
				a.note("the server lists no skills; it may have some all the same, which \"skills show URI\" finds")
			}
			return endless
		}
		return errors.Join(a.listSkills(c, t, items), endless)
	})
	return cmd
}

// connectToSkills connects to a server that has skills.
func (a *app) connectToSkills(ctx context.Context, t target.Target) (*client.Client, error) {
	c, err := a.connect(ctx, t)
	if err != nil {
		return nil, err
	}
	caps := c.ServerCapabilities()
	if !caps.Offers(mcp.MethodNamed(mcp.MethodListSkills)) {
		a.leave(c)
		return nil, &failure{
			code: codeNotDeclared,
			err:  &client.NotDeclaredError{Method: mcp.MethodListSkills, Capability: mcp.ExtensionSkills},
			hint: `in older revisions, the files of skills are resources: "parley list resources" shows them`,
		}
	}
	return c, nil
}

// listSkills shows the entries of skills.
func (a *app) listSkills(c *client.Client, t target.Target, items []json.RawMessage) error {
	v := &lister{out: a.out}
	var entries []*mcp.Skill
	names := map[string]int{}
	for _, item := range items {
		entry, err := decode[mcp.Skill](item)
		if err != nil {
			return malformed(mcp.MethodListSkills, err)
		}
		entries = append(entries, entry)
		names[entry.Name()]++
	}
	a.out.printf("%s\n", a.out.bold("Skills"))
	for _, entry := range entries {
		// Spec: ext-skills/stable skills#names.
		v.head(entry.URI, entry.Name(), entry.Description(), extent(entry), when(names[entry.Name()] > 1, fmt.Sprintf("[one of %d with this name]", names[entry.Name()])))
		if _, err := c.HoldSkill(a.serverLabel(t), entry, nil); err != nil {
			a.out.printf("      %s\n", a.out.red("cannot be used: "+oneLine(reasonOf(err), 300)))
		}
	}
	return nil
}

// extent says how large a skill is.
func extent(entry *mcp.Skill) string {
	if entry.Resources.Dynamic {
		return "dynamic"
	}
	var size int64
	for _, f := range entry.Resources.Files {
		size += f.Size
	}
	return fmt.Sprintf("%s, %d bytes", counted(len(entry.Resources.Files), "file"), size)
}

func counted(n int, what string) string { return fmt.Sprintf("%d %s%s", n, what, when(n != 1, "s")) }

// reasonOf returns why a skill cannot be used, without saying which one it is.
func reasonOf(err error) string {
	var wrong *client.SkillError
	if errors.As(err, &wrong) && (wrong.File == "" || wrong.File == wrong.URI) {
		return wrong.Err.Error()
	} else if wrong != nil {
		return wrong.File + ": " + wrong.Err.Error()
	}
	return err.Error()
}

// serverLabel is what the user calls a server: with the URI of a skill, it says which skill is
// meant. What the server calls itself does not count.
//
// Spec: ext-skills/stable skills#names.
func (a *app) serverLabel(t target.Target) string {
	switch {
	case a.flags.label != "":
		return a.flags.label
	case t.Entry != nil:
		return t.Entry.Name
	case t.URL != "":
		return t.String()
	}
	return commandLine(t.MaskedCommand())
}

// commandLine joins words such that others make another line.
func commandLine(words []string) string {
	quoted := make([]string, 0, len(words))
	for _, w := range words {
		quoted = append(quoted, shellwords.Quote(w))
	}
	return strings.Join(quoted, " ")
}

// findSkill returns the URI of the skill that an argument means: by its URI, or by its
// name if only one skill in the list of the server has it.
//
// Spec: ext-skills/stable skills#names.
func findSkill(ctx context.Context, c *client.Client, arg string) (string, error) {
	if strings.Contains(arg, ":") {
		return arg, nil
	}
	var found []string
	for entry, err := range c.Skills(ctx) {
		if err != nil {
			return "", err
		}
		if entry.Name() == arg {
			found = append(found, entry.URI)
		}
	}
	switch len(found) {
	case 0:
		return "", &failure{code: codeUsage, err: usagef("the server lists no skill with the name %q", arg), hint: `"parley skills list" shows what it lists; any other skill is named by its URI`}
	case 1:
		return found[0], nil
	}
	return "", usagef("%d skills have the name %q; choose one by its URI: %s", len(found), arg, strings.Join(found, ", "))
}

// completeSkill completes the URIs of skills.
func completeSkill(ctx context.Context, c *client.Client, _ []string, _ string) ([]string, error) {
	var values []string
	for entry, err := range c.Skills(ctx) {
		if err != nil {
			return values, err
		}
		values = append(values, candidate(entry.URI, entry.Description())...)
	}
	return values, nil
}
