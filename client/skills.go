package client

import (
	"context"
	"fmt"
	"iter"

	"github.com/parley-mcp/parley/mcp"
)

// Skills iterates over the skills that the server lists, as Tools does over tools. A
// server need not list all it has: GetSkill finds the others by their URIs. Nothing is
// read of the skills themselves, and two may have the same name. What a server says of a
// skill is checked by HoldSkill. The error is a *NotDeclaredError if the server has no
// skills, or speaks a revision in which their files are plain resources.
//
// Spec: ext-skills/stable skills#listing-skills.
func (c *Client) Skills(ctx context.Context, opts ...CallOption) iter.Seq2[*mcp.Skill, error] {
	l := listing[mcp.ListSkillsResult, *mcp.Skill]{c: c, method: mcp.MethodListSkills, opts: opts}
	l.items = func(r *mcp.ListSkillsResult) ([]*mcp.Skill, *string) { return r.Skills, r.NextCursor }
	l.name = func(v *mcp.Skill) string { return v.URI }
	return l.all(ctx)
}

// ListSkills returns one page of skills; for its cursor see ListTools.
//
// Spec: ext-skills/stable skills#listing-skills.
func (c *Client) ListSkills(ctx context.Context, at *string, opts ...CallOption) (*mcp.ListSkillsResult, error) {
	return get[mcp.ListSkillsResult](ctx, c, mcp.MethodListSkills, mcp.ListParams{Cursor: at}, opts)
}

// GetSkill returns what the server says of one skill, by the URI of its SKILL.md, listed
// or not. After an entry of an earlier time has turned out to be outdated, WithFresh
// makes sure that this one is not out of the cache.
//
// Spec: ext-skills/stable skills#getting-a-skill.
func (c *Client) GetSkill(ctx context.Context, uri string, opts ...CallOption) (*mcp.Skill, error) {
	r, err := get[mcp.GetSkillResult](ctx, c, mcp.MethodGetSkill, mcp.GetSkillParams{URI: uri}, opts)
	if err != nil {
		return nil, err
	}
	if r.Skill.URI != uri {
		return nil, fmt.Errorf("%s: the server was asked for %q and answered with %q", mcp.MethodGetSkill, uri, r.Skill.URI)
	}
	return r.Skill, nil
}

// Directory iterates over what a directory resource contains: files, and directories,
// whose MIME type is mcp.MIMETypeDirectory. It shows what the server has now, which may
// differ from the manifest of a skill that is held; of that skill, only the files in the
// manifest can be read. The error is a *NotDeclaredError if the server has not declared
// that its directories can be read; it is then not asked.
//
// Spec: ext-skills/stable skills#reading-directories.
func (c *Client) Directory(ctx context.Context, uri string, opts ...CallOption) iter.Seq2[*mcp.Resource, error] {
	l := listing[mcp.ReadDirectoryResult, *mcp.Resource]{c: c, method: mcp.MethodReadDirectory, opts: opts}
	l.params = func(at *string) any { return mcp.ReadDirectoryParams{URI: uri, Cursor: at} }
	l.items = func(r *mcp.ReadDirectoryResult) ([]*mcp.Resource, *string) { return r.Resources, r.NextCursor }
	l.name = func(v *mcp.Resource) string { return v.URI }
	return l.all(ctx)
}
