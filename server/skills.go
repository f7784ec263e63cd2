package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync/atomic"

	"github.com/parley-mcp/parley/internal/content"
	"github.com/parley-mcp/parley/internal/skill"
	"github.com/parley-mcp/parley/mcp"
)

// SkillsOptions configure AddSkills. The zero value is a complete configuration.
type SkillsOptions struct {
	// Prefix is what the URIs of the skills begin with, before their paths in the
	// file tree. It ends with a slash. "" means "skill://". If the root of the file
	// tree is a skill itself, Prefix must end with its name, as in "skill://refunds/".
	Prefix string
	// Unlisted keeps the skills out of skills/list, and their files out of
	// resources/list. Whoever knows the URI of a skill, for example from
	// Options.Instructions, can get and read it.
	Unlisted bool
	// Skip leaves out the files and directories for which it returns true; name is
	// the path in the file tree, with slashes. nil leaves out names that begin with
	// a dot.
	Skip func(name string) bool
	// MaxBytes bounds the size of all files together, which are kept in memory. 0
	// means 256 MiB.
	MaxBytes int64
}

const (
	defaultPrefix     = "skill://"
	defaultSkillBytes = 256 << 20
)

func (o *SkillsOptions) withDefaults() (SkillsOptions, error) {
	var d SkillsOptions
	if o != nil {
		d = *o
	}
	if d.Prefix == "" {
		d.Prefix = defaultPrefix
	}
	if !strings.HasSuffix(d.Prefix, "/") || strings.ContainsAny(d.Prefix, "?#") {
		return d, fmt.Errorf("SkillsOptions.Prefix is %q; it must be the beginning of a URI and end with a slash, such as %q", d.Prefix, "skill://acme/")
	}
	if err := content.URI(d.Prefix); err != nil {
		return d, fmt.Errorf("SkillsOptions.Prefix: %w", err)
	}
	if d.Skip == nil {
		d.Skip = func(name string) bool { return strings.HasPrefix(path.Base(name), ".") && name != "." }
	}
	if d.MaxBytes == 0 {
		d.MaxBytes = defaultSkillBytes
	}
	return d, nil
}

// SkillSet is what one call of AddSkills or AddDynamicSkill has added. Its methods
// may be called concurrently.
type SkillSet struct {
	server *Server
	read   func() (*skillFiles, error)

	begun atomic.Int64 // readings

	// Guarded by server.skills.mu.
	now     *skillFiles
	shown   int64 // which of the readings now is
	removed bool
}

// AddSkills publishes the skills in a file tree: each directory with a SKILL.md, at
// any depth. A skill is a folder of instructions for agents; see
// https://agentskills.io. Its files become resources, whose URIs begin with
// SkillsOptions.Prefix, and the server declares the skills extension of 2026-07-28
// with the reading of directories. In earlier revisions the files are resources and
// nothing more.
//
// The files are read here and by SkillSet.Refresh, and at no other time, so what
// clients read is always what the skill's manifest says. For a folder on disk, fsys
// is best that of an os.Root. opts is copied; nil means the defaults.
//
// It panics, and adds nothing, when a skill breaks a rule: of Agent Skills, such as
// that the directory has the skill's name, or of serving them, such as the limit of
// 512 files and 16 MiB. The message names the directory and the rule. So does a
// symbolic link within a skill, for what it points to could be anywhere, and a skill
// whose URI is taken.
//
// Spec: ext-skills/stable skills#resource-mapping.
func (s *Server) AddSkills(fsys fs.FS, opts *SkillsOptions) *SkillSet {
	set, err := s.TryAddSkills(fsys, opts)
	must(err)
	return set
}

// TryAddSkills is AddSkills for skills that are made at run time: it returns an error
// instead of panicking. The error has a line for each skill that is not good.
func (s *Server) TryAddSkills(fsys fs.FS, opts *SkillsOptions) (*SkillSet, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	if fsys == nil {
		return nil, errors.New("skills: the file tree is nil")
	}
	set := &SkillSet{server: s, now: &skillFiles{}}
	set.read = func() (*skillFiles, error) { return readSkills(fsys, &o) }
	if err := set.Refresh(); err != nil {
		return nil, err
	}
	return set, nil
}

// Refresh reads the file tree anew, for example when a watcher of files has seen a
// change. Clients are told that the list of resources changed, if anything did, and
// those that watch a file that changed, of that. If any of the skills is not good,
// or cannot be read, everything stays as it was, and the error has a line for each.
//
// Spec: 2026-07-28 server/resources#list-changed-notification.
func (k *SkillSet) Refresh() error {
	this := k.begun.Add(1)
	next, err := k.read() // without a lock, because the file tree is not ours
	if err != nil {
		return fmt.Errorf("skills: %w", err)
	}
	k.server.skills.mu.Lock()
	defer k.server.skills.mu.Unlock()
	if k.removed {
		return errors.New("skills: these were removed; add them again")
	}
	if this < k.shown {
		return nil // a reading that began later was faster
	}
	if err := k.server.skillsFit(k, next); err != nil {
		return fmt.Errorf("skills: %w", err)
	}
	k.shown = this
	k.server.replaceSkills(k, next)
	return nil
}

// Remove removes the skills and their files. Removing them again does nothing.
func (k *SkillSet) Remove() {
	k.server.skills.mu.Lock()
	defer k.server.skills.mu.Unlock()
	if !k.removed {
		k.removed = true
		k.server.replaceSkills(k, &skillFiles{})
	}
}

// URIs returns the URIs of the skills, in the order of their paths.
func (k *SkillSet) URIs() []string {
	k.server.skills.mu.Lock()
	defer k.server.skills.mu.Unlock()
	uris := make([]string, len(k.now.skills))
	for i, p := range k.now.skills {
		uris[i] = p.skill.URI
	}
	return uris
}

// skillPlan is a plan.
type skillPlan struct {
	skill  mcp.Skill
	root   string // the URI of its directory
	listed bool
	made   *DynamicSkill // nil unless it is dynamic
}

func (p *skillPlan) key() string      { return p.skill.URI }
func (p *skillPlan) desc() *mcp.Skill { return &p.skill }

// listSkills answers skills/list.
//
// Spec: ext-skills/stable skills#listing-skills.
func (s *Server) listSkills(ctx context.Context, x *mcp.Exchange) (any, error) {
	var params mcp.ListParams
	if err := decodeParams(x, &params); err != nil {
		return nil, err
	}
	index := s.skills.index()
	var visible func(uri string) bool
	if s.opts.Visible != nil {
		visible = func(uri string) bool { return s.skillVisible(ctx, x, index.skills[uri]) }
	}
	p, err := pageOf(s.skills.listed.load(), listOfSkills, params.Cursor, s.opts.PageSize, visible)
	if err != nil {
		return nil, err
	}
	return p.with(&mcp.ListSkillsResult{CacheFields: s.cacheFields(x.Method), Skills: p.list, NextCursor: p.next}), nil
}

// getSkill answers skills/get.
//
// Spec: ext-skills/stable skills#getting-a-skill.
func (s *Server) getSkill(ctx context.Context, x *mcp.Exchange) (any, error) {
	var params mcp.GetSkillParams
	if err := decodeParams(x, &params); err != nil {
		return nil, err
	}
	p := s.skills.index().skills[params.URI]
	if !s.skillVisible(ctx, x, p) {
		return nil, notServed(params.URI, "no skill is served at %q; the URI of a skill ends with %q", "/"+skill.File)
	}
	return &mcp.GetSkillResult{CacheFields: s.cacheFields(x.Method), Skill: &p.skill}, nil
}

// skillVisible reports whether the client of an exchange gets to see a skill: whether
// it may see each of its files. Its manifest is complete for whoever gets it.
func (s *Server) skillVisible(ctx context.Context, x *mcp.Exchange, p *skillPlan) bool {
	if p == nil || !s.visible(ctx, x, mcp.ResourceFeature, p.skill.URI) {
		return false
	}
	for i := 0; s.opts.Visible != nil && i < len(p.skill.Resources.Files); i++ {
		if !s.visible(ctx, x, mcp.ResourceFeature, p.skill.Resources.Files[i].URI) {
			return false
		}
	}
	return true
}
