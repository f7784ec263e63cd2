package era

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/parley-mcp/parley/apps"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/mcp"
)

// The functions of this file return a value in the form of a revision: a copy in
// which what the revision lacks is cleared, or expressed in a form that it has. A
// member that they do not name goes out in every revision. Values that need no
// change are returned as they are.

func shapeEach[T any](list []*T, f *revision.Facts, one func(*T, *revision.Facts) *T) []*T {
	shaped := make([]*T, len(list))
	for i, v := range list {
		if v == nil {
			continue // goes out as null
		}
		shaped[i] = one(v, f)
	}
	return shaped
}

// unshaped is for what revisions have either as a whole or not at all.
func unshaped[T any](v *T, _ *revision.Facts) *T { return v }

func shapeTool(t *mcp.Tool, f *revision.Facts) *mcp.Tool {
	c := *t
	// In sessions every tool has a description, if only its name.
	// Spec: 2025-03-26 server/tools#tool.
	if !f.Stateless {
		c.Description = cmp.Or(t.Description, t.Title, t.Name)
	}
	c.Title = keep(t.Title, f.Titles)
	c.Icons = keepList(t.Icons, f.Icons)
	c.Meta = keepMeta(t.Meta, f)
	if !f.ToolAnnotations {
		c.Annotations = nil
	}
	if !f.Tasks {
		c.Execution = nil
	}
	if !f.StructuredContent || !f.AnyStructuredContent && !describesObject(t.OutputSchema) {
		c.OutputSchema = nil
	}
	return &c
}

func shapeResource(r *mcp.Resource, f *revision.Facts) *mcp.Resource {
	c := *r
	c.Title = keep(r.Title, f.Titles)
	c.Icons = keepList(r.Icons, f.Icons)
	c.Annotations = shapeAnnotations(r.Annotations, f)
	c.Meta = keepMeta(r.Meta, f)
	return &c
}

func shapeTemplate(t *mcp.ResourceTemplate, f *revision.Facts) *mcp.ResourceTemplate {
	c := *t
	c.Title = keep(t.Title, f.Titles)
	c.Icons = keepList(t.Icons, f.Icons)
	c.Annotations = shapeAnnotations(t.Annotations, f)
	c.Meta = keepMeta(t.Meta, f)
	return &c
}

func shapePrompt(p *mcp.Prompt, f *revision.Facts) *mcp.Prompt {
	c := *p
	c.Title = keep(p.Title, f.Titles)
	c.Icons = keepList(p.Icons, f.Icons)
	c.Meta = keepMeta(p.Meta, f)
	if !f.Titles {
		c.Arguments = make([]*mcp.PromptArgument, len(p.Arguments))
		for i, a := range p.Arguments {
			untitled := *a
			untitled.Title = ""
			c.Arguments[i] = &untitled
		}
	}
	return &c
}

func shapePromptMessage(m *mcp.PromptMessage, f *revision.Facts) *mcp.PromptMessage {
	c := *m
	c.Content = shapeContent(m.Content, f)
	return &c
}

func shapeResourceContents(r *mcp.ResourceContents, f *revision.Facts) *mcp.ResourceContents {
	c := *r
	c.Meta = keepMeta(r.Meta, f)
	return &c
}

func shapeContents(list mcp.Contents, f *revision.Facts) mcp.Contents {
	if f.AllContent() || len(list) == 1 && shapeContent(list[0], f) == list[0] {
		return list
	}
	shaped := make(mcp.Contents, len(list))
	for i, c := range list {
		shaped[i] = shapeContent(c, f)
	}
	return shaped
}

// shapeContent replaces content of a kind that the revision lacks with text that
// says what was there, so that a model still learns about it.
func shapeContent(content mcp.Content, f *revision.Facts) mcp.Content {
	if absent(content) {
		return content
	}
	switch b := content.(type) {
	case *mcp.TextContent:
		if b.Annotations == nil && b.Meta == nil {
			return b
		}
		c := *b
		c.Annotations, c.Meta = shapeAnnotations(b.Annotations, f), keepMeta(b.Meta, f)
		return &c
	case *mcp.ImageContent:
		c := *b
		c.Annotations, c.Meta = shapeAnnotations(b.Annotations, f), keepMeta(b.Meta, f)
		return &c
	case *mcp.AudioContent:
		if !f.Audio {
			return mcp.Textf("[audio, %s, %d bytes: this revision of the protocol has no audio content]", b.MIMEType, len(b.Data))
		}
		c := *b
		c.Annotations, c.Meta = shapeAnnotations(b.Annotations, f), keepMeta(b.Meta, f)
		return &c
	case *mcp.ResourceLink:
		return shapeLink(b, f)
	case *mcp.EmbeddedResource:
		c := *b
		c.Annotations, c.Meta = shapeAnnotations(b.Annotations, f), keepMeta(b.Meta, f)
		if b.Resource != nil {
			c.Resource = shapeResourceContents(b.Resource, f)
		}
		return &c
	case *mcp.ToolResultContent:
		c := *b
		c.Content = shapeContents(b.Content, f)
		return &c
	}
	return content
}

func shapeLink(b *mcp.ResourceLink, f *revision.Facts) mcp.Content {
	if !f.ResourceLinks {
		text := fmt.Sprintf("[resource %s: %s]", b.Name, b.URI)
		if b.Description != "" {
			text += " " + b.Description
		}
		return mcp.Text(text)
	}
	c := *b
	c.Icons = keepList(b.Icons, f.Icons)
	c.Annotations = shapeAnnotations(b.Annotations, f)
	return &c
}

func shapeAnnotations(a *mcp.Annotations, f *revision.Facts) *mcp.Annotations {
	if a == nil || f.LastModified || a.LastModified == "" {
		return a
	}
	c := *a
	c.LastModified = ""
	return &c
}

func shapeImplementation(i mcp.Implementation, f *revision.Facts) mcp.Implementation {
	i.Title = keep(i.Title, f.Titles)
	i.Icons = keepList(i.Icons, f.Icons)
	i.Description = keep(i.Description, f.ImplementationDetails)
	i.WebsiteURL = keep(i.WebsiteURL, f.ImplementationDetails)
	return i
}

func shapeServerCapabilities(c mcp.ServerCapabilities, f *revision.Facts) mcp.ServerCapabilities {
	c.Tasks = shapeTasksCapability(c.Tasks, f)
	if !f.Completions {
		c.Completions = nil
	}
	c.Extensions = keepExtensions(c.Extensions, f)
	return c
}

func shapeClientCapabilities(c mcp.ClientCapabilities, f *revision.Facts) mcp.ClientCapabilities {
	c.Extensions = keepExtensions(c.Extensions, f)
	c.Tasks = shapeTasksCapability(c.Tasks, f)
	if c.Roots != nil && c.Roots.ListChanged && !f.RootsListChanged {
		c.Roots = &mcp.RootsCapability{}
	}
	if c.Sampling != nil && !f.SamplingTools {
		c.Sampling = &mcp.SamplingCapability{}
	}
	switch {
	case !f.Elicitation:
		c.Elicitation = nil
	case c.Elicitation != nil && !f.ElicitURL:
		if !c.Elicitation.Forms() {
			c.Elicitation = nil
			break
		}
		c.Elicitation = &mcp.ElicitationCapability{}
	case c.Elicitation != nil && c.Elicitation.URL == nil:
		// An empty object means forms, and some servers refuse members that they do not know.
		// Spec: 2025-11-25 client/elicitation#capabilities.
		c.Elicitation = &mcp.ElicitationCapability{}
	}
	return c
}

// shapeParams shapes the params of a notification from the server.
func shapeParams(params any, f *revision.Facts) any {
	switch p := params.(type) {
	case *mcp.ProgressParams:
		if p.Message != "" && !f.ProgressMessage {
			c := *p
			c.Message = ""
			return &c
		}
	case *mcp.Task:
		if task, err := sessionTask(p); err == nil && !f.Stateless {
			return task
		}
	}
	return params
}

func keep(s string, has bool) string {
	if !has {
		return ""
	}
	return s
}

func keepList[T any](l []T, has bool) []T {
	if !has {
		return nil
	}
	return l
}

func keepMeta(m mcp.Meta, f *revision.Facts) mcp.Meta {
	return keepKeys(m, f.MetaOnTypes, apps.MetaKey)
}

// keepExtensions keeps MCP Apps in every revision: its specification has clients declare
// it when they open a session, and puts its part of _meta on tools whatever the revision.
//
// Spec: extensions/apps 2026-01-26 specification#client-server-capability-negotiation.
func keepExtensions(m map[string]json.RawMessage, f *revision.Facts) map[string]json.RawMessage {
	return keepKeys(m, f.Extensions, apps.Extension)
}

func keepKeys[M ~map[string]json.RawMessage](m M, all bool, always string) M {
	if all {
		return m
	}
	if value, ok := m[always]; ok {
		return M{always: value}
	}
	return nil
}

func isObject(doc json.RawMessage) bool { return len(doc) > 0 && doc[0] == '{' }
