package mutant

import (
	"maps"
	"strconv"
	"strings"

	"github.com/parley-mcp/parley/internal/jsonptr"
)

func split(path string) []string {
	if path == "" {
		return nil
	}
	names := strings.Split(path, "/")
	for n, name := range names {
		names[n] = jsonptr.Unescape(name)
	}
	return names
}

// put returns a value with another one at a path. "-" is the end of an array.
func put(v any, path []string, new any) any {
	if len(path) == 0 {
		return new
	}
	switch at := v.(type) {
	case []any:
		list := append([]any(nil), at...)
		if path[0] == "-" {
			return append(list, put(nil, path[1:], new))
		}
		if n, err := strconv.Atoi(path[0]); err == nil && n < len(list) {
			list[n] = put(list[n], path[1:], new)
		}
		return list
	case map[string]any:
		object := maps.Clone(at)
		object[path[0]] = put(at[path[0]], path[1:], new)
		return object
	default:
		return map[string]any{path[0]: put(nil, path[1:], new)}
	}
}

// remove returns a value without what is at a path.
func remove(v any, path []string) any {
	if len(path) == 0 {
		return v
	}
	switch at := v.(type) {
	case []any:
		n, err := strconv.Atoi(path[0])
		if err != nil || n >= len(at) {
			return v
		}
		if len(path) == 1 {
			return append(append([]any{}, at[:n]...), at[n+1:]...) // an empty array stays one
		}
		return put(v, path[:1], remove(at[n], path[1:]))
	case map[string]any:
		object := maps.Clone(at)
		if _, ok := at[path[0]]; !ok {
			return v
		}
		if len(path) == 1 {
			delete(object, path[0])
		} else {
			object[path[0]] = remove(at[path[0]], path[1:])
		}
		return object
	default:
		return v
	}
}
