package form

import (
	"bytes"
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Part is a piece of a result in a form that all vendors have: a text, or an image or
// another file, as bytes.
type Part struct {
	Text string
	// Image and File say that Data is one, of the type MIME; Name is what a file is called.
	Image, File bool
	MIME, Name  string
	Data        []byte
}

// Takes are the MIME types of what an API takes in the result of a tool.
type Takes struct{ Images, Files []string }

// Parts returns a result as parts that an API takes. What it does not take is said in
// words, so that the model knows of it. There is at least one part.
func (t *Takes) Parts(r *mcp.CallToolResult) []Part {
	var parts []Part
	for _, c := range r.Content {
		parts = append(parts, t.block(c)...)
	}
	if len(r.StructuredContent) > 0 && !slices.ContainsFunc(parts, func(p Part) bool { return same(p.Text, r.StructuredContent) }) {
		parts = append(parts, text(string(r.StructuredContent)))
	}
	parts = slices.DeleteFunc(parts, func(p Part) bool { return p.IsText() && p.Text == "" }) // APIs refuse empty texts
	if len(parts) == 0 {
		return []Part{text("[there is no content]")}
	}
	return parts
}

// same reports whether a text is the JSON of a value.
func same(text string, value []byte) bool {
	a, err := wire.Canonical([]byte(text))
	if err != nil {
		return false
	}
	b, err := wire.Canonical(value)
	return err == nil && bytes.Equal(a, b)
}

func text(s string) Part { return Part{Text: s} }

func textf(format string, args ...any) Part { return text(fmt.Sprintf(format, args...)) }

func (t *Takes) block(c mcp.Content) []Part {
	switch c := c.(type) {
	case *mcp.TextContent:
		return []Part{text(c.Text)}
	case *mcp.ImageContent:
		return []Part{t.media("an image", "", c.MIMEType, c.Data)}
	case *mcp.AudioContent:
		return []Part{t.media("a sound", "", c.MIMEType, c.Data)}
	case *mcp.ResourceLink:
		return []Part{textf("[a link to a resource: %s]", link(c))}
	case *mcp.EmbeddedResource:
		if c.Resource != nil {
			return t.resource(c.Resource)
		}
	}
	raw, err := wire.Marshal(c)
	if err != nil {
		return []Part{textf("[content that cannot be shown: %v]", err)}
	}
	return []Part{textf("[content of the type %q: %s]", TypeOf(raw), raw)}
}

// resource says where contents come from, and has them.
func (t *Takes) resource(r *mcp.ResourceContents) []Part {
	if r.Text != nil {
		return []Part{textf("[the resource %s]", words(r.URI, r.MIMEType)), text(*r.Text)}
	}
	part := t.media("a file", r.URI, r.MIMEType, r.Blob)
	if part.IsText() {
		return []Part{part}
	}
	return []Part{textf("[the resource %s]", words(r.URI, r.MIMEType)), part}
}

// media is a file, or words about one that the API does not take.
func (t *Takes) media(what, uri, mime string, data []byte) Part {
	kind, _, _ := strings.Cut(mime, ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	switch {
	case slices.Contains(t.Images, kind):
		return Part{Image: true, MIME: kind, Data: data}
	case slices.Contains(t.Files, kind):
		return Part{File: true, MIME: kind, Data: data, Name: fileName(uri)}
	}
	return textf("[%s that cannot be shown here: %s]", what, words(uri, mime, fmt.Sprintf("%d bytes", len(data))))
}

// fileName is the last part of a URI.
func fileName(uri string) string {
	uri, _, _ = strings.Cut(uri, "?")
	name := uri[strings.LastIndexAny(uri, "/:")+1:]
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	return cmp.Or(name, "file")
}

func link(c *mcp.ResourceLink) string {
	size := ""
	if c.Size != nil {
		size = fmt.Sprintf("%d bytes", *c.Size)
	}
	return words(cmp.Or(c.Title, c.Name), c.URI, c.MIMEType, size, c.Description)
}

// words joins what there is.
func words(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), ", ")
}

// failure is what the result of a tool that has failed begins with where its API has no
// other place to say that.
const failure = "Error: "

// Failed returns the parts of a failure, whose first text says that it is one.
func Failed(parts []Part) []Part {
	if first := parts[0]; first.Text != "" {
		return append([]Part{text(failure + first.Text)}, parts[1:]...)
	}
	return append([]Part{text(failure + "see what follows")}, parts...)
}

// IsText reports whether a part is a text.
func (p *Part) IsText() bool { return !p.Image && !p.File }

// Text joins the parts of a result for an API that takes texts alone.
func Text(r *mcp.CallToolResult) string {
	parts := new(Takes).Parts(r)
	if r.IsError {
		parts = Failed(parts)
	}
	var texts []string
	for i := range parts {
		texts = append(texts, parts[i].Text)
	}
	return strings.Join(texts, "\n\n")
}
