package naming

import (
	"slices"

	"github.com/parley-mcp/parley/mcp"
)

// Selection says which features there are, by patterns: * stands for any characters, also
// none, and ? for one.
type Selection struct {
	// Include are the patterns of those that there are; nil is all.
	Include []string
	// Exclude are the patterns of those that there are not. They win.
	Exclude []string
}

// Has reports whether there is a feature of this name.
func (s Selection) Has(name string) bool {
	fits := func(pattern string) bool { return match(pattern, name) }
	return (s.Include == nil || slices.ContainsFunc(s.Include, fits)) && !slices.ContainsFunc(s.Exclude, fits)
}

// Has reports whether there is a feature of the backend for clients. Tasks always are:
// they come of calls.
func (b *Backend) Has(kind mcp.FeatureKind, own string) bool {
	switch kind {
	case mcp.ToolFeature:
		return b.rules.Tools.Has(own)
	case mcp.PromptFeature:
		return b.rules.Prompts.Has(own)
	case mcp.ResourceFeature, mcp.TemplateFeature:
		return b.rules.Resources.Has(own)
	case mcp.TaskFeature:
	}
	return true
}

// match goes back to the last star only, so its time is bounded by the product of the
// two lengths.
func match(pattern, name string) bool {
	p, text := []rune(pattern), []rune(name)
	at, star, from := 0, -1, 0
	for i := 0; i < len(text); {
		switch {
		case at < len(p) && p[at] == '*':
			star, from = at, i
			at++
		case at < len(p) && (p[at] == '?' || p[at] == text[i]):
			at++
			i++
		case star >= 0:
			from++
			at, i = star+1, from
		default:
			return false
		}
	}
	for at < len(p) && p[at] == '*' {
		at++
	}
	return at == len(p)
}
