package mcp

// Root is a folder that a client lets a server work in.
//
// Revision 2026-07-28 deprecates roots (docs/deprecated.md).
//
// Spec: 2026-07-28 client/roots#root.
type Root struct {
	// URI is a file:// URI.
	URI  string `json:"uri"`
	Name string `json:"name,omitzero"`
	Meta Meta   `json:"_meta,omitzero"`
}

// ListRootsResult holds a client's roots.
type ListRootsResult struct {
	Meta  Meta    `json:"_meta,omitzero"`
	Roots []*Root `json:"roots"`
}
