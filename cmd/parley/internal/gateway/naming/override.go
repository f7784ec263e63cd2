package naming

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Override is what the configuration makes a feature say of itself. Other members stay as
// the backend sent them.
type Override struct {
	// Title and Description replace the feature's; nil leaves them.
	Title, Description *string
	// Annotations are the members of the feature's annotations to be replaced or added:
	// nil, or a JSON object. Prompts have none.
	Annotations json.RawMessage
}

// override returns what the configuration makes a feature say of itself.
func (b *Backend) override(kind mcp.FeatureKind, own string) Override {
	switch kind {
	case mcp.ToolFeature:
		return b.rules.OverrideTools[own]
	case mcp.PromptFeature:
		return b.rules.OverridePrompts[own]
	case mcp.ResourceFeature, mcp.TemplateFeature:
		return b.rules.OverrideResources[own]
	case mcp.TaskFeature:
	}
	return Override{}
}

// Mentioned returns the names of the backend's tools, or of its prompts, that rules say
// something of.
func (b *Backend) Mentioned(kind mcp.FeatureKind) (owns []string) {
	renamed, overridden := b.rules.RenameTools, b.rules.OverrideTools
	switch kind {
	case mcp.ToolFeature:
	case mcp.PromptFeature:
		renamed, overridden = b.rules.RenamePrompts, b.rules.OverridePrompts
	case mcp.ResourceFeature, mcp.TemplateFeature, mcp.TaskFeature:
		return nil
	}
	owns = slices.AppendSeq(slices.Collect(maps.Keys(renamed)), maps.Keys(overridden))
	slices.Sort(owns)
	return slices.Compact(owns)
}

// Described returns the result of a request about a feature with what the configuration
// makes the feature say of itself: a prompt says what it is also where somebody gets it.
func (b *Backend) Described(method, own string, result []byte) []byte {
	if method != mcp.MethodGetPrompt || wire.Find(result, "description") == nil {
		return result
	}
	described, err := Override{Description: b.rules.OverridePrompts[own].Description}.apply(result)
	if err != nil { // a member stands twice
		return result
	}
	return described
}

func (o Override) apply(entry []byte) (_ []byte, err error) {
	for _, text := range []struct {
		member string
		value  *string
	}{{"title", o.Title}, {"description", o.Description}} {
		if text.value == nil {
			continue
		}
		if entry, err = wire.Set(entry, text.member, wire.AppendText(nil, *text.value)); err != nil {
			return nil, err
		}
	}
	if o.Annotations == nil {
		return entry, nil
	}
	merged := wire.Find(entry, "annotations")
	if len(merged) == 0 || merged[0] != '{' {
		merged = []byte("{}")
	}
	for name, value := range wire.Each(o.Annotations) {
		if merged, err = wire.Set(merged, string(name), value); err != nil {
			return nil, err
		}
	}
	return wire.Set(entry, "annotations", merged)
}
