package server

import (
	"encoding/json"
	"fmt"

	"github.com/parley-mcp/parley/internal/content"
	"github.com/parley-mcp/parley/internal/wire"
)

// objects are settings of capabilities, each a JSON object.
type objects = map[string]json.RawMessage

// encodeObjects encodes settings that a server declares. option is the option
// that they come from, for error messages.
func encodeObjects(option string, settings map[string]any, prefixed bool) (objects, error) {
	var encoded objects // nil when there are none: the capability is left out
	for id, v := range settings {
		if encoded == nil {
			encoded = make(objects, len(settings))
		}
		if prefixed && !content.IsExtension(id) {
			return nil, fmt.Errorf("%s[%q]: the identifier needs a prefix such as %q", option, id, "com.example/")
		}
		raw := []byte("{}")
		if v != nil {
			var err error
			if raw, err = wire.Marshal(v); err != nil {
				return nil, fmt.Errorf("%s[%q]: %w", option, id, err)
			}
		}
		if raw[0] != '{' {
			return nil, fmt.Errorf("%s[%q]: the settings must encode to a JSON object", option, id)
		}
		encoded[id] = raw
	}
	return encoded, nil
}
