// Package peers pins the other SDKs whose code the guides to migration show, so that
// this code is compiled against what it was written for.
package peers

import (
	_ "github.com/google/jsonschema-go/jsonschema"
	_ "github.com/mark3labs/mcp-go/client"
	_ "github.com/mark3labs/mcp-go/client/transport"
	_ "github.com/mark3labs/mcp-go/mcp"
	_ "github.com/mark3labs/mcp-go/server"
	_ "github.com/modelcontextprotocol/go-sdk/auth"
	_ "github.com/modelcontextprotocol/go-sdk/mcp"
)
