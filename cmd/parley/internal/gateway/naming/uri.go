package naming

import "strings"

// kept are the schemes that say what a resource is for, so that clients look at them:
// those of user interfaces and of skills.
//
// Spec: extensions/apps 2026-01-26 specification#resource-discovery.
// Spec: ext-skills/stable skills#resource-uris.
var kept = []string{"ui://", "skill://"}

// other begins all other URIs: what follows the backend's name is the URI as it is there.
const other = "mcp:"

// showURI makes the URI of a resource, or a template: what is added has nothing that
// a template could take for an expression.
func (b *Backend) showURI(own string) string {
	for _, scheme := range kept {
		if rest, ok := strings.CutPrefix(own, scheme); ok {
			return scheme + b.name + "/" + rest
		}
	}
	return other + b.name + ":" + own
}

// ownURI finds a resource or a template. A template whose scheme is an expression can
// come to be one of the schemes that are kept, behind the name of the other: that is as
// good as the URI in its own form.
func (n *Names) ownURI(shown string) (*Backend, string) {
	scheme, end := other, ":"
	for _, s := range kept {
		if strings.HasPrefix(shown, s) {
			scheme, end = s, "/"
		}
	}
	rest, ok := strings.CutPrefix(shown, scheme)
	if !ok {
		return nil, ""
	}
	name, own, ok := strings.Cut(rest, end)
	b := n.backends[name]
	if !ok || b == nil {
		return nil, ""
	}
	if scheme == other {
		return b, own
	}
	return b, scheme + own
}
