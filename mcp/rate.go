package mcp

// Rate bounds how often something may happen: like a bucket of Burst tokens that
// PerSecond tokens flow into, and that each time takes one from. The zero value
// means the default, which is documented where the Rate is a field.
type Rate struct {
	// PerSecond is how often, on average. 0 means the default, a negative value
	// that there is no bound.
	PerSecond float64
	// Burst is how often in quick succession, after a pause. 0 or less means
	// twice what PerSecond allows in a second.
	Burst int
}
