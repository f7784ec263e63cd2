package reference

import "maps"

// The scopes of the server, where it is protected.
const (
	// ScopeRead is needed by every request.
	ScopeRead = "mcp:read"
	// ScopeWrite is needed by tools that change something; it includes
	// ScopeRead.
	ScopeWrite = "mcp:write"
)

// Scopes describes the scopes to users who are asked to grant them.
func Scopes() map[string]string {
	return map[string]string{
		ScopeRead:  "Read data and files, and use tools that change nothing",
		ScopeWrite: "Import data, fill baskets and place orders",
	}
}

// ToolScopes returns the scopes that tools need besides ScopeRead, by tool.
func ToolScopes() map[string][]string { return maps.Clone(toolScopes) }

var toolScopes = map[string][]string{
	"import_csv":    {ScopeWrite},
	"create_basket": {ScopeWrite},
	"add_item":      {ScopeWrite},
	"checkout":      {ScopeWrite},
	"set_feature":   {ScopeWrite},
}
