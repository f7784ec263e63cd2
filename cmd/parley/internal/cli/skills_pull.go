package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/skilldir"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

const pullLong = `Fetch skills of a server into the folder DIR: all that it lists, or those that are
named, by their URIs or names. Each gets a folder of its own, whose path says of which
server and from which URI it is, with a note of that in .parley.json. It appears there
complete and verified, or not at all; nothing in it is executable. The next time, only
files that have changed are fetched. Files that were changed here since are left alone,
unless --force replaces them.

Skills that the server makes anew for each reader cannot be verified, and are left out.
DIR must not be a folder in which a program looks for its user's own skills, such as
.claude/skills: read what you have fetched before you trust it.`

const pullExamples = `  parley skills pull ./pulled -- parley serve --stdio
  parley skills pull @docs ./pulled git-workflow
  parley skills pull https://mcp.example.com/mcp ./pulled skill://acme/refunds/SKILL.md`

func (a *app) skillsPull() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:     "pull [URL|@NAME] DIR [SKILL...] [-- COMMAND...]",
		Short:   "Fetch skills into a folder",
		Long:    pullLong,
		Example: pullExamples,
	}
	honours(cmd, a.flags.reach, a.flags.format, a.flags.verbatim)
	a.flags.labelled(cmd)
	cmd.Flags().BoolVar(&force, "force", false, "replace files that were changed here")
	a.completes(cmd, func(ctx context.Context, c *client.Client, args []string, prefix string) ([]string, error) {
		if len(args) == 0 {
			return nil, nil
		}
		return completeSkill(ctx, c, args, prefix)
	})
	cmd.RunE = a.onServer(1, -1, func(ctx context.Context, t target.Target, args []string) error {
		if err := a.unmistakable(t); err != nil {
			return err
		}
		c, err := a.connectToSkills(ctx, t)
		if err != nil {
			return err
		}
		defer a.leave(c)
		entries, err := wantedSkills(ctx, c, args[1:])
		if err != nil {
			return err
		}
		p := &pull{app: a, client: c, label: a.serverLabel(t), force: force, named: len(args) > 1}
		return p.run(ctx, args[0], entries)
	})
	return cmd
}

// unmistakable refuses a label in which secrets are left out, because the same label may
// then stand for several servers.
func (a *app) unmistakable(t target.Target) error {
	name := a.serverLabel(t)
	if a.flags.label != "" || t.Entry != nil || t.URL == name || t.URL == "" && commandLine(t.Command) == name {
		return nil
	}
	return &failure{code: codeUsage, err: usagef("what names the server may hold secrets, which have no place in the path of a folder"), hint: "--label NAME calls it something else"}
}

// wantedSkills returns the entries of the skills that arguments name, or of all that are
// listed.
func wantedSkills(ctx context.Context, c *client.Client, args []string) ([]*mcp.Skill, error) {
	if len(args) == 0 {
		return client.Collect(c.Skills(ctx))
	}
	var entries []*mcp.Skill
	for _, arg := range args {
		uri, err := findSkill(ctx, c, arg)
		if err != nil {
			return nil, err
		}
		entry, err := c.GetSkill(ctx, uri)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

// pull fetches skills into a folder.
type pull struct {
	app    *app
	client *client.Client
	label  string
	force  bool
	named  bool // the user has named the skills
	store  *skilldir.Store

	done   []pulled
	failed []error
}

// pulled is what became of a skill, as --output json shows it.
type pulled struct {
	URI    string `json:"uri"`
	Name   string `json:"name"`
	Status string `json:"status"` // new, updated, unchanged, declined or failed
	Folder string `json:"folder,omitzero"`
	// Approval is the value to which an approval of this skill is bound.
	Approval string   `json:"approval,omitzero"`
	Fetched  []string `json:"fetched,omitzero"`
	Kept     []string `json:"kept,omitzero"`
	Removed  []string `json:"removed,omitzero"`
	Problem  string   `json:"problem,omitzero"`
}

func (p *pull) run(ctx context.Context, dir string, entries []*mcp.Skill) (err error) {
	var unfit *skilldir.UnfitError
	if p.store, err = skilldir.Open(dir); errors.As(err, &unfit) {
		return usagef("%w", err)
	} else if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.store.Close()) }()
	p.done = []pulled{}
	for _, entry := range entries {
		done, err := p.pull(ctx, entry)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p.tell(&done, err)
		p.done = append(p.done, done)
	}
	if p.app.flags.json() {
		raw, err := wire.Marshal(map[string]any{"server": p.label, "skills": p.done})
		if err != nil {
			return err
		}
		p.app.out.json(raw)
	} else if len(entries) == 0 {
		p.app.note("the server lists no skills; it may have some all the same, which are pulled by their URIs")
	}
	if len(p.failed) == 0 {
		return nil
	}
	return &failure{code: pullCode(p.failed[0]), err: fmt.Errorf("%d of %s not pulled: %w", len(p.failed), counted(len(entries), "skill"), p.failed[0]), hint: pullHint(p.failed[0])}
}

// pull fetches one skill.
func (p *pull) pull(ctx context.Context, entry *mcp.Skill) (pulled, error) {
	done := pulled{URI: entry.URI, Name: entry.Name(), Status: "failed"}
	s, err := p.client.HoldSkill(p.label, entry, &client.SkillOptions{NoDynamic: true})
	if err != nil {
		return done, err
	}
	note := &skilldir.Note{Server: p.label, URI: entry.URI}
	if note.Approval, err = s.Approval(); err != nil {
		return done, err
	}
	for _, f := range entry.Resources.Files {
		at, err := skilldir.FilePath(entry.URI, f.URI)
		if err != nil {
			return done, err
		}
		note.Files = append(note.Files, skilldir.File{Path: at, URI: f.URI, Digest: f.Digest, Size: f.Size})
	}
	o, err := p.store.Put(ctx, note, p.force, held{s})
	if err != nil {
		return done, err
	}
	done.Folder, done.Approval = p.store.Path(o.Folder), note.Approval
	done.Fetched, done.Kept, done.Removed = o.Fetched, o.Kept, o.Removed
	switch {
	case o.New:
		done.Status = "new"
	case o.Changed():
		done.Status = "updated"
	default:
		done.Status = "unchanged"
	}
	return done, nil
}

// held has the files of a skill for a store.
type held struct{ *client.Skill }

// Read implements skilldir.Source.
func (h held) Read(ctx context.Context, uri string) ([]byte, error) { return h.Skill.Read(ctx, uri) }

var _ skilldir.Source = held{}

// tell says what became of a skill.
func (p *pull) tell(done *pulled, err error) {
	a := p.app
	var wrong *client.SkillError
	if err != nil {
		done.Problem = reasonOf(err)
		if errors.As(err, &wrong) && wrong.Check == client.CheckDynamic && !p.named {
			done.Status = "declined"
		} else {
			p.failed = append(p.failed, err)
		}
	}
	switch {
	case a.flags.json():
	case err != nil:
		a.note("%s %s: %s", a.err.red(fmt.Sprintf("%-9s", done.Status)), label(done.URI, 300), oneLine(done.Problem, 500))
	case done.Status == "unchanged":
		a.out.printf("%-9s %s  %s\n", done.Status, a.out.bold(label(done.Name, 100)), a.out.dim(done.Folder))
	default:
		a.out.printf("%-9s %s  %s  %s\n", done.Status, a.out.bold(label(done.Name, 100)), a.out.dim(done.Folder), done.files())
	}
}

// files says what became of the files of a skill.
func (done *pulled) files() string {
	text := fmt.Sprintf("%d fetched", len(done.Fetched))
	if n := len(done.Kept); n > 0 {
		text += fmt.Sprintf(", %d kept", n)
	}
	if n := len(done.Removed); n > 0 {
		text += fmt.Sprintf(", %d removed", n)
	}
	return text
}

func pullCode(err error) code {
	var path *skilldir.PathError
	if errors.As(err, &path) {
		return codeUnverified
	}
	return classify(err)
}

func pullHint(err error) string {
	var changed *skilldir.ChangedHereError
	if errors.As(err, &changed) {
		return "--force replaces what was changed here"
	}
	return hint(err)
}
