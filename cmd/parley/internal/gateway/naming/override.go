package naming

import (
	"encoding/json"

	"github.com/parley-mcp/parley/internal/wire"
)

// Override is what the configuration makes a tool say of itself. Other members stay as
// the backend sent them.
type Override struct {
	// Title and Description replace the tool's; nil leaves them.
	Title, Description *string
	// Annotations are the members of the tool's annotations to be replaced or added:
	// nil, or a JSON object.
	Annotations json.RawMessage
}

func (o Override) apply(tool []byte) (_ []byte, err error) {
	for _, text := range []struct {
		member string
		value  *string
	}{{"title", o.Title}, {"description", o.Description}} {
		if text.value == nil {
			continue
		}
		if tool, err = wire.Set(tool, text.member, wire.AppendText(nil, *text.value)); err != nil {
			return nil, err
		}
	}
	if o.Annotations == nil {
		return tool, nil
	}
	merged := wire.Find(tool, "annotations")
	if len(merged) == 0 || merged[0] != '{' {
		merged = []byte("{}")
	}
	for name, value := range wire.Each(o.Annotations) {
		if merged, err = wire.Set(merged, string(name), value); err != nil {
			return nil, err
		}
	}
	return wire.Set(tool, "annotations", merged)
}
