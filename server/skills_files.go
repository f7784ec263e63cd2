package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/skill"
	"github.com/parley-mcp/parley/mcp"
)

// skillFiles is what a set of skills consists of, at one time. It is not changed.
type skillFiles struct {
	skills []*skillPlan
	files  []*skillFile
	dirs   []*mcp.Resource // of which clients may read what they contain
}

// skillFile is a file with its content.
type skillFile struct {
	plan   *resource
	digest string // "" if the content is made anew for each read
	listed bool
}

// readSkills reads a file tree.
func readSkills(fsys fs.FS, o *SkillsOptions) (*skillFiles, error) {
	tree, err := skill.Reader{Skip: o.Skip, MaxBytes: o.MaxBytes}.Read(fsys)
	if err != nil {
		return nil, err
	}
	root := strings.TrimSuffix(o.Prefix, "/")
	found := &skillFiles{}
	plans := map[string]*skillPlan{}
	var bad []error
	for _, dir := range tree.Skills {
		entry, err := tree.Entry(dir, root)
		if err != nil {
			bad = append(bad, fmt.Errorf("the directory %q: %w", dir, err))
			continue
		}
		p := &skillPlan{skill: *entry, root: skill.URI(root, dir), listed: !o.Unlisted}
		plans[path.Join(dir, skill.File)] = p
		found.skills = append(found.skills, p)
	}
	if len(bad) > 0 {
		return nil, errors.Join(bad...)
	}
	for _, name := range tree.Names() {
		found.files = append(found.files, newSkillFile(skill.URI(root, name), tree.Files[name], plans[name], !o.Unlisted))
	}
	for _, dir := range tree.Dirs {
		uri := skill.URI(root, dir)
		within := slices.ContainsFunc(found.skills, func(p *skillPlan) bool { return isWithin(uri, p.root) })
		if within || !o.Unlisted && isDirectory(uri) {
			found.dirs = append(found.dirs, directoryResource(uri))
		}
	}
	return found, nil
}

// newSkillFile returns a file as a resource. p is the skill whose SKILL.md it is, or
// nil.
//
// Spec: ext-skills/stable skills#resource-metadata.
func newSkillFile(uri string, data []byte, p *skillPlan, listed bool) *skillFile {
	r := mcp.Resource{URI: uri, Name: skill.Name(uri), MIMEType: skill.MIMEType(uri, data), Size: new(int64(len(data)))}
	if p != nil {
		r.Name, r.Description = p.skill.Name(), p.skill.Description()
	}
	result := Contents(skillContents(uri, r.MIMEType, data))
	read := func(context.Context, *Call, string) (*mcp.ReadResourceResult, error) { return result, nil }
	return &skillFile{plan: &resource{resource: r, read: read, ofSkill: true}, digest: skill.Digest(data), listed: listed}
}

// skillContents returns the content of a file, in the form that keeps every byte.
func skillContents(uri, mimeType string, data []byte) *mcp.ResourceContents {
	if utf8.Valid(data) {
		return mcp.TextResource(uri, mimeType, string(data))
	}
	return mcp.BlobResource(uri, mimeType, data)
}

// Spec: ext-skills/stable skills#directory-resources.
func directoryResource(uri string) *mcp.Resource {
	return &mcp.Resource{URI: uri, Name: skill.Name(uri), MIMEType: mcp.MIMETypeDirectory}
}

// isDirectory reports whether a URI without a slash at its end can be that of a
// directory: "skill:/" cannot.
func isDirectory(uri string) bool { return skill.Name(uri) != "" }

// isWithin reports whether a URI is that of a directory, or below it.
func isWithin(uri, dir string) bool {
	rest, ok := strings.CutPrefix(uri, dir)
	return ok && (rest == "" || rest[0] == '/')
}

// parentOf returns the URI of the directory that something is in.
func parentOf(uri string) string { return uri[:max(strings.LastIndexByte(uri, '/'), 0)] }
