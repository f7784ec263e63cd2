package anthropic

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"

	"github.com/parley-mcp/parley/client/host"
	"github.com/parley-mcp/parley/client/host/internal/form"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// takes is what the API takes in the result of a tool.
var takes = form.Takes{Images: []string{"image/jpeg", "image/png", "image/gif", "image/webp"}, Files: []string{"application/pdf"}}

// Results returns the message that answers the calls of a model's message. It has to have
// an answer for each of them, and to follow that message.
func Results(answers []host.Answer) Message {
	m := Message{Role: "user", Content: make(Content, 0, len(answers))}
	for i := range answers {
		m.Content = append(m.Content, Result(answers[i].ID, answers[i].Result))
	}
	return m
}

// Result returns the block with the result of a call.
func Result(id string, r *mcp.CallToolResult) Block {
	parts := takes.Parts(r)
	b := Block{Type: typeToolResult, ToolUseID: id, IsError: r.IsError}
	if b.IsError && slices.ContainsFunc(parts, func(p form.Part) bool { return !p.IsText() }) {
		b.IsError, parts = false, form.Failed(parts) // the API refuses is_error with anything but texts
	}
	for _, p := range parts {
		b.Content = append(b.Content, block(p))
	}
	return b
}

func block(p form.Part) Block {
	source := &Source{Type: "base64", MediaType: p.MIME, Data: base64.StdEncoding.EncodeToString(p.Data)}
	switch {
	case p.Image:
		return Block{Type: typeImage, Source: source}
	case p.File:
		return Block{Type: typeDocument, Source: source, Title: p.Name}
	}
	return Block{Type: typeText, Text: p.Text}
}

// MCP returns a "tool_result" as a server would return it.
func (b Block) MCP() (*mcp.CallToolResult, error) {
	if b.Type != typeToolResult {
		return nil, fmt.Errorf("a block of the type %q is no result of a tool", b.Type)
	}
	r := &mcp.CallToolResult{Content: make(mcp.Contents, 0, len(b.Content)), IsError: b.IsError}
	for i := range b.Content {
		c, err := content(&b.Content[i])
		if err != nil {
			return nil, fmt.Errorf("block %d: %w", i, err)
		}
		r.Content = append(r.Content, c)
	}
	return r, nil
}

func content(b *Block) (mcp.Content, error) {
	switch {
	case b.Type == typeText:
		return mcp.Text(b.Text), nil
	case b.Source == nil:
	case b.Source.URL != "":
		return &mcp.ResourceLink{URI: b.Source.URL, Name: cmp.Or(b.Title, b.Type), MIMEType: b.Source.MediaType}, nil
	case b.Source.Type == "text":
		return &mcp.EmbeddedResource{Resource: mcp.TextResource(uri(b), b.Source.MediaType, b.Source.Data)}, nil
	case b.Source.Type == "base64":
		data, err := base64.StdEncoding.DecodeString(b.Source.Data)
		if err != nil {
			return nil, fmt.Errorf("its data is not base64: %w", err)
		}
		if b.Type == typeImage {
			return &mcp.ImageContent{Data: data, MIMEType: b.Source.MediaType}, nil
		}
		return &mcp.EmbeddedResource{Resource: mcp.BlobResource(uri(b), b.Source.MediaType, data)}, nil
	}
	raw, err := wire.Marshal(b)
	return mcp.Text(string(raw)), err
}

// uri names a document, which has no address.
func uri(b *Block) string {
	if b.Title == "" {
		return "document:"
	}
	return "document:" + url.PathEscape(b.Title)
}
