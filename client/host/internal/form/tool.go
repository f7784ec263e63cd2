package form

import (
	"encoding/json"

	"github.com/parley-mcp/parley/internal/vendors/adapt"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Fit returns a tool in a form that a vendor takes; profile is one of package adapt's.
// unfit says why there is none, or is "".
func Fit(profile string, tool *mcp.Tool) (fit *mcp.Tool, unfit string) {
	schema, unfit := input(tool.InputSchema)
	if unfit != "" {
		return nil, unfit
	}
	raw, err := wire.Marshal(mcp.Tool{Name: tool.Name, Description: tool.Description, InputSchema: schema})
	if err != nil {
		return nil, err.Error()
	}
	adapted, unfit := adapt.Named(profile).Adapt(raw)
	if unfit != "" {
		return nil, unfit
	}
	fit = new(mcp.Tool)
	if err := wire.Unmarshal(adapted, fit); err != nil {
		return nil, err.Error()
	}
	return fit, ""
}

// input returns an input schema as all vendors want it: an object that says that it
// describes one.
func input(schema json.RawMessage) (_ json.RawMessage, unfit string) {
	const none = `{"type":"object"}`
	if len(schema) == 0 {
		return json.RawMessage(none), ""
	}
	var object map[string]json.RawMessage
	if err := wire.Unmarshal(schema, &object); err != nil || object == nil {
		return nil, "its input schema is not a JSON object"
	}
	switch kind := string(object["type"]); kind {
	case `"object"`:
		return schema, ""
	case "":
		typed, err := wire.Set(schema, "type", []byte(`"object"`))
		if err != nil {
			return nil, err.Error()
		}
		return typed, ""
	default:
		return nil, "its input schema describes something else than a JSON object"
	}
}

// Schema returns the schema of a tool that a vendor's form has as parameters.
func Schema(parameters json.RawMessage) json.RawMessage {
	if !IsObject(parameters) {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return parameters
}
