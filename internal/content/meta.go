package content

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/mcp"
)

// Extensions are settings of extensions by identifier, as capabilities hold them.
type Extensions = map[string]json.RawMessage

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

// IsExtension reports whether id can identify an extension.
//
// Spec: 2026-07-28 basic/versioning#extension-negotiation.
func IsExtension(id string) bool { return extensionPattern.MatchString(id) }

// Key checks a key of _meta that a user of this module sets. The keys that the
// protocol fills in itself are refused, and so are those with a prefix that is
// reserved for it, unless a declared extension has this prefix.
//
// Spec: 2026-07-28 basic#meta.
func Key(key string, declared Extensions) error {
	switch {
	case key == "" || !keyPattern.MatchString(key):
		return fmt.Errorf("_meta key %.100q is not valid: it consists of letters, digits and any of -_. between them, after a prefix such as %q", key, "com.example/")
	case mcp.ReservedMeta(key):
		return fmt.Errorf("_meta key %q is the protocol's, and is set by this module", key)
	case reserved(key) && !hasPrefix(declared, prefix(key)):
		return fmt.Errorf("_meta key %.100q: the prefix is reserved for the protocol and for official extensions that are declared; use one such as %q", key, "com.example/")
	}
	return nil
}

// Meta checks every key of m.
func (r Rules) Meta(m mcp.Meta) error {
	if len(m) == 0 {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if err := Key(key, r.Extensions); err != nil {
			return err
		}
	}
	return nil
}

// reserved reports whether a valid key has a prefix whose second label is the
// protocol's.
func reserved(key string) bool {
	labels := strings.Split(strings.TrimSuffix(prefix(key), "/"), ".")
	return len(labels) > 1 && (strings.EqualFold(labels[1], "modelcontextprotocol") || strings.EqualFold(labels[1], "mcp"))
}

// prefix returns the prefix of a key with its slash, or "".
func prefix(key string) string { return key[:strings.IndexByte(key, '/')+1] }

func hasPrefix(declared Extensions, want string) bool {
	for id := range declared {
		if prefix(id) == want {
			return true
		}
	}
	return false
}
