package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parley-mcp/parley/internal/schema"
)

// compileInput compiles a tool's input schema and checks what the protocol
// requires of it beyond JSON Schema.
//
// Spec: 2026-07-28 server/tools#tool.
func compileInput(raw json.RawMessage) (*schema.Schema, []schema.HeaderBinding, error) {
	if raw == nil {
		return nil, nil, errors.New("no input schema")
	}
	s, err := schema.Compile(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("input schema: %w", err)
	}
	if !s.IsObject() {
		return nil, nil, errors.New(`input schema: "type" must be "object"`)
	}
	// Clients drop a tool that breaks the rules of headers.
	// Spec: 2026-07-28 server/tools#x-mcp-header.
	headers, err := schema.Headers(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("input schema: %w", err)
	}
	return s, headers, nil
}

// compileOutput compiles a tool's output schema.
func compileOutput(raw json.RawMessage) (*schema.Schema, error) {
	if !isObject(raw) {
		return nil, errors.New("output schema: not a JSON object")
	}
	s, err := schema.Compile(raw)
	if err != nil {
		return nil, fmt.Errorf("output schema: %w", err)
	}
	return s, nil
}

// isObject reports whether raw, which is valid JSON, is an object.
func isObject(raw []byte) bool {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	return len(raw) > 0 && raw[0] == '{'
}
