package mcp

// Implementation names a client or a server.
//
// Spec: 2025-11-25 basic/lifecycle#initialization.
type Implementation struct {
	// Name and Version are required; Title is what people are shown instead of
	// Name.
	Name        string `json:"name"`
	Title       string `json:"title,omitzero"`
	Version     string `json:"version"`
	Description string `json:"description,omitzero"`
	Icons       []Icon `json:"icons,omitzero"`
	WebsiteURL  string `json:"websiteUrl,omitzero"`
}

// InitializeParams opens a session.
//
// Spec: 2025-11-25 basic/lifecycle#initialization.
type InitializeParams struct {
	Meta            Meta               `json:"_meta,omitzero"`
	ProtocolVersion string             `json:"protocolVersion"`
	Capabilities    ClientCapabilities `json:"capabilities"`
	ClientInfo      Implementation     `json:"clientInfo"`
}

// InitializeResult answers InitializeParams with the revision of the session.
//
// Spec: 2025-11-25 basic/lifecycle#initialization.
type InitializeResult struct {
	Meta            Meta               `json:"_meta,omitzero"`
	ProtocolVersion string             `json:"protocolVersion"`
	Capabilities    ServerCapabilities `json:"capabilities"`
	ServerInfo      Implementation     `json:"serverInfo"`
	Instructions    string             `json:"instructions,omitzero"`
}

// DiscoverResult says what a server is without opening a session.
//
// Spec: 2026-07-28 server/discover#response.
type DiscoverResult struct {
	ResultFields
	CacheFields
	SupportedVersions []string           `json:"supportedVersions"`
	Capabilities      ServerCapabilities `json:"capabilities"`
	Instructions      string             `json:"instructions,omitzero"`
}
