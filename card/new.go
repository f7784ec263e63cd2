package card

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-mcp/parley/internal/content"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/mcp"
)

// Options say what a card has beyond what the server says of itself. Name, and one of URL
// and Remotes, are what most cards need.
type Options struct {
	// Name is the name in the card, such as "com.example/weather": a namespace in
	// reverse DNS that is yours, a slash, and best the name that the server has in the
	// protocol. "" means the server's own name, which then must be of this form.
	Name string
	// URL is the Streamable HTTP endpoint, as clients reach it.
	URL string
	// Remotes are further endpoints. Their revisions are filled in where they are nil.
	Remotes []Remote
	// Headers are those that the endpoint at URL needs or understands.
	Headers []Header
	// Description replaces the server's, which may be longer than the 100 characters
	// that a card has for it.
	Description string
	Repository  *Repository
	// Meta holds what else clients may want to know, under keys such as
	// "com.example/tier".
	Meta mcp.Meta
}

// New makes the card of a server: name, title, version, description, website and icons are
// what it says of itself to everybody, and its revisions are those that it speaks. Tools,
// resources, prompts and instructions are not part of a card. It fails with an
// *InvalidError, which says what to change, if the card must not be published.
//
// The card is public even if the server demands a login, so look at what it says. It can be
// changed; Handler and Mount check it once more.
//
// Spec: extensions/server-card docs/discovery#consistency-with-runtime-behavior.
func New(h mcp.Handler, o *Options) (*Card, error) {
	if h == nil {
		return nil, errors.New("card.New needs a server")
	}
	if o == nil {
		o = &Options{}
	}
	d := h.Describe(context.Background(), nil)
	c := &Card{
		Schema: SchemaURL, Name: first(o.Name, d.Info.Name), Version: d.Info.Version, Description: first(o.Description, d.Info.Description),
		Title: d.Info.Title, WebsiteURL: d.Info.WebsiteURL, Repository: o.Repository, Icons: slices.Clone(d.Info.Icons), Meta: o.Meta,
	}
	if o.URL != "" {
		c.Remotes = append(c.Remotes, Remote{Type: StreamableHTTP, URL: o.URL, Headers: o.Headers})
	}
	c.Remotes = append(c.Remotes, o.Remotes...)
	for i := range c.Remotes {
		if r := &c.Remotes[i]; r.SupportedProtocolVersions == nil {
			r.SupportedProtocolVersions = spoken(r.Type, d.Revisions)
		}
	}
	switch {
	case o.URL == "" && len(o.Headers) > 0:
		return nil, errors.New("card.Options.Headers are those of the endpoint at Options.URL, which is missing; give each of Remotes its own")
	case c.Description == "":
		return nil, &InvalidError{Problems: []Problem{{Where: "description", Text: "the server has none; set Options.Description, in at most 100 characters"}}}
	}
	err := content.Rules{}.Meta(o.Meta)
	if err == nil {
		err = c.Check()
	}
	if err != nil {
		return nil, fmt.Errorf("the server card of %.100q cannot be published; card.Options replaces what the server says of itself: %w", c.Name, err)
	}
	return c, nil
}

// spoken returns the names of the revisions that an endpoint speaks, newest first.
func spoken(kind string, allowed []mcp.Revision) []string {
	speaks := revision.Newest(allowed)
	if kind == SSE {
		speaks = revision.Session(allowed)
	}
	names := make([]string, 0, len(speaks))
	for _, r := range speaks {
		names = append(names, r.String())
	}
	return names
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
