package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/parley-mcp/parley/internal/skill"
	"github.com/parley-mcp/parley/mcp"
)

// DynamicSkill is a skill whose content is made anew whenever it is read, so that it
// has no digests. Hosts may refuse to load such skills, because nobody can approve of
// content that changes: where a skill changes only now and then, AddSkills and
// SkillSet.Refresh serve it better.
//
// Spec: ext-skills/stable skills#resources.
type DynamicSkill struct {
	// URI is that of its SKILL.md, such as "skill://reports/daily/SKILL.md". The
	// directory has the skill's name.
	URI string
	// Frontmatter is the YAML frontmatter of its SKILL.md, without the lines of
	// hyphens around it. It does not change.
	Frontmatter string
	// Body returns what follows the frontmatter, in Markdown. Its errors are treated
	// as those of a ResourceHandler.
	Body func(ctx context.Context, call *Call) (string, error)
	// Files, if set, returns the other files as they are now. What is no regular file
	// in it, is reached by way of a symbolic link or is larger than 16 MiB is not
	// served, nor is another SKILL.md at its root.
	Files func(ctx context.Context, call *Call) (fs.FS, error)
	// Unlisted is as in SkillsOptions.
	Unlisted bool
}

// AddDynamicSkill adds a skill whose content is made anew whenever it is read. It
// panics when the skill breaks a rule of Agent Skills, its URI is not that of a
// SKILL.md in a directory with its name or is taken, or Body is nil.
//
// Spec: ext-skills/stable skills#resources.
func (s *Server) AddDynamicSkill(d DynamicSkill) *SkillSet {
	set, err := s.TryAddDynamicSkill(d)
	must(err)
	return set
}

// TryAddDynamicSkill is AddDynamicSkill for skills that are made at run time: it
// returns an error instead of panicking.
func (s *Server) TryAddDynamicSkill(d DynamicSkill) (*SkillSet, error) {
	files, err := d.plan()
	if err != nil {
		return nil, fmt.Errorf("skill %q: %w", shorten(d.URI), err)
	}
	set := &SkillSet{server: s, now: &skillFiles{}}
	set.read = func() (*skillFiles, error) { return files, nil }
	if err := set.Refresh(); err != nil {
		return nil, err
	}
	return set, nil
}

func (d *DynamicSkill) plan() (*skillFiles, error) {
	root, err := skill.Root(d.URI)
	if err != nil {
		return nil, err
	}
	if d.Body == nil {
		return nil, errors.New("it has no Body")
	}
	frontmatter, err := skill.Frontmatter([]byte(d.head()))
	if err == nil {
		err = skill.Check(frontmatter)
	}
	if err != nil {
		return nil, err
	}
	p := &skillPlan{root: root, listed: !d.Unlisted, made: d}
	p.skill = mcp.Skill{URI: d.URI, Frontmatter: frontmatter, Resources: mcp.SkillResources{Dynamic: true}}
	if err := skill.CheckEntry(&p.skill); err != nil {
		return nil, err
	}
	read := func(ctx context.Context, call *Call, uri string) (*mcp.ReadResourceResult, error) {
		return p.readFile(ctx, call, uri)
	}
	main := &resource{
		resource: mcp.Resource{URI: d.URI, Name: p.skill.Name(), Description: p.skill.Description(), MIMEType: skill.MIMEType(skill.File, nil)},
		read:     read,
		ofSkill:  true,
	}
	found := &skillFiles{skills: []*skillPlan{p}, files: []*skillFile{{plan: main, listed: p.listed}}}
	for dir := root; p.listed && isDirectory(dir); dir = parentOf(dir) {
		found.dirs = append(found.dirs, directoryResource(dir))
	}
	return found, nil
}

func (d *DynamicSkill) head() string {
	return "---\n" + strings.TrimSuffix(d.Frontmatter, "\n") + "\n---\n"
}

// readFile makes a file of a dynamic skill.
func (p *skillPlan) readFile(ctx context.Context, call *Call, uri string) (*mcp.ReadResourceResult, error) {
	if uri == p.skill.URI {
		body, err := p.made.Body(ctx, call)
		if err != nil {
			return nil, err
		}
		return Contents(mcp.TextResource(uri, skill.MIMEType(skill.File, nil), p.made.head()+body)), nil
	}
	fsys, name, err := p.files(ctx, call, uri)
	if err != nil || fsys == nil {
		return nil, err
	}
	if info, err := fs.Stat(fsys, name); err != nil || !info.Mode().IsRegular() {
		return nil, err
	}
	data, err := skill.ReadFile(fsys, name, skill.MaxBytes)
	if err != nil {
		return nil, err
	}
	return Contents(skillContents(uri, skill.MIMEType(name, data), data)), nil
}

// files returns the file tree of a dynamic skill and the path of a URI in it, or nil
// if there is no such path, or it is reached by way of a link.
func (p *skillPlan) files(ctx context.Context, call *Call, uri string) (fs.FS, string, error) {
	name := "."
	if uri != p.root {
		var err error
		if name, err = skill.Path(p.root, uri); err != nil || p.made.Files == nil {
			return nil, "", nil //nolint:nilerr // a path that cannot be does not exist
		}
	}
	if p.made.Files == nil {
		return nil, name, nil
	}
	fsys, err := p.made.Files(ctx, call)
	if err != nil || fsys == nil {
		return nil, "", err
	}
	for at := name; at != "."; at = path.Dir(at) {
		if info, err := fs.Lstat(fsys, at); err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return nil, "", nil //nolint:nilerr // what cannot be looked at does not exist
		}
	}
	return fsys, name, nil
}

// children returns what a directory of a dynamic skill contains now, or nil if there is
// no such directory.
func (p *skillPlan) children(ctx context.Context, call *Call, uri string) ([]*resource, error) {
	fsys, name, err := p.files(ctx, call, uri)
	if err != nil {
		return nil, err
	}
	list := []*resource{}
	if uri == p.root {
		list = append(list, &resource{resource: mcp.Resource{URI: p.skill.URI, Name: p.skill.Name(), Description: p.skill.Description(), MIMEType: skill.MIMEType(skill.File, nil)}})
	}
	if fsys == nil {
		if uri == p.root {
			return list, nil
		}
		return nil, nil
	}
	entries, err := fs.ReadDir(fsys, name)
	if err != nil {
		return nil, nil //nolint:nilerr // it is a file, or gone
	}
	for _, e := range entries {
		child := skill.URI(uri, e.Name())
		switch _, err := skill.Path(p.root, child); {
		case err != nil || child == p.skill.URI:
		case e.IsDir():
			list = append(list, &resource{resource: *directoryResource(child)})
		case e.Type().IsRegular():
			list = append(list, &resource{resource: mcp.Resource{URI: child, Name: e.Name(), MIMEType: skill.MIMEType(e.Name(), nil)}})
		}
	}
	return list, nil
}
