package mcp

import (
	"encoding/json"
	"fmt"

	"github.com/parley-mcp/parley/internal/wire"
)

// Content is one block of content: *TextContent, *ImageContent,
// *AudioContent, *ResourceLink, *EmbeddedResource, in sampling also
// *ToolUseContent and *ToolResultContent, and *UnknownContent for a type this
// module does not know. The field Type of each is written by itself: there is
// nothing to set.
//
// Spec: 2026-07-28 server/tools#tool-result.
type Content interface{ content() }

// Text returns a text block.
func Text(s string) *TextContent { return &TextContent{Text: s} }

// Textf returns a formatted text block.
func Textf(format string, args ...any) *TextContent { return Text(fmt.Sprintf(format, args...)) }

// TextContent is text.
type TextContent struct {
	Type        textType     `json:"type"`
	Text        string       `json:"text"`
	Annotations *Annotations `json:"annotations,omitzero"`
	Meta        Meta         `json:"_meta,omitzero"`
}

// ImageContent is a picture.
type ImageContent struct {
	Type        imageType    `json:"type"`
	Data        []byte       `json:"data"`     // the bytes; base64 only on the wire
	MIMEType    string       `json:"mimeType"` // required, for example "image/png"
	Annotations *Annotations `json:"annotations,omitzero"`
	Meta        Meta         `json:"_meta,omitzero"`
}

// AudioContent is sound.
type AudioContent struct {
	Type        audioType    `json:"type"`
	Data        []byte       `json:"data"`     // the bytes; base64 only on the wire
	MIMEType    string       `json:"mimeType"` // required, for example "audio/wav"
	Annotations *Annotations `json:"annotations,omitzero"`
	Meta        Meta         `json:"_meta,omitzero"`
}

// ResourceLink points to a resource without embedding it. It need not be in
// the list of resources.
type ResourceLink struct {
	Type        resourceLinkType `json:"type"`
	URI         string           `json:"uri"`
	Name        string           `json:"name"`
	Title       string           `json:"title,omitzero"`
	Description string           `json:"description,omitzero"`
	MIMEType    string           `json:"mimeType,omitzero"`
	Size        *int64           `json:"size,omitzero"` // bytes
	Icons       []Icon           `json:"icons,omitzero"`
	Annotations *Annotations     `json:"annotations,omitzero"`
	Meta        Meta             `json:"_meta,omitzero"`
}

// EmbeddedResource carries the contents of a resource.
type EmbeddedResource struct {
	Type        embeddedType      `json:"type"`
	Resource    *ResourceContents `json:"resource"`
	Annotations *Annotations      `json:"annotations,omitzero"`
	Meta        Meta              `json:"_meta,omitzero"`
}

// ToolUseContent is a model's wish to call a tool, in sampling.
//
// Spec: 2026-07-28 client/sampling#sampling-with-tools.
type ToolUseContent struct {
	Type  toolUseType     `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
	Meta  Meta            `json:"_meta,omitzero"`
}

// ToolResultContent answers a ToolUseContent, in sampling.
//
// Spec: 2026-07-28 client/sampling#tool-result-messages.
type ToolResultContent struct {
	Type              toolResultType  `json:"type"`
	ToolUseID         string          `json:"toolUseId"`
	Content           Contents        `json:"content"`
	StructuredContent json.RawMessage `json:"structuredContent,omitzero"`
	IsError           bool            `json:"isError,omitzero"`
	Meta              Meta            `json:"_meta,omitzero"`
}

// UnknownContent is a block of a type this module does not know, kept verbatim.
type UnknownContent struct {
	Type string
	Raw  json.RawMessage
}

func (*TextContent) content()       {}
func (*ImageContent) content()      {}
func (*AudioContent) content()      {}
func (*ResourceLink) content()      {}
func (*EmbeddedResource) content()  {}
func (*ToolUseContent) content()    {}
func (*ToolResultContent) content() {}
func (*UnknownContent) content()    {}

// MarshalJSON returns the block verbatim.
func (c *UnknownContent) MarshalJSON() ([]byte, error) { return c.Raw, nil }

// Contents is a list of content blocks, an array on the wire.
type Contents []Content

// UnmarshalJSON decodes an array of blocks, each by its type.
func (c *Contents) UnmarshalJSON(data []byte) error {
	var raw []json.RawMessage
	if err := wire.Unmarshal(data, &raw); err != nil {
		return err
	}
	list := make(Contents, len(raw))
	for i, r := range raw {
		var err error
		if list[i], err = DecodeContent(r); err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
	}
	*c = list
	return nil
}

// OneOrMany is a list of content blocks that the wire writes as a single
// object when it holds one block, and as an array otherwise. It reads both.
//
// Spec: 2026-07-28 client/sampling#result-fields.
type OneOrMany []Content

// MarshalJSON writes one block as an object.
func (c OneOrMany) MarshalJSON() ([]byte, error) {
	if len(c) == 1 {
		return wire.Marshal(c[0])
	}
	return wire.Marshal(Contents(c))
}

// UnmarshalJSON reads an object or an array.
func (c *OneOrMany) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '[' {
		return (*Contents)(c).UnmarshalJSON(data)
	}
	one, err := DecodeContent(data)
	if err != nil {
		return err
	}
	*c = OneOrMany{one}
	return nil
}

// DecodeContent decodes one block by its type.
func DecodeContent(data []byte) (Content, error) {
	kind, _ := wire.Text(wire.Find(data, "type"))
	if newBlock, ok := blockTypes[kind]; ok {
		block := newBlock()
		return block, wire.Unmarshal(data, block)
	}
	return decodeUnknown(data)
}

func decodeUnknown(data []byte) (Content, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := wire.Unmarshal(data, &head); err != nil {
		return nil, err
	}
	if head.Type == "" {
		return nil, fmt.Errorf("content has no type")
	}
	return &UnknownContent{Type: head.Type, Raw: append(json.RawMessage(nil), data...)}, nil
}

var blockTypes = map[string]func() Content{
	"text":          func() Content { return new(TextContent) },
	"image":         func() Content { return new(ImageContent) },
	"audio":         func() Content { return new(AudioContent) },
	"resource_link": func() Content { return new(ResourceLink) },
	"resource":      func() Content { return new(EmbeddedResource) },
	"tool_use":      func() Content { return new(ToolUseContent) },
	"tool_result":   func() Content { return new(ToolResultContent) },
}

// The discriminators are types without values: a block cannot be built with a
// wrong one, and nothing has to be set.
type (
	textType         struct{}
	imageType        struct{}
	audioType        struct{}
	resourceLinkType struct{}
	embeddedType     struct{}
	toolUseType      struct{}
	toolResultType   struct{}
)

func (textType) MarshalText() ([]byte, error)         { return []byte("text"), nil }
func (imageType) MarshalText() ([]byte, error)        { return []byte("image"), nil }
func (audioType) MarshalText() ([]byte, error)        { return []byte("audio"), nil }
func (resourceLinkType) MarshalText() ([]byte, error) { return []byte("resource_link"), nil }
func (embeddedType) MarshalText() ([]byte, error)     { return []byte("resource"), nil }
func (toolUseType) MarshalText() ([]byte, error)      { return []byte("tool_use"), nil }
func (toolResultType) MarshalText() ([]byte, error)   { return []byte("tool_result"), nil }

func (*textType) UnmarshalText([]byte) error         { return nil }
func (*imageType) UnmarshalText([]byte) error        { return nil }
func (*audioType) UnmarshalText([]byte) error        { return nil }
func (*resourceLinkType) UnmarshalText([]byte) error { return nil }
func (*embeddedType) UnmarshalText([]byte) error     { return nil }
func (*toolUseType) UnmarshalText([]byte) error      { return nil }
func (*toolResultType) UnmarshalText([]byte) error   { return nil }
