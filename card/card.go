package card

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"

	"github.com/parley-mcp/parley/internal/httpcall"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// MediaType is the media type of a card.
const MediaType = "application/mcp-server-card+json"

// SchemaURL names the schema that cards conform to. A breaking change of what a card
// looks like would get another one.
const SchemaURL = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"

// maxDocument bounds a card and a catalogue, in bytes. Both may hold icons as data.
const maxDocument = 1 << 20

// Card describes a server that is reached at a URL. Everything in it is public.
//
// A card that was parsed keeps the members that this type lacks, at any depth, and
// has them when it is encoded again. A Card is not safe for concurrent use while it
// is changed.
//
// Spec: extensions/server-card docs/discovery#mcp-server-cards.
type Card struct {
	// Schema is SchemaURL.
	Schema string `json:"$schema"`
	// Name is a namespace in reverse DNS, a slash and a name, such as
	// "com.example/weather"; from 3 to 200 characters.
	Name string `json:"name"`
	// Version is that of the server, best a semantic version, never a range.
	Version string `json:"version"`
	// Description says what the server is for, in 1 to 100 characters.
	Description string `json:"description"`
	// Title is what people are shown instead of Name; at most 100 characters.
	Title string `json:"title,omitzero"`
	// WebsiteURL is where people read more.
	WebsiteURL string `json:"websiteUrl,omitzero"`
	// Repository is where the source of the server is.
	Repository *Repository `json:"repository,omitzero"`
	Icons      []mcp.Icon  `json:"icons,omitzero"`
	// Remotes are the endpoints of the server.
	Remotes []Remote `json:"remotes,omitzero"`
	// Meta holds what vendors add, under keys such as "com.example/tier".
	Meta mcp.Meta `json:"_meta,omitzero"`

	// source is the text that the card was parsed from, or nil.
	source []byte
}

// Repository is where the source of a server is.
type Repository struct {
	// URL is for browsers and for git clone.
	URL string `json:"url"`
	// Source names the service that hosts it, such as "github".
	Source string `json:"source"`
	// Subfolder is the folder of the server in the repository, as a clean relative
	// path.
	Subfolder string `json:"subfolder,omitzero"`
	// ID is what the service calls the repository, whatever its name is.
	ID string `json:"id,omitzero"`
}

// Parse reads a card that somebody else has written. It is tolerant: it fails if doc
// is over 1 MiB, no JSON object, of another schema than SchemaURL, without a name of
// the right form, or has a member of the wrong type; Lint says what else is wrong.
// Members that are unknown are kept.
func Parse(doc []byte) (*Card, error) {
	c := new(Card)
	if err := parse(doc, "card", c); err != nil {
		return nil, err
	}
	switch {
	case c.Schema == "":
		return nil, fmt.Errorf("this is no server card: it has no $schema; a card's is %q", SchemaURL)
	case c.Schema != SchemaURL:
		return nil, fmt.Errorf("this is no server card of a kind that is known here: its $schema is %.200q instead of %q", c.Schema, SchemaURL)
	case !nameForm.MatchString(c.Name):
		return nil, fmt.Errorf("the name of the server card, %.200q, is not of the form %q", c.Name, "com.example/weather")
	}
	return c, nil
}

// parse decodes a document within bounds.
func parse(doc []byte, what string, into any) error {
	if len(doc) > maxDocument {
		return fmt.Errorf("the %s is over %d bytes", what, maxDocument)
	}
	if trimmed := bytes.TrimLeft(doc, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return fmt.Errorf("this is no %s: it is no JSON object", what)
	}
	if err := checkDepth(doc); err != nil {
		return fmt.Errorf("the %s %w", what, err)
	}
	if err := wire.Unmarshal(doc, into); err != nil {
		return fmt.Errorf("the %s cannot be read: %w", what, err)
	}
	return nil
}

// plain is a Card without its methods.
type plain Card

// MarshalJSON encodes the card, with the unknown members that it was parsed with.
func (c Card) MarshalJSON() ([]byte, error) {
	source := c.source
	c.source = nil
	return encode[plain](source, plain(c))
}

// UnmarshalJSON decodes a card as it is; Parse also checks that it is one.
func (c *Card) UnmarshalJSON(doc []byte) error {
	p := new(plain)
	if err := wire.Unmarshal(doc, p); err != nil {
		return err
	}
	*c = Card(*p)
	c.source = bytes.Clone(doc)
	return nil
}

// encode returns the JSON of a value. If it was parsed from source, what source has and T
// lacks is kept.
func encode[T any](source []byte, v T) ([]byte, error) {
	after, err := wire.Marshal(v)
	if err != nil || source == nil {
		return after, err
	}
	original := new(T)
	if err := wire.Unmarshal(source, original); err != nil {
		return nil, err
	}
	before, err := wire.Marshal(original)
	if err != nil {
		return nil, err
	}
	return wire.Merge(source, before, after)
}

// Location returns where the card of a server belongs whose Streamable HTTP endpoint
// is at a URL: beside it, at the place that the specification reserves.
//
// Spec: extensions/server-card docs/discovery#hosted-server-card-location.
func Location(endpoint string) (string, error) {
	u, err := httpcall.ParseURL(endpoint)
	if err != nil {
		return "", err
	}
	beside := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return strings.TrimRight(beside.String(), "/") + "/server-card", nil
}

// location returns the reserved place of a card: beside the first endpoint that has a
// fixed URL.
func (c *Card) location() (string, error) {
	for i := range c.Remotes {
		if r := &c.Remotes[i]; r.Type == StreamableHTTP && !strings.Contains(r.URL, "{") {
			return Location(r.URL)
		}
	}
	return "", fmt.Errorf("the card %q names no endpoint of type %q with a fixed URL, so it has no reserved place; set Options.URL, or serve Card.Handler at a path of your own", c.Name, StreamableHTTP)
}
