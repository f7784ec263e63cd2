// Package mirror compares the headers that mirror the arguments of tools with these, for
// servers and for gateways, which know the definition of a tool from elsewhere.
package mirror

import (
	"encoding/json"
	"fmt"

	"github.com/parley-mcp/parley/internal/schema"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Check compares the headers of a call with its arguments, by the bindings of its tool: an
// intermediary may have acted on the headers.
//
// Spec: 2026-07-28 basic/transports/streamable-http#server-behavior-for-custom-headers.
func Check(x *mcp.Exchange, bindings []schema.HeaderBinding, args json.RawMessage) error {
	return compare(x, bindings, args, true)
}

// CheckSent is Check for a client that may have been shown the tool without its bindings:
// headers may be absent, but must not contradict the arguments.
func CheckSent(x *mcp.Exchange, bindings []schema.HeaderBinding, args json.RawMessage) error {
	return compare(x, bindings, args, false)
}

func compare(x *mcp.Exchange, bindings []schema.HeaderBinding, args json.RawMessage, demanded bool) error {
	if x.Mirrored == nil {
		return nil
	}
	for _, b := range bindings {
		header, sent, err := x.Mirrored(b.Name)
		if err != nil {
			return &mcp.HeaderMismatchError{Reason: fmt.Sprintf("Mcp-Param-%s: %v", b.Name, err)}
		}
		value, given := Argument(args, b.Path)
		switch {
		case given && !sent && demanded:
			return &mcp.HeaderMismatchError{Reason: fmt.Sprintf("Mcp-Param-%s is missing", b.Name)}
		case sent && (!given || !same(header, value, b)):
			return &mcp.HeaderMismatchError{Reason: fmt.Sprintf("Mcp-Param-%s header value %.100q does not match the body", b.Name, header)}
		}
	}
	return nil
}

// Argument returns the raw value at a path of the arguments; null counts as absent.
func Argument(args json.RawMessage, path []string) (json.RawMessage, bool) {
	value := args
	for _, name := range path {
		if value = wire.Find(value, name); value == nil {
			return nil, false
		}
	}
	return value, string(value) != "null"
}

// same reports whether a header has the same value as a parameter.
func same(header string, value json.RawMessage, b schema.HeaderBinding) bool {
	if b.Type == "integer" {
		return sameInteger(header, string(value))
	}
	var text string
	if b.Type == "string" && wire.Unmarshal(value, &text) == nil {
		return header == text
	}
	return header == string(value)
}

// sameInteger compares integers as numbers: 42.0 and 42 are equal. Numbers that are
// no integers to mirror, which the tool refuses in words for the model, are compared
// as texts.
//
// Spec: 2026-07-28 basic/transports/streamable-http#server-validation.
func sameInteger(a, b string) bool {
	x, okX := schema.Mirrored(a)
	y, okY := schema.Mirrored(b)
	return a == b || okX && okY && x == y
}
