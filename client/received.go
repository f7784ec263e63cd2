package client

import (
	"github.com/parley-mcp/parley/internal/content"
	"github.com/parley-mcp/parley/mcp"
)

// received prepares a result that a server has sent for the caller.
func (c *Client) received(result any) {
	icons := iconFilter{c: c}
	switch r := result.(type) {
	case *mcp.ListToolsResult:
		for _, t := range r.Tools {
			icons.filter(&t.Icons)
		}
		c.checkDialects(r.Tools)
		c.tools.learn(r.Tools, c.opts.Logger)
	case *mcp.ListResourcesResult:
		for _, t := range r.Resources {
			icons.filter(&t.Icons)
		}
	case *mcp.ReadDirectoryResult:
		for _, t := range r.Resources {
			icons.filter(&t.Icons)
		}
	case *mcp.ListResourceTemplatesResult:
		for _, t := range r.ResourceTemplates {
			icons.filter(&t.Icons)
		}
	case *mcp.ListPromptsResult:
		for _, t := range r.Prompts {
			icons.filter(&t.Icons)
		}
	case *mcp.CallToolResult:
		icons.links(r.Content)
	case *mcp.GetPromptResult:
		for _, m := range r.Messages {
			icons.links(mcp.Contents{m.Content})
		}
	}
	icons.log()
}

// iconFilter removes the icons that nobody should fetch or show.
type iconFilter struct {
	c       *Client
	removed int
	first   string
}

// Spec: 2026-07-28 basic#icons.
func (f *iconFilter) filter(icons *[]mcp.Icon) {
	kept := (*icons)[:0]
	for _, icon := range *icons {
		if content.SafeIcon(icon.Src) {
			kept = append(kept, icon)
			continue
		}
		if f.removed++; f.removed == 1 {
			f.first = icon.Src[:min(len(icon.Src), maxShownIcon)]
		}
	}
	if *icons = kept; len(kept) == 0 {
		*icons = nil
	}
}

// maxShownIcon is how many bytes of a URI are logged.
const maxShownIcon = 80

func (f *iconFilter) links(blocks mcp.Contents) {
	for _, block := range blocks {
		if link, ok := block.(*mcp.ResourceLink); ok {
			f.filter(&link.Icons)
		}
	}
}

func (f *iconFilter) log() {
	if f.removed > 0 {
		f.c.opts.Logger.Warn("icons left out: their URIs are neither https nor data URIs of images", "icons", f.removed, "first", f.first)
	}
}
