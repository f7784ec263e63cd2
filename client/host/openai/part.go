package openai

import (
	"encoding/base64"
	"fmt"
	"mime"
	"net/url"
	"strings"

	"github.com/parley-mcp/parley/client/host/internal/form"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Content is a list of parts. One part that is a text encodes as a string, and Content
// decodes from a string as well.
type Content []Part

// Part is a part of the content of a message, or of the output of a function. Of parts of
// other types than those of text, "input_image" and "input_file" only Type is set; they
// encode as they were decoded.
type Part struct {
	// Type is "text", or in the Responses API "input_text", "output_text", "input_image" or
	// "input_file".
	Type string `json:"type"`

	// Text is that of a text.
	Text string `json:"text,omitzero"`
	// ImageURL is that of an image: a data URL has the image itself.
	ImageURL string `json:"image_url,omitzero"`
	// FileName, FileData and FileURL are those of a file: FileData is a data URL.
	FileName string `json:"filename,omitzero"`
	FileData string `json:"file_data,omitzero"`
	FileURL  string `json:"file_url,omitzero"`

	kept form.Kept
}

// The types of parts that this package knows.
const (
	typeText       = "text"
	typeInputText  = "input_text"
	typeOutputText = "output_text"
	typeInputImage = "input_image"
	typeInputFile  = "input_file"
)

// text joins the texts of content.
func (c Content) text() string {
	var b strings.Builder
	for i := range c {
		b.WriteString(c[i].Text)
	}
	return b.String()
}

// UnmarshalJSON decodes a string, an array of parts, or null.
func (c *Content) UnmarshalJSON(data []byte) error {
	if text, ok := form.IsText(data); ok {
		*c = Content{{Type: typeText, Text: text}}
		return nil
	}
	var list []Part
	err := wire.Unmarshal(data, &list)
	*c = list
	return err
}

// MarshalJSON encodes a text as a string, and nil as null.
func (c Content) MarshalJSON() ([]byte, error) {
	switch {
	case c == nil:
		return []byte("null"), nil
	case len(c) == 1 && c[0].Type == typeText:
		return wire.Marshal(c[0].Text)
	}
	return wire.Marshal([]Part(c))
}

// UnmarshalJSON decodes a part, and keeps what this type does not have.
func (p *Part) UnmarshalJSON(data []byte) (err error) {
	type plain Part
	*p = Part{}
	switch form.TypeOf(data) {
	case typeText, typeInputText, typeOutputText, typeInputImage, typeInputFile:
		p.kept, err = form.Decode(data, (*plain)(p))
	default:
		var other struct {
			Type string `json:"type"`
		}
		p.kept, err = form.Decode(data, &other)
		p.Type = other.Type
	}
	return err
}

// MarshalJSON encodes a part, with what was kept.
func (p Part) MarshalJSON() ([]byte, error) {
	type plain Part
	return p.kept.Encode(plain(p))
}

// part is a part of the output of a function.
func part(p form.Part) Part {
	at := "data:" + p.MIME + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
	switch {
	case p.Image:
		return Part{Type: typeInputImage, ImageURL: at}
	case p.File:
		return Part{Type: typeInputFile, FileName: p.Name, FileData: at}
	}
	return Part{Type: typeInputText, Text: p.Text}
}

// block returns a part as a server would have it in a result.
func block(p *Part) (mcp.Content, error) {
	switch p.Type {
	case typeText, typeInputText, typeOutputText:
		return mcp.Text(p.Text), nil
	}
	switch {
	case strings.HasPrefix(p.ImageURL, "data:"):
		kind, data, err := dataURL(p.ImageURL)
		return &mcp.ImageContent{Data: data, MIMEType: kind}, err
	case p.ImageURL != "":
		return &mcp.ResourceLink{URI: p.ImageURL, Name: "image"}, nil
	case p.FileData != "":
		kind, data, err := dataURL(p.FileData)
		return &mcp.EmbeddedResource{Resource: mcp.BlobResource("file:"+url.PathEscape(p.FileName), kind, data)}, err
	case p.FileURL != "":
		return &mcp.ResourceLink{URI: p.FileURL, Name: "file"}, nil
	}
	raw, err := wire.Marshal(p)
	return mcp.Text(string(raw)), err
}

// dataURL returns what a data URL has. Bare base64 is taken, too.
func dataURL(text string) (kind string, data []byte, err error) {
	kind = "application/octet-stream"
	if rest, ok := strings.CutPrefix(text, "data:"); ok {
		head, body, ok := strings.Cut(rest, ",")
		head, isBase64 := strings.CutSuffix(head, ";base64")
		if !ok || !isBase64 {
			return "", nil, fmt.Errorf("%.60q is no data URL in base64", text)
		}
		if parsed, _, err := mime.ParseMediaType(head); err == nil {
			kind = parsed
		}
		text = body
	}
	if data, err = base64.StdEncoding.DecodeString(text); err != nil {
		return "", nil, fmt.Errorf("its data is not base64: %w", err)
	}
	return kind, data, nil
}
