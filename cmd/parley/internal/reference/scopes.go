package reference

import "maps"

// The scopes of the server, where it is protected.
const (
	// ScopeRead is what every request needs.
	ScopeRead = "mcp:read"
	// ScopeWrite is what tools need that change something; it includes
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

// ToolScopes returns which tools need which scopes beside ScopeRead.
func ToolScopes() map[string][]string { return maps.Clone(toolScopes) }

var toolScopes = map[string][]string{
	"import_csv":    {ScopeWrite},
	"create_basket": {ScopeWrite},
	"add_item":      {ScopeWrite},
	"checkout":      {ScopeWrite},
	"set_feature":   {ScopeWrite},
}
