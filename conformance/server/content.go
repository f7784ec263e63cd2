package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// addContent adds the tools that show the kinds of content. The suite calls
// the first tool of the list to test headers, so it must work without
// arguments.
func addContent(s *server.Server) {
	addTool(s, "test_simple_text", "Returns a line of text.",
		func(context.Context, *server.Call) (string, error) {
			return "This is a simple text response for testing.", nil
		})
	addBlocks(s, "test_image_content", "Returns a picture.", picture())
	addBlocks(s, "test_audio_content", "Returns a sound.", &mcp.AudioContent{Data: wav(), MIMEType: "audio/wav"})
	addBlocks(s, "test_embedded_resource", "Returns a resource inside of the result.",
		embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."))
	addBlocks(s, "test_multiple_content_types", "Returns a text, a picture and a resource.",
		mcp.Text("Multiple content types test:"), picture(),
		embedded("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`))
	addTool(s, "test_error_handling", "Fails each time.",
		func(context.Context, *server.Call) (string, error) {
			return "", errors.New("This tool intentionally returns an error for testing") //nolint:staticcheck // the suite's text, capital letter and all
		})
	addSchemaTool(s)
	addHeaderTool(s)
}

func picture() mcp.Content { return &mcp.ImageContent{Data: png(), MIMEType: "image/png"} }

func embedded(uri, mimeType, text string) mcp.Content {
	return &mcp.EmbeddedResource{Resource: mcp.TextResource(uri, mimeType, text)}
}

// addBlocks adds a tool whose result is always the same.
func addBlocks(s *server.Server, name, description string, blocks ...mcp.Content) {
	addTool(s, name, description, func(context.Context, *server.Call) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: blocks}, nil
	})
}

// addSchemaTool adds a tool with a schema that must reach the client as it is
// written here.
func addSchemaTool(s *server.Server) {
	s.AddRawTool(mcp.Tool{
		Name:        "json_schema_2020_12_tool",
		Description: "Has an input schema that uses much of JSON Schema 2020-12.",
		InputSchema: json.RawMessage(`{
			"$schema": "https://json-schema.org/draft/2020-12/schema",
			"type": "object",
			"$defs": {
				"address": {
					"$anchor": "addressDef",
					"type": "object",
					"properties": {"street": {"type": "string"}, "city": {"type": "string"}}
				}
			},
			"properties": {
				"name": {"type": "string"},
				"address": {"$ref": "#/$defs/address"},
				"contactMethod": {"type": "string", "enum": ["phone", "email"]},
				"phone": {"type": "string"},
				"email": {"type": "string"}
			},
			"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
			"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
			"then": {"required": ["phone"]},
			"else": {"required": ["email"]},
			"additionalProperties": false
		}`),
	}, func(_ context.Context, _ *server.Call, args json.RawMessage) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: mcp.Contents{mcp.Textf("The arguments fit: %s", args)}}, nil
	})
}

type regionArgs struct {
	Region string `json:"region,omitempty" description:"Where to look" header:"Region"`
	Level  int    `json:"level,omitempty" description:"How closely to look"`
}

// addHeaderTool adds a tool with a parameter that clients mirror in the header
// Mcp-Param-Region.
func addHeaderTool(s *server.Server) {
	server.AddTool(s, mcp.Tool{Name: "test_x_mcp_header", Description: "Has a parameter that is mirrored in a header."},
		func(_ context.Context, _ *server.Call, in regionArgs) (string, error) {
			return "The region is " + in.Region + ".", nil
		})
}
