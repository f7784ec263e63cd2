package lint

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/card"
	"github.com/parley-mcp/parley/internal/wire"
)

// card looks at a server card, by the rules of package card.
func (c *checker) card(s *server) {
	it := &item{Item: Item{Kind: Card, Raw: s.Card}, server: s, index: -1, name: nameIn(s.Card)}
	for _, p := range card.Lint(s.Card) {
		rule := "card/invalid"
		if p.Advice {
			rule = "card/advice"
		}
		c.add(it, rule, pointerOf(p.Where), "%s", quoteless(p.Text))
	}
	if wire.Unmarshal(s.Card, &it.v) == nil {
		c.texts(it)
	}
}

// pointerOf turns a place such as "remotes[0].url" into a JSON pointer.
func pointerOf(where string) string {
	if where == "" {
		return ""
	}
	return "/" + strings.NewReplacer(".", "/", "[", "/", "]", "").Replace(where)
}

// manifestForm is a server.json as far as a server card has no rules for it.
type manifestForm struct {
	Schema   string                     `json:"$schema"`
	Packages []packageForm              `json:"packages"`
	Meta     map[string]json.RawMessage `json:"_meta"`
}

type packageForm struct {
	RegistryType    string          `json:"registryType"`
	RegistryBaseURL string          `json:"registryBaseUrl"`
	Identifier      string          `json:"identifier"`
	Version         *string         `json:"version"`
	FileSHA256      string          `json:"fileSha256"`
	RuntimeHint     string          `json:"runtimeHint"`
	Transport       *transportForm  `json:"transport"`
	Runtime         []argumentForm  `json:"runtimeArguments"`
	Arguments       []argumentForm  `json:"packageArguments"`
	Variables       []variableInput `json:"environmentVariables"`
}

type transportForm struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

type argumentForm struct {
	Type      string `json:"type"`
	Name      string `json:"name"`
	Value     string `json:"value"`
	ValueHint string `json:"valueHint"`
}

type variableInput struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Default string `json:"default"`
	Secret  bool   `json:"isSecret"`
}

// manifest looks at a server.json. What it shares with a server card is judged as one.
func (c *checker) manifest(s *server) {
	it := &item{Item: Item{Kind: Manifest, Raw: s.Manifest}, server: s, index: -1, name: nameIn(s.Manifest)}
	var m manifestForm
	if err := wire.Unmarshal(s.Manifest, &it.v); err != nil || it.v == nil {
		c.add(it, "manifest/invalid", "", "the file can't be read as a JSON object")
		return
	}
	if err := wire.Unmarshal(s.Manifest, &m); err != nil {
		c.add(it, "manifest/invalid", "", "the file can't be read: %s", quoteless(err.Error()))
		return
	}
	c.likeCard(it, len(m.Packages) > 0)
	if !strings.HasPrefix(m.Schema, "https://static.modelcontextprotocol.io/schemas/") || !strings.HasSuffix(m.Schema, "/server.schema.json") {
		c.add(it, "manifest/registry", "/$schema", "the $schema is %s instead of %s", quoted(m.Schema), quoted("https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"))
	}
	for i := range m.Packages {
		c.packaged(it, fmt.Sprintf("/packages/%d", i), &m.Packages[i])
	}
	const kept = "io.modelcontextprotocol.registry/publisher-provided"
	for _, key := range slices.Sorted(maps.Keys(m.Meta)) {
		if v := m.Meta[key]; key != kept {
			c.once(it, "manifest/registry", pointer("/_meta", key), "the registry drops all keys of _meta but %s", kept)
		} else if len(v) > 4096 {
			c.once(it, "manifest/registry", pointer("/_meta", key), "it has %d bytes; the registry takes 4096", len(v))
		}
	}
	c.texts(it)
}

// likeCard judges the members that a server card has too.
func (c *checker) likeCard(it *item, packaged bool) {
	doc, err := wire.Set(wire.Except(it.Raw, "packages", "_meta"), "$schema", []byte(`"`+card.SchemaURL+`"`))
	if err != nil {
		return // it was read as an object
	}
	words := strings.NewReplacer("the server card", "the file", "a server card", "a server.json", "the card", "the file", "a card for the public", "a server.json for the public", "a card", "a server.json")
	for _, p := range card.Lint(doc) {
		rule := "manifest/invalid"
		if p.Advice {
			rule = "manifest/advice"
		}
		if p.Where == "remotes" && p.Advice && packaged {
			continue // it is started, not reached
		}
		c.add(it, rule, pointerOf(p.Where), "%s", quoteless(words.Replace(p.Text)))
	}
}

var (
	rangeForm = regexp.MustCompile(`^[\^~<>=]|\|\||\s-\s|(?:^|\.)[xX*](?:\.|$)`)
	hashForm  = regexp.MustCompile(`^[a-f0-9]{64}$`)
)

// registries are those that the official registry takes packages from.
var registries = map[string][]string{
	"npm": {"https://registry.npmjs.org"}, "pypi": {"https://pypi.org"}, "nuget": {"https://api.nuget.org/v3/index.json", "https://api.nuget.org"}, "oci": nil, "mcpb": nil, "cargo": {"https://crates.io"},
}

// packaged looks at a package.
func (c *checker) packaged(it *item, at string, p *packageForm) {
	bad := func(member, format string, args ...any) {
		c.add(it, "manifest/invalid", at+member, format, args...)
	}
	if p.RegistryType == "" {
		bad("/registryType", "the package has no registryType, such as \"npm\"")
	} else if bases, known := registries[p.RegistryType]; !known {
		c.add(it, "manifest/registry", at+"/registryType", "%s is no kind of package that the registry knows", quoted(p.RegistryType))
	} else if p.RegistryBaseURL != "" && bases != nil && !slices.Contains(bases, strings.TrimRight(p.RegistryBaseURL, "/")) {
		c.add(it, "manifest/registry", at+"/registryBaseUrl", "the registry takes packages from %s only", bases[0])
	}
	if p.Identifier == "" {
		bad("/identifier", "the package has no identifier")
	}
	switch {
	case p.Version == nil:
	case *p.Version == "" || *p.Version == "latest":
		bad("/version", "the version is %s; name one", quoted(*p.Version))
	case rangeForm.MatchString(*p.Version):
		bad("/version", "%s is a range; name one version", quoted(*p.Version))
	}
	if p.FileSHA256 != "" && !hashForm.MatchString(p.FileSHA256) {
		bad("/fileSha256", "it is no SHA-256 in 64 lower-case hexadecimal digits")
	} else if p.RegistryType == "mcpb" && p.FileSHA256 == "" {
		bad("/fileSha256", "a package of the type mcpb has the SHA-256 of its file")
	}
	c.started(it, at, p)
}

// started looks at how a package is run.
func (c *checker) started(it *item, at string, p *packageForm) {
	switch t := p.Transport; {
	case t == nil || t.Type == "":
		c.add(it, "manifest/invalid", at+"/transport", "the package has no transport with a type")
	case !slices.Contains([]string{"stdio", "streamable-http", "sse"}, t.Type):
		c.add(it, "manifest/invalid", at+"/transport/type", "%s is no transport", quoted(t.Type))
	case t.Type != "stdio" && t.URL == "":
		c.add(it, "manifest/invalid", at+"/transport/url", "the transport has no URL")
	}
	if len(p.Runtime) > 0 && p.RuntimeHint == "" {
		c.add(it, "manifest/advice", at+"/runtimeHint", "there are runtimeArguments, and nobody knows for which program")
	}
	for i, a := range slices.Concat(p.Runtime, p.Arguments) {
		switch {
		case a.Type != "named" && a.Type != "positional":
			c.once(it, "manifest/invalid", at, "argument %d is neither of the type \"named\" nor \"positional\"", i+1)
		case a.Type == "named" && a.Name == "":
			c.once(it, "manifest/invalid", at, "argument %d has no name", i+1)
		case a.Type == "positional" && a.Value == "" && a.ValueHint == "":
			c.once(it, "manifest/invalid", at, "argument %d has neither value nor valueHint", i+1)
		}
	}
	for i, v := range p.Variables {
		where := fmt.Sprintf("%s/environmentVariables/%d", at, i)
		if v.Name == "" {
			c.add(it, "manifest/invalid", where, "the variable has no name")
		}
		fixed := v.Value != "" && !strings.Contains(v.Value, "{") || v.Default != ""
		if fixed && (v.Secret || isSecret(v.Name)) {
			c.add(it, "manifest/invalid", where, "the variable %s is a secret, and everybody can read its value here", quoted(v.Name))
		}
	}
}
