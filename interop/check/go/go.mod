module github.com/parley-mcp/parley/interop/check/go

go 1.26.0

require (
	github.com/mark3labs/mcp-go v1.2.1 // indirect
	github.com/modelcontextprotocol/go-sdk v1.8.0 // indirect
)
