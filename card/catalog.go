package card

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/content"
	"github.com/parley-mcp/parley/internal/httpcall"
	"github.com/parley-mcp/parley/internal/wire"
)

// CatalogMediaType is the media type of a catalogue.
const CatalogMediaType = "application/ai-catalog+json"

// CatalogPath is where a host publishes its catalogue.
//
// Spec: extensions/server-card docs/discovery#well-known-uri.
const CatalogPath = "/.well-known/ai-catalog.json"

// catalogVersion is the version of the specification of catalogues that is written here.
// Every minor version of it can be read.
const catalogVersion = "1.0"

var versionForm = regexp.MustCompile(`^(\d{1,9})\.\d{1,9}$`)

// Catalog is an AI Catalog: a list of what a host offers, server cards among it. A catalogue
// that was parsed keeps the members that this type lacks, such as signatures, which are not
// verified here.
type Catalog struct {
	// SpecVersion is the version of the AI Catalog specification, such as "1.0".
	SpecVersion string `json:"specVersion"`
	// Host is who publishes the catalogue.
	Host    *Host   `json:"host,omitzero"`
	Entries []Entry `json:"entries"`
	// Extensions holds what vendors add, under URLs or names in reverse DNS.
	Extensions map[string]json.RawMessage `json:"extensions,omitzero"`

	source []byte
}

// Host is who publishes a catalogue.
type Host struct {
	DisplayName      string `json:"displayName"`
	Identifier       string `json:"identifier,omitzero"`
	DocumentationURL string `json:"documentationUrl,omitzero"`
	LogoURL          string `json:"logoUrl,omitzero"`
}

// Entry is one thing in a catalogue. It has either a URL or Data.
type Entry struct {
	// Identifier names the thing, such as "urn:air:example.com:mcp:weather".
	Identifier string `json:"identifier"`
	// Type is the media type of the thing; that of a server card is MediaType.
	Type string `json:"type"`
	// URL is where the thing is.
	URL string `json:"url,omitzero"`
	// Data is the thing itself.
	Data json.RawMessage `json:"data,omitzero"`
	// DisplayName, Description and Version replace what the thing says of itself. Leave
	// them out otherwise. Version tells several versions of a thing apart.
	DisplayName string   `json:"displayName,omitzero"`
	Description string   `json:"description,omitzero"`
	Version     string   `json:"version,omitzero"`
	Tags        []string `json:"tags,omitzero"`
	// UpdatedAt is an RFC 3339 time.
	UpdatedAt  string                     `json:"updatedAt,omitzero"`
	Extensions map[string]json.RawMessage `json:"extensions,omitzero"`
}

// NewCatalog makes a catalogue that refers to cards at their reserved places. It fails if a
// card has none, or if two have the same name.
//
// Spec: extensions/server-card docs/discovery#server-card-entries.
func NewCatalog(cards ...*Card) (*Catalog, error) {
	c := &Catalog{SpecVersion: catalogVersion, Entries: []Entry{}}
	for _, card := range cards {
		at, err := card.location()
		if err != nil {
			return nil, err
		}
		c.Entries = append(c.Entries, Entry{Identifier: identifier(card.Name), Type: MediaType, URL: at})
	}
	return c, c.Check()
}

// identifier returns the name of a card in catalogues: the domain of its namespace, and its
// name.
func identifier(name string) string {
	namespace, name, _ := strings.Cut(name, "/")
	labels := strings.Split(namespace, ".")
	slices.Reverse(labels)
	return "urn:air:" + strings.Join(labels, ".") + ":mcp:" + name
}

// ParseCatalog reads a catalogue that somebody else has written. It is tolerant: it fails if
// doc is over 1 MiB, no JSON object, of another major version than 1, or has a member of the
// wrong type; LintCatalog says what else is wrong. Members that are unknown are kept.
func ParseCatalog(doc []byte) (*Catalog, error) {
	c := new(Catalog)
	if err := parse(doc, "catalogue", c); err != nil {
		return nil, err
	}
	version := versionForm.FindStringSubmatch(c.SpecVersion)
	switch {
	case version == nil:
		return nil, fmt.Errorf("this is no AI Catalog: its specVersion is %.100q, which is not of the form %q", c.SpecVersion, catalogVersion)
	case version[1] != "1":
		return nil, fmt.Errorf("the AI Catalog is of version %s; version 1 can be read", c.SpecVersion)
	}
	return c, nil
}

// LintCatalog checks a catalogue against its specification. No problem means that the
// catalogue is good. What the entries refer to is not fetched.
func LintCatalog(doc []byte) []Problem {
	c, err := ParseCatalog(doc)
	if err != nil {
		return []Problem{{Text: err.Error()}}
	}
	var problems findings
	if wire.Find(doc, "entries") == nil {
		problems.add("entries", "it is missing; a catalogue of nothing has an empty list")
	}
	problems.catalog(c)
	return problems
}

// Check returns an *InvalidError if the catalogue must not be published.
func (c *Catalog) Check() error {
	doc, err := wire.Marshal(c)
	if err != nil {
		return fmt.Errorf("the catalogue has no JSON form: %w", err)
	}
	return invalid(LintCatalog(doc))
}

func (f *findings) catalog(c *Catalog) {
	if c.Host != nil && c.Host.DisplayName == "" {
		f.add("host.displayName", "it is missing; it is who publishes the catalogue")
	}
	f.extensions("extensions", c.Extensions)
	seen := map[[2]string]bool{}
	place := map[string]int{} // where each identifier was first
	for i := range c.Entries {
		e, at := &c.Entries[i], fmt.Sprintf("entries[%d]", i)
		f.entry(at, e)
		key := [2]string{e.Identifier, e.Version}
		before, again := place[e.Identifier]
		switch {
		case e.Identifier == "": // which was said
		case seen[key]:
			f.add(at+".identifier", "%.200q is there twice; several versions of a thing have a version each", e.Identifier)
		case again && (e.Version == "" || c.Entries[before].Version == ""):
			f.add(at+".version", "this and entries[%d] are both %.200q, and one has no version; several versions of a thing have a version each", before, e.Identifier)
		}
		if seen[key] = true; !again {
			place[e.Identifier] = i
		}
	}
}

func (f *findings) entry(where string, e *Entry) {
	if e.Identifier == "" {
		f.add(where+".identifier", `it is missing; it names the thing, such as "urn:air:example.com:mcp:weather"`)
	}
	if e.Type == "" {
		f.add(where+".type", "it is missing; that of a server card is %q", MediaType)
	}
	switch data := len(e.Data) > 0; {
	case data && e.URL != "":
		f.add(where, "the entry has both url and data; one of them says where the thing is")
	case !data && e.URL == "":
		f.add(where, "the entry has neither url nor data; one of them says where the thing is")
	case data && e.Type == MediaType:
		for _, p := range Lint(e.Data) {
			p.Where = strings.TrimSuffix(where+".data."+p.Where, ".")
			*f = append(*f, p)
		}
	case e.URL != "":
		f.reference(where+".url", e.URL)
	}
	f.extensions(where+".extensions", e.Extensions)
}

func (f *findings) reference(where, text string) {
	u, err := httpcall.ParseURL(text)
	switch {
	case err != nil:
		f.add(where, "%v", err)
	case u.User != nil:
		f.add(where, "the URL holds a user name, which everybody could read")
	case private(u.Hostname()):
		f.advise(where, "%.100q is reached from one machine or network only; a catalogue for the public must not name it", u.Hostname())
	case u.Scheme != "https":
		f.advise(where, "cards are served over https, except for development")
	}
}

func (f *findings) extensions(where string, m map[string]json.RawMessage) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		u, err := url.Parse(key)
		isURL := err == nil && u.Scheme != "" && u.Host != ""
		if !isURL && (!strings.Contains(key, ".") || !content.IsExtension(key+"/")) {
			f.add(where, "the key %.100q is neither a URL nor a name in reverse DNS, such as %q", key, "com.example.region")
		}
	}
}

type plainCatalog Catalog

// MarshalJSON encodes the catalogue, with the unknown members that it was parsed with.
func (c Catalog) MarshalJSON() ([]byte, error) {
	source := c.source
	c.source = nil
	return encode[plainCatalog](source, plainCatalog(c))
}

// UnmarshalJSON decodes a catalogue as it is; ParseCatalog also checks that it is one.
func (c *Catalog) UnmarshalJSON(doc []byte) error {
	p := new(plainCatalog)
	if err := wire.Unmarshal(doc, p); err != nil {
		return err
	}
	*c = Catalog(*p)
	c.source = bytes.Clone(doc)
	return nil
}
