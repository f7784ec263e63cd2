package server

import (
	"encoding/json"
	"fmt"
	"math/big"
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
		return sameNumber(header, string(value))
	}
	var text string
	if b.Type == "string" && wire.Unmarshal(value, &text) == nil {
		return header == text
	}
	return header == string(value)
}

// isDecimal bounds the texts that are compared as numbers: a short exponent can
// stand for a number of any size.
func isDecimal(text string) bool {
	whole, fraction, dot := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	return isDigits(whole) && (!dot || isDigits(fraction))
}

func isDigits(text string) bool {
	return text != "" && len(text) <= 64 && !strings.ContainsFunc(text, func(r rune) bool { return !isDigit(r) })
}

// sameNumber compares numerically: 42.0 and 42 are equal.
//
// Spec: 2026-07-28 basic/transports/streamable-http#server-validation.
func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	if !isDecimal(a) || !isDecimal(b) {
		return false
	}
	x, okX := new(big.Rat).SetString(a)
	y, okY := new(big.Rat).SetString(b)
	return okX && okY && x.Cmp(y) == 0
}
