package cli

import (
	"encoding/json"
	"io"
	"os"
	"strings"

	"github.com/parley-mcp/parley/internal/wire"
)

// pair is an argument of a call as it was typed.
type pair struct {
	Key, Text string
	JSON      bool // Text is JSON
}

// parsePairs reads key=value and key:=JSON.
func parsePairs(args []string) ([]pair, error) {
	seen := make(map[string]bool)
	pairs := make([]pair, 0, len(args))
	for _, arg := range args {
		key, text, ok := strings.Cut(arg, "=")
		p := pair{Key: key, Text: text}
		if name, isJSON := strings.CutSuffix(key, ":"); isJSON {
			p.Key, p.JSON = name, true
		}
		switch {
		case !ok || p.Key == "":
			return nil, usagef("argument %q is neither key=value nor key:=JSON", arg)
		case seen[p.Key]:
			return nil, usagef("argument %q is given twice", p.Key)
		case p.JSON && !json.Valid([]byte(text)):
			return nil, usagef("argument %q: %q is not JSON; use %s=… for text", p.Key, text, p.Key)
		}
		seen[p.Key] = true
		pairs = append(pairs, p)
	}
	return pairs, nil
}

// readInput reads the object that --input names: JSON, @FILE, or - for
// standard input.
func (a *app) readInput(input string) (json.RawMessage, error) {
	raw, from := []byte(input), "the argument"
	var err error
	switch {
	case input == "":
		return nil, nil
	case input == "-":
		from = "standard input"
		raw, err = io.ReadAll(a.io.In)
	case strings.HasPrefix(input, "@"):
		from = input[1:]
		raw, err = os.ReadFile(from) //nolint:gosec // reading the file the user names is the purpose
	}
	if err != nil {
		return nil, usagef("--input: %w", err)
	}
	var object map[string]json.RawMessage
	if err := wire.Unmarshal(raw, &object); err != nil || object == nil {
		return nil, usagef("--input: %s is not a JSON object; give JSON such as '{\"a\": 1}', @FILE, or - for standard input", from)
	}
	return raw, nil
}

// arguments merges key=value arguments into an input object, whose members they
// replace. schema is the tool's input schema, or nil if it is unknown.
func arguments(input json.RawMessage, pairs []pair, schema json.RawMessage) (json.RawMessage, error) {
	if input == nil {
		input = json.RawMessage("{}")
	}
	known := make(map[string]property)
	for _, p := range properties(schema) {
		known[p.Name] = p
	}
	for _, arg := range pairs {
		value := json.RawMessage(arg.Text)
		if !arg.JSON {
			p := known[arg.Key]
			value = p.convert(arg.Text)
		}
		var err error
		if input, err = wire.Set(input, arg.Key, value); err != nil {
			return nil, usagef("argument %q: %w", arg.Key, err)
		}
	}
	return input, nil
}

// hasText reports whether any argument is text, whose type is up to the schema.
func hasText(pairs []pair) bool {
	for _, p := range pairs {
		if !p.JSON {
			return true
		}
	}
	return false
}
