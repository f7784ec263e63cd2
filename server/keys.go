package server

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/parley-mcp/parley/internal/wire"
)

// The grammar of names that several parties share: keys of _meta, and
// identifiers of extensions, whose prefix is not optional.
//
// Spec: 2026-07-28 basic#meta.
var (
	keyPrefix = `[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*/`
	keyName   = `(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?)?`

	keyPattern       = regexp.MustCompile(`^(?:` + keyPrefix + `)?` + keyName + `$`)
	extensionPattern = regexp.MustCompile(`^` + keyPrefix + keyName + `$`)
)

func validKey(key string) bool { return key != "" && keyPattern.MatchString(key) }

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
		if prefixed && !extensionPattern.MatchString(id) {
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
