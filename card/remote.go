package card

// The types of endpoints.
const (
	StreamableHTTP = "streamable-http"
	SSE            = "sse" // HTTP+SSE, of the first revision
)

// Remote is an endpoint of a server.
type Remote struct {
	// Type is StreamableHTTP or SSE.
	Type string `json:"type"`
	// URL may have placeholders in curly braces, which are replaced with values of
	// Variables before a client connects: "https://{tenant}.example.com/mcp".
	URL string `json:"url"`
	// Headers are those that the endpoint needs or understands.
	Headers []Header `json:"headers,omitzero"`
	// Variables describe the placeholders of URL, by name.
	Variables map[string]Input `json:"variables,omitzero"`
	// SupportedProtocolVersions are the revisions that the endpoint speaks. New fills
	// them in where they are nil.
	SupportedProtocolVersions []string `json:"supportedProtocolVersions,omitzero"`
}

// Header is a header that a client sends to an endpoint.
type Header struct {
	// Name is that of the header.
	Name string `json:"name"`
	Input
	// Variables describe the placeholders in curly braces of Value, by name.
	Variables map[string]Input `json:"variables,omitzero"`
}

// Input is a value that the user of a server supplies, or that is set beforehand.
type Input struct {
	// Description tells people what the value is.
	Description string `json:"description,omitzero"`
	// Required says that there is no connection without the value.
	Required bool `json:"isRequired,omitzero"`
	// Secret says that the value must be kept as a password is. A secret has neither
	// Value nor Default: everybody could read it in the card.
	Secret bool `json:"isSecret,omitzero"`
	// Format is "string", "number", "boolean" or "filepath"; "" is "string".
	Format string `json:"format,omitzero"`
	// Default is the value if the user supplies none.
	Default string `json:"default,omitzero"`
	// Placeholder is an example for the user.
	Placeholder string `json:"placeholder,omitzero"`
	// Value is set beforehand, and users cannot change it. That of a header may have
	// placeholders.
	Value string `json:"value,omitzero"`
	// Choices are the values to choose from; none means any.
	Choices []string `json:"choices,omitzero"`
}
