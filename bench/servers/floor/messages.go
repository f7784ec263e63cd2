package main

import (
	"encoding/json"

	"github.com/parley-mcp/parley/bench/payload"
	"github.com/parley-mcp/parley/bench/servers/config"
)

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name           string            `json:"name"`
		Arguments      payload.Echo      `json:"arguments"`
		InputResponses map[string]answer `json:"inputResponses"`
		RequestState   string            `json:"requestState"`
	} `json:"params"`
	Result answer `json:"result"`
}

type answer struct {
	Content struct {
		Name string `json:"name"`
		Size int    `json:"size"`
	} `json:"content"`
}

type response struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result"`
}

type notification struct {
	JSONRPC string `json:"jsonrpc"`
	ID      string `json:"id,omitempty"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

func answerTo(id json.RawMessage, result any) response {
	return response{JSONRPC: "2.0", ID: id, Result: result}
}

func notify(method string, params any) notification {
	return notification{JSONRPC: "2.0", Method: method, Params: params}
}

type text struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type callResult struct {
	Content           []text       `json:"content"`
	StructuredContent payload.Echo `json:"structuredContent"`
}

// result holds the payload twice, as the results of all servers do: as
// structured content and as text.
func result(e payload.Echo) callResult {
	b, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return callResult{Content: []text{{"text", string(b)}}, StructuredContent: e}
}

type blob struct {
	URI  string `json:"uri"`
	Blob []byte `json:"blob"`
}

type tool struct {
	Name         string `json:"name"`
	Description  string `json:"description"`
	InputSchema  schema `json:"inputSchema"`
	OutputSchema schema `json:"outputSchema"`
}

type schema struct {
	Type       string            `json:"type"`
	Properties map[string]schema `json:"properties,omitempty"`
	Items      *schema           `json:"items,omitempty"`
	Required   []string          `json:"required,omitempty"`
}

func tools(c config.Config) []tool {
	s := schema{Type: "object", Required: []string{"text", "count", "tags"}, Properties: map[string]schema{
		"text": {Type: "string"}, "count": {Type: "integer"}, "tags": {Type: "array", Items: &schema{Type: "string"}},
	}}
	var list []tool
	for _, name := range append([]string{"echo", "progress", "ask", "change"}, c.Padding()...) {
		list = append(list, tool{name, payload.PaddingText, s, s})
	}
	return list
}

// question is the body of an elicitation.
func question(key string) map[string]any {
	kind := map[string]string{"name": "string", "size": "integer"}[key]
	return map[string]any{"mode": "form", "message": "Which " + key + "?", "requestedSchema": schema{
		Type: "object", Required: []string{key}, Properties: map[string]schema{key: {Type: kind}},
	}}
}
