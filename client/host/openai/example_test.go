package openai_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/parley-mcp/parley/client/host"
	"github.com/parley-mcp/parley/client/host/openai"
	"github.com/parley-mcp/parley/mcp"
)

var readTool = &mcp.Tool{Name: "files__read", InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}

func ExampleTools() {
	fit, _ := openai.Tools([]*mcp.Tool{readTool})
	request, err := json.Marshal(fit)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", request)
	// Output: [{"type":"function","name":"files__read","parameters":{"type":"object","properties":{"path":{"type":"string"}}},"strict":false}]
}

func ExampleChatTools() {
	fit, _ := openai.ChatTools([]*mcp.Tool{readTool})
	request, err := json.Marshal(fit)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", request)
	// Output: [{"type":"function","function":{"name":"files__read","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}]
}

// The output of a response has calls; the input of the next request answers them.
func ExampleCalls() {
	var output []openai.Item
	if err := json.Unmarshal([]byte(`[{"type":"function_call","id":"fc_1","call_id":"call_1","name":"files__read","arguments":"{\"path\":\"a\"}"}]`), &output); err != nil {
		log.Fatal(err)
	}
	for _, call := range openai.Calls(output) {
		fmt.Printf("%s %s %s\n", call.ID, call.Name, call.Arguments)
		answer := host.Answer{Call: call, Result: &mcp.CallToolResult{Content: mcp.Contents{mcp.Text("It is empty.")}}}
		input, err := json.Marshal(openai.Results([]host.Answer{answer}))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s\n", input)
	}
	// Output:
	// call_1 files__read {"path":"a"}
	// [{"type":"function_call_output","call_id":"call_1","output":"It is empty."}]
}

// A message of the model has calls; the messages after it answer them.
func ExampleChatMessage_Calls() {
	var reply openai.ChatMessage
	if err := json.Unmarshal([]byte(`{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"files__read","arguments":"{\"path\":\"a\"}"}}]}`), &reply); err != nil {
		log.Fatal(err)
	}
	for _, call := range reply.Calls() {
		fmt.Printf("%s %s %s\n", call.ID, call.Name, call.Arguments)
		answer := host.Answer{Call: call, Result: &mcp.CallToolResult{Content: mcp.Contents{mcp.Text("It is empty.")}}}
		next, err := json.Marshal(openai.ChatResults([]host.Answer{answer}))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s\n", next)
	}
	// Output:
	// call_1 files__read {"path":"a"}
	// [{"role":"tool","content":"It is empty.","tool_call_id":"call_1"}]
}
