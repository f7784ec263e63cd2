// Package content has the rules for what servers, clients and their users put into
// messages: keys of _meta, icons, annotations, MIME types, URIs and blocks of
// content. Its functions check what is about to be sent, and are strict; their
// errors say which member breaks which rule, and what to write instead. What comes
// from a peer is not judged by them, with one exception: SafeIcon.
package content

import (
	"errors"
	"fmt"

	"github.com/parley-mcp/parley/mcp"
)

// Rules are what the checks depend on. The zero value is complete.
type Rules struct {
	// Extensions are those that the sender declares, by identifier. Keys of _meta
	// with the protocol's own prefix are allowed if one of them has it, too.
	Extensions Extensions
}

// Blocks checks a list of blocks.
func (r Rules) Blocks(blocks []mcp.Content) error {
	for i, block := range blocks {
		if err := r.Block(block); err != nil {
			return fmt.Errorf("content[%d]: %w", i, err)
		}
	}
	return nil
}

// Block checks one block of the kinds that tools and prompts may have. One of an
// unknown type is only checked for being there.
//
// Spec: 2026-07-28 server/tools#tool-result.
func (r Rules) Block(block mcp.Content) error {
	switch b := block.(type) {
	case *mcp.TextContent:
		if b != nil {
			return r.about(b.Annotations, b.Meta)
		}
	case *mcp.ImageContent:
		if b != nil {
			return r.media(b.MIMEType, b.Annotations, b.Meta)
		}
	case *mcp.AudioContent:
		if b != nil {
			return r.media(b.MIMEType, b.Annotations, b.Meta)
		}
	case *mcp.ResourceLink:
		if b != nil {
			return r.link(b)
		}
	case *mcp.EmbeddedResource:
		if b != nil {
			return r.embedded(b)
		}
	case *mcp.UnknownContent:
		if b != nil {
			return nil
		}
	case *mcp.ToolUseContent, *mcp.ToolResultContent:
		return fmt.Errorf("a %T is possible in sampling only", block)
	}
	return errNil
}

var errNil = errors.New("it is nil")

// Sampled checks one block of the kinds that messages of sampling may have.
//
// Spec: 2026-07-28 client/sampling#messages.
func (r Rules) Sampled(block mcp.Content) error {
	switch b := block.(type) {
	case *mcp.ToolUseContent:
		if b != nil {
			return r.Meta(b.Meta)
		}
	case *mcp.ToolResultContent:
		if b != nil {
			return r.toolResult(b)
		}
	case *mcp.ResourceLink, *mcp.EmbeddedResource:
		return fmt.Errorf("content of type %T is not possible in sampling", block)
	default:
		return r.Block(block)
	}
	return errNil
}

func (r Rules) toolResult(t *mcp.ToolResultContent) error {
	if err := r.Blocks(t.Content); err != nil {
		return err
	}
	return r.Meta(t.Meta)
}

// about checks what most blocks have.
func (r Rules) about(a *mcp.Annotations, m mcp.Meta) error {
	if err := Annotations(a); err != nil {
		return err
	}
	return r.Meta(m)
}

// media checks an image or a sound. Its bytes are encoded on their way out.
//
// Spec: 2026-07-28 server/prompts#image-content.
// Spec: 2026-07-28 server/prompts#audio-content.
func (r Rules) media(mimeType string, a *mcp.Annotations, m mcp.Meta) error {
	if err := MIMEType(mimeType); err != nil {
		return err
	}
	return r.about(a, m)
}

// Spec: 2026-07-28 server/tools#resource-links.
func (r Rules) link(l *mcp.ResourceLink) error {
	if err := URI(l.URI); err != nil {
		return err
	}
	return r.Described(l.MIMEType, l.Icons, l.Annotations, l.Meta)
}

// Described checks the members that the descriptions of features have in common.
// Those that a kind of feature lacks are zero.
func (r Rules) Described(mimeType string, icons []mcp.Icon, a *mcp.Annotations, m mcp.Meta) error {
	if err := optionalMIMEType(mimeType); err != nil {
		return err
	}
	if err := Icons(icons); err != nil {
		return err
	}
	return r.about(a, m)
}

// Spec: 2026-07-28 server/tools#embedded-resources.
func (r Rules) embedded(e *mcp.EmbeddedResource) error {
	if err := r.Resource(e.Resource); err != nil {
		return fmt.Errorf("resource: %w", err)
	}
	return r.about(e.Annotations, e.Meta)
}

// Resource checks the contents of a resource.
//
// Spec: 2026-07-28 server/resources#resource-contents.
func (r Rules) Resource(c *mcp.ResourceContents) error {
	switch {
	case c == nil:
		return errNil
	case c.Text == nil && c.Blob == nil:
		return errors.New("it has neither text nor bytes")
	case c.Text != nil && c.Blob != nil:
		return errors.New("it has both text and bytes")
	}
	if err := URI(c.URI); err != nil {
		return err
	}
	if err := optionalMIMEType(c.MIMEType); err != nil {
		return err
	}
	return r.Meta(c.Meta)
}
