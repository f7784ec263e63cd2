package card_test

import (
	"fmt"

	"github.com/parley-mcp/parley/card"
)

// What is wrong with a card is said before anybody reads it.
func ExampleLint() {
	for _, p := range card.Lint([]byte(`{"name": "weather", "version": "1.0.0", "description": "Forecasts."}`)) {
		fmt.Println(p)
	}
	// Output:
	// $schema: it is missing; it is always "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
	// name: must match the pattern "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", got "weather"; it is a namespace in reverse DNS, a slash and a name, such as "com.example/weather"
	// remotes: the card names no endpoint, so that nobody can connect
}
