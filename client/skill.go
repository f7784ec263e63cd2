package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/parley-mcp/parley/internal/skill"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// SkillOptions say how a host deals with a skill. The zero value works.
type SkillOptions struct {
	// NoDynamic declines skills whose files have no digests because they are made anew
	// whenever they are read.
	NoDynamic bool
}

// Skill is a skill as a host holds it while it acts on it: one entry, and the files that
// this entry lists. Whatever the server says later changes nothing of it. It may be used
// concurrently, for as long as its client.
//
// What comes out of it is text of the server, which deserves no more trust than a tool's
// result, whatever digests it has. A host tells its model from which server it comes,
// grants none of the permissions that the frontmatter asks for (allowed-tools), and runs
// nothing that the text demands, unless the user has approved that for this skill.
//
// Spec: ext-skills/stable skills#the-acting-window-and-the-held-entry.
type Skill struct {
	c      *Client
	server string
	entry  mcp.Skill
	root   string                       // the URI of its folder
	files  map[string]mcp.SkillResource // by their paths in it

	mu   sync.Mutex
	read map[string]int64 // of a dynamic skill: the sizes of the files that were read
}

// HoldSkill checks the entry of a skill, from Skills or GetSkill, and holds it. It asks
// the server for nothing; the files are read when they are needed. server is the host's
// own name for the server, which with the URI identifies the skill: a name that the
// server gives itself does not do, as any server can take it. opts may be nil. The error
// is a *SkillError.
//
// Spec: ext-skills/stable skills#skill-uris.
func (c *Client) HoldSkill(server string, entry *mcp.Skill, opts *SkillOptions) (*Skill, error) {
	if opts == nil {
		opts = &SkillOptions{}
	}
	s := &Skill{c: c, server: server, entry: *entry, files: map[string]mcp.SkillResource{}, read: map[string]int64{}}
	s.entry.Frontmatter = bytes.Clone(entry.Frontmatter)
	s.entry.Resources.Files = slices.Clone(entry.Resources.Files)
	if server == "" {
		return nil, s.wrong(CheckEntry, "", errors.New("the server has no label: the host names it, and with the URI that identifies the skill"))
	}
	if err := s.checkEntry(opts); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Skill) checkEntry(opts *SkillOptions) error {
	e := &s.entry
	root, err := skill.Root(e.URI)
	if err != nil {
		return s.wrong(CheckEntry, "", err)
	}
	if name := skill.Name(root); name != e.Name() {
		return s.wrong(CheckName, "", fmt.Errorf("its name is %.100q, and by its URI %.100q", e.Name(), name))
	}
	if opts.NoDynamic && e.Resources.Dynamic {
		return s.wrong(CheckDynamic, "", errDynamic)
	}
	if err := skill.CheckEntry(e); errors.Is(err, skill.ErrTooLarge) {
		return s.wrong(CheckLimits, "", err)
	} else if err != nil {
		return s.wrong(CheckEntry, "", err)
	}
	s.root = root
	for _, f := range e.Resources.Files {
		inside, err := skill.Path(root, f.URI)
		if err != nil {
			return s.wrong(CheckEntry, f.URI, err)
		}
		s.files[inside] = f
	}
	return nil
}

var errDynamic = errors.New("its content is made anew whenever it is read, so there are no digests to verify it or to approve it by")

// Server returns the label of the server. Together with the URI of the entry it
// identifies the skill.
func (s *Skill) Server() string { return s.server }

// Entry returns the entry that is held. It must not be changed.
func (s *Skill) Entry() *mcp.Skill { return &s.entry }

// Approval returns the value to which an approval of this skill is bound: one that is
// kept means that the user has approved these files of this server's skill, and no others.
// Before a host loads the skill later, it holds the entry of that time and compares, with
// Approved. The error is a *SkillError for dynamic skills: they can be approved only for
// the moment.
//
// Spec: ext-skills/stable skills#security-considerations.
func (s *Skill) Approval() (string, error) {
	if s.entry.Resources.Dynamic {
		return "", s.wrong(CheckDynamic, "", errDynamic)
	}
	type file struct{ URI, Digest string }
	var files []file
	for _, f := range s.entry.Resources.Files {
		files = append(files, file{f.URI, f.Digest})
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.URI, b.URI) })
	doc, err := wire.Marshal(map[string]any{"approves": mcp.ExtensionSkills, "server": s.server, "uri": s.entry.URI, "files": files})
	if err == nil {
		doc, err = wire.Canonical(doc)
	}
	if err != nil {
		return "", s.wrong(CheckEntry, "", err)
	}
	sum := sha256.Sum256(doc)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// Approved reports whether an approval that was kept is for what this skill is now. If it
// is not, because a file was changed, added or removed, it is revoked.
func (s *Skill) Approved(approval string) bool {
	now, err := s.Approval()
	return err == nil && now == approval
}

// Read reads a file of the skill: by its URI, or by a reference that one of the skill's
// own texts makes to it, which is relative to the skill's folder, such as "SKILL.md" or
// "references/GUIDE.md". A file that the entry does not list is not asked for. What the
// server sends is returned only if it is what the entry says; with SKILL.md, that includes
// its frontmatter. The error then is a *SkillError. The SKILL.md of a skill within this
// one is a file like any other: it is approved and loaded as a skill of its own, or not at
// all.
//
// Spec: ext-skills/stable skills#verification-on-read.
func (s *Skill) Read(ctx context.Context, file string, opts ...CallOption) ([]byte, error) {
	f, err := s.find(file)
	if err != nil {
		return nil, err
	}
	data, err := s.readOnce(ctx, f, opts)
	if wrong, ok := errors.AsType[*SkillError](err); ok && wrong.Check != CheckLimits && s.c.cache != nil {
		// It may have been cached before the entry was fetched.
		// Spec: ext-skills/stable skills#lazy-retrieval.
		data, err = s.readOnce(ctx, f, append(slices.Clip(opts), WithFresh()))
	}
	return data, err
}

// Verify checks the content of a file that was read before, with the same errors as Read.
// A host that keeps files on a disk that others can write to verifies them each time.
//
// Spec: ext-skills/stable skills#security-considerations.
func (s *Skill) Verify(file string, content []byte) error {
	f, err := s.find(file)
	if err != nil {
		return err
	}
	return s.verify(f, content)
}

func (s *Skill) readOnce(ctx context.Context, f mcp.SkillResource, opts []CallOption) ([]byte, error) {
	r, err := s.c.ReadResource(ctx, f.URI, opts...)
	if err != nil {
		return nil, err
	}
	if len(r.Contents) != 1 {
		return nil, s.wrong(CheckSize, f.URI, fmt.Errorf("the server sent %d contents in place of one file", len(r.Contents)))
	}
	data := r.Contents[0].Blob
	if text := r.Contents[0].Text; text != nil && data == nil {
		data = []byte(*text)
	}
	if err := s.verify(f, data); err != nil {
		return nil, err
	}
	return data, nil
}

// verify checks the content of a file against the entry.
func (s *Skill) verify(f mcp.SkillResource, data []byte) error {
	switch {
	case s.entry.Resources.Dynamic:
		if err := s.count(f.URI, int64(len(data))); err != nil {
			return err
		}
	case int64(len(data)) != f.Size:
		return s.wrong(CheckSize, f.URI, fmt.Errorf("it has %d bytes, and by the entry %d", len(data), f.Size))
	case skill.Digest(data) != f.Digest:
		return s.wrong(CheckDigest, f.URI, fmt.Errorf("its digest is %s, and by the entry %s", skill.Digest(data), f.Digest))
	}
	if f.URI != s.entry.URI {
		return nil
	}
	// Spec: ext-skills/stable skills#frontmatter-verification.
	front, err := skill.Frontmatter(data)
	if err == nil {
		err = skill.Same(s.entry.Frontmatter, front)
	}
	if err != nil {
		return s.wrong(CheckFrontmatter, f.URI, err)
	}
	return nil
}

// find returns the file of the skill that a URI or a relative reference means. What the
// entry does not list is none, whether the server has it or not.
//
// Spec: ext-skills/stable skills#the-acting-window-and-the-held-entry.
// Spec: ext-skills/stable skills#relative-references.
func (s *Skill) find(ref string) (mcp.SkillResource, error) {
	inside, err := skill.Path(s.root, ref)
	byURI := err == nil
	if !byURI {
		inside = path.Clean(ref)
	}
	f, listed := s.files[inside]
	if decoded, err := url.PathUnescape(inside); !listed && !byURI && err == nil {
		f, listed = s.files[decoded]
	}
	switch {
	case listed && (!byURI || f.URI == ref):
		return f, nil
	case !s.entry.Resources.Dynamic:
		return f, s.wrong(CheckManifest, ref, errors.New("it is not among the files of the entry"))
	case byURI:
		return mcp.SkillResource{URI: ref}, nil
	}
	uri := skill.URI(s.root, inside)
	if same, err := skill.Path(s.root, uri); err != nil || same != inside || strings.Contains(ref, "://") {
		return f, s.wrong(CheckManifest, ref, errors.New("it is not within the skill"))
	}
	return mcp.SkillResource{URI: uri}, nil
}

// count applies the limits of a skill to what was read of one that cannot be counted
// beforehand.
//
// Spec: ext-skills/stable skills#limits.
func (s *Skill) count(uri string, size int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read[uri] = size
	var total int64
	for _, n := range s.read {
		total += n
	}
	if len(s.read) > skill.MaxFiles || total > skill.MaxBytes {
		delete(s.read, uri)
		return s.wrong(CheckLimits, uri, fmt.Errorf("what was read of the skill would be more than %d files or %d bytes", skill.MaxFiles, skill.MaxBytes))
	}
	return nil
}

func (s *Skill) wrong(check SkillCheck, file string, err error) error {
	return &SkillError{Server: s.server, URI: s.entry.URI, File: file, Check: check, Err: err}
}
