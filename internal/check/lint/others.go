package lint

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/yosida95/uritemplate/v3"

	"github.com/parley-mcp/parley/internal/content"
	"github.com/parley-mcp/parley/internal/schema"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// secretForm finds names of parameters that take secrets.
var secretForm = regexp.MustCompile(`(?:^|_)(?:password|passwd|pwd|passphrase|secret|secrets|api_?key|access_token|auth_token|bearer_token|refresh_token|session_token|private_key|secret_key|credential|credentials|ssh_key)$|^(?:token|authorization|bearer)$`)

func isSecret(name string) bool { return secretForm.MatchString(strings.Join(words(name), "_")) }

// secretParameters looks for parameters that take secrets, and for where parameters
// are mirrored.
//
// Spec: 2026-07-28 server/tools#x-mcp-header.
func (c *checker) secretParameters(it *item) {
	input := it.member("inputSchema")
	s, ok := it.v["inputSchema"].(map[string]any)
	if !ok {
		return
	}
	at := pointer(it.Pointer, "inputSchema")
	bindings, err := schema.Headers(input)
	if err != nil {
		c.add(it, "headers/invalid", at, "%s", quoteless(err.Error()))
	}
	for _, b := range bindings {
		if last := b.Path[len(b.Path)-1]; isSecret(last) || isSecret(b.Name) {
			c.add(it, "secrets/header", headerPointer(at, b.Path), "the secret %s is mirrored into the header Mcp-Param-%s", quoted(last), quoteless(b.Name))
		}
	}
	var t tally
	var visit func(n node)
	visit = func(n node) {
		properties, _ := n.schema["properties"].(map[string]any)
		for _, child := range n.children() {
			if name, found := strings.CutPrefix(child.at, n.at+"/properties/"); found && isSecret(name) && properties[name] != nil {
				t.add("secrets/parameter", child.at, "the parameter "+quoted(name)+" takes a secret")
			}
			if child.depth < maxDepth {
				visit(child)
			}
		}
	}
	visit(node{s, at, 1, 1})
	t.report(c, it)
}

func headerPointer(at string, path []string) string {
	for _, name := range path {
		at = pointer(at, "properties", name)
	}
	return at
}

// prompt looks at the arguments of a prompt.
//
// Spec: 2026-07-28 server/prompts#prompt.
func (c *checker) prompt(it *item) {
	arguments, ok := it.v["arguments"].([]any)
	if v, there := it.v["arguments"]; there && !ok && v != nil {
		c.add(it, "prompts/arguments", pointer(it.Pointer, "arguments"), "the arguments are no list")
	}
	names := map[string]bool{}
	for i, v := range arguments {
		a, _ := v.(map[string]any)
		name, _ := a["name"].(string)
		at := pointer(it.Pointer, "arguments", strconv.Itoa(i))
		switch {
		case name == "":
			c.add(it, "prompts/arguments", at, "an argument has no name")
		case names[name]:
			c.add(it, "prompts/arguments", at, "there are two arguments %s", quoted(name))
		}
		names[name] = true
		if text, _ := a["description"].(string); strings.TrimSpace(text) == "" {
			c.once(it, "prompts/described", at, "the argument %s has no description", quoted(name))
		}
	}
}

// resource looks at a resource.
//
// Spec: 2026-07-28 server/resources#resource.
func (c *checker) resource(it *item) {
	at := pointer(it.Pointer, "uri")
	uri := it.text("uri")
	if err := content.URI(uri); err != nil {
		c.add(it, "resources/uri", at, "%s", quoteless(err.Error()))
	}
	c.uriOnce(it, at, uri)
	if it.text("mimeType") == "" {
		c.add(it, "resources/untyped", it.Pointer, "the resource has no mimeType")
	}
	c.mediaType(it)
}

func (c *checker) mediaType(it *item) {
	if text := it.text("mimeType"); text != "" && content.MIMEType(text) != nil {
		c.add(it, "resources/type", pointer(it.Pointer, "mimeType"), "%s is no media type", quoted(text))
	}
}

// uriOnce looks for two definitions with one URI.
func (c *checker) uriOnce(it *item, at, uri string) {
	if it.server.uris == nil {
		it.server.uris = map[string]*item{}
	}
	key := string(it.Kind) + " " + uri
	if other := it.server.uris[key]; other != nil && uri != "" {
		c.add(it, "resources/duplicate", at, "%s has the URI %s too", other.Pointer, quoted(uri))
		return
	}
	it.server.uris[key] = it
}

// maxTemplate bounds a template that is compiled, in bytes.
const maxTemplate = 8 << 10

var expression = regexp.MustCompile(`\{[^{}]*\}`)

// template looks at a URI template.
//
// Spec: 2026-07-28 server/resources#resource-templates.
func (c *checker) template(it *item) {
	at, text := pointer(it.Pointer, "uriTemplate"), it.text("uriTemplate")
	c.uriOnce(it, at, text)
	c.mediaType(it)
	if len(text) > maxTemplate {
		c.add(it, "templates/invalid", at, "the template has %d bytes", len(text))
		return
	}
	if _, err := uritemplate.New(text); err != nil {
		c.add(it, "templates/invalid", at, "%s is no URI template: %s", quoted(text), quoteless(err.Error()))
		return
	}
	if err := content.URI(content.Encode(expression.ReplaceAllString(text, "x"))); err != nil {
		c.add(it, "templates/invalid", at, "%s makes no URI: %s", quoted(text), quoteless(err.Error()))
	} else if !expression.MatchString(text) {
		c.add(it, "templates/constant", at, "%s has no variable", quoted(text))
	}
}

// icons looks at the icons of a definition.
//
// Spec: 2026-07-28 basic#icons.
func (c *checker) icons(it *item) {
	raw := it.member("icons")
	if raw == nil {
		return
	}
	at := pointer(it.Pointer, "icons")
	var list []json.RawMessage
	if err := wire.Unmarshal(raw, &list); err != nil {
		c.add(it, "icons/invalid", at, "the icons are no list")
		return
	}
	for i, one := range list {
		var icon mcp.Icon
		where := pointer(at, strconv.Itoa(i))
		if err := wire.Unmarshal(one, &icon); err != nil {
			c.once(it, "icons/invalid", where, "the icon can't be read: %s", quoteless(err.Error()))
		} else if err := content.Icons([]mcp.Icon{icon}); err != nil {
			c.once(it, "icons/invalid", where, "%s", quoteless(strings.TrimPrefix(err.Error(), "icons[0]: ")))
		} else if !content.SafeIcon(icon.Src) {
			c.once(it, "icons/unsafe", where, "clients are to reject %s", quoted(icon.Src))
		}
	}
}
