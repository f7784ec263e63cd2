package server

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parley-mcp/parley/internal/schema"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// checkMirrors compares the headers that mirror parameters with the arguments:
// an intermediary may have acted on the headers.
//
// Spec: 2026-07-28 basic/transports/streamable-http#server-behavior-for-custom-headers.
func (t *tool) checkMirrors(x *mcp.Exchange, args json.RawMessage) error {
	if x.Mirrored == nil {
		return nil
	}
	for _, b := range t.headers {
		header, sent, err := x.Mirrored(b.Name)
		if err != nil {
			return &mcp.HeaderMismatchError{Reason: fmt.Sprintf("Mcp-Param-%s: %v", b.Name, err)}
		}
		value, given := argument(args, b.Path)
		switch {
		case given && !sent:
			return &mcp.HeaderMismatchError{Reason: fmt.Sprintf("Mcp-Param-%s is missing", b.Name)}
		case sent && (!given || !mirrors(header, value, b)):
			return &mcp.HeaderMismatchError{Reason: fmt.Sprintf("Mcp-Param-%s header value %q does not match the body", b.Name, shorten(header))}
		}
	}
	return nil
}

// argument returns the raw value at a path of the arguments; null counts as
// absent.
func argument(args json.RawMessage, path []string) (json.RawMessage, bool) {
	value := args
	for _, name := range path {
		if value = wire.Find(value, name); value == nil {
			return nil, false
		}
	}
	return value, string(value) != "null"
}

// mirrors reports whether a header has the same value as a parameter.
func mirrors(header string, value json.RawMessage, b schema.HeaderBinding) bool {
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

// checkRange refuses integers that not every reader of the header would read as the
// same number. The arguments have been validated otherwise.
//
// Spec: 2026-07-28 server/tools#x-mcp-header.
func (t *tool) checkRange(args json.RawMessage) error {
	for _, b := range t.headers {
		value, given := argument(args, b.Path)
		if b.Type != "integer" || !given {
			continue
		}
		if _, ok := schema.Mirrored(string(value)); !ok {
			return fmt.Errorf("%q: it is mirrored in a header, so it must be from %d to %d", strings.Join(b.Path, "."), -schema.MaxMirrored, schema.MaxMirrored)
		}
	}
	return nil
}
