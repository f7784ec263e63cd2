package search

import (
	"encoding/json"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// keep is how long clients may keep the list of the three tools.
const keep = 5 * time.Minute

func list() *mcp.ListToolsResult {
	ttl := keep.Milliseconds()
	return &mcp.ListToolsResult{CacheFields: mcp.CacheFields{TTLMs: &ttl, CacheScope: mcp.CachePrivate}, Tools: three}
}

// reads are the annotations of tools that change nothing, here or elsewhere.
var reads = &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(bool)}

// Tools returns the three tools. They must not be changed.
func Tools() []*mcp.Tool { return three }

var three = []*mcp.Tool{
	{
		Name: FindTools, Title: "Find tools", Annotations: reads,
		Description: "Finds tools by words of what they do. There are more tools than are listed here: look for one whenever you lack one.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{` +
			`"query":{"type":"string","description":"Words of what the tool does, or of its name"},` +
			`"limit":{"type":"integer","minimum":1,"maximum":50,"default":10,"description":"How many tools to return at most"}},` +
			`"required":["query"],"additionalProperties":false}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"tools":{"type":"array","items":{"type":"object","properties":{` +
			`"name":{"type":"string"},"title":{"type":"string"},"description":{"type":"string"}},"required":["name"]}},` +
			`"total":{"type":"integer","description":"How many tools there are"}},"required":["tools","total"]}`),
	},
	{
		Name: DescribeTool, Title: "Describe a tool", Annotations: reads,
		Description: "Returns the whole definition of a tool that find_tools has found, with the schema of its arguments. Read it before you call the tool.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"The tool's name, as find_tools returns it"}},` +
			`"required":["name"],"additionalProperties":false}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"tool":{"type":"object"}},"required":["tool"]}`),
	},
	{
		Name: CallTool, Title: "Call a tool",
		Description: "Calls a tool that find_tools has found, with arguments that fit the schema that describe_tool returns, and returns its result.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"The tool's name, as find_tools returns it"},` +
			`"arguments":{"type":"object","description":"The tool's arguments"}},"required":["name"],"additionalProperties":false}`),
	},
}
