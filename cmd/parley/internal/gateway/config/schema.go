package config

import (
	"encoding/json"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/internal/yamljson"
)

// schema is a JSON Schema.
type schema map[string]any

// Schema returns the JSON Schema of the format, for editors.
func Schema() ([]byte, error) {
	s := object{new(Config)}.schema()
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "The configuration of parley gateway"
	raw, err := wire.Marshal(s)
	if err != nil {
		return nil, err
	}
	return wire.Canonical(raw)
}

// exclusive says in a schema which keys exclude each other.
func exclusive(s schema, a alternative) {
	names, must := a.oneOf()
	var ways []schema
	for _, name := range names {
		ways = append(ways, schema{"required": []string{name}})
	}
	if !must {
		ways = append(ways, schema{"not": schema{"anyOf": ways[:len(ways):len(ways)]}})
	}
	s["oneOf"] = ways
}

// jsonOf returns a value of the table as JSON.
func jsonOf(text string) json.RawMessage {
	n, err := yamljson.Parse([]byte(text))
	if err != nil {
		return json.RawMessage("null")
	}
	raw, err := yamljson.Render(n, 0)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}
