package server_test

import (
	"context"
	"fmt"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// A misspelt tag is an error, and not a limit that is silently lost. Tags of other
// packages, such as db, are left alone.
func ExampleTryAddTool_misspeltTag() {
	type search struct {
		Query string `json:"query" db:"q" minlen:"1"`
	}
	srv := server.New(mcp.Implementation{Name: "example", Version: "1.0.0"}, nil)
	err := server.TryAddTool(srv, mcp.Tool{Name: "search"}, func(context.Context, *server.Call, search) (string, error) {
		return "", nil
	})
	fmt.Println(err)
	// Output: tool "search": input: inferring the schema of server_test.search: field "Query" of server_test.search: there is no tag "minlen"; the nearest is "minLength". If another package reads "minlen", give the field "minLength" as well
}
