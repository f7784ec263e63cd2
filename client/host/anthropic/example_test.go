package anthropic_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/parley-mcp/parley/client/host"
	"github.com/parley-mcp/parley/client/host/anthropic"
	"github.com/parley-mcp/parley/mcp"
)

func ExampleTools() {
	fit, unfit := anthropic.Tools([]*mcp.Tool{
		{Name: "files__read", Description: "Reads a file", InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
		{Name: "files__odd", InputSchema: json.RawMessage(`{"type":"object","required":["a b"],"properties":{"a b":{}}}`)},
	})
	request, err := json.Marshal(fit)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", request)
	for _, u := range unfit {
		fmt.Println("left out:", u.Tool.Name)
	}
	// Output:
	// [{"name":"files__read","description":"Reads a file","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}]
	// left out: files__odd
}

// A message of the model, as the API has sent it, has calls; those are answered in the
// next message.
func ExampleMessage_Calls() {
	var reply anthropic.Message
	if err := json.Unmarshal([]byte(`{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"files__read","input":{"path":"a"}}]}`), &reply); err != nil {
		log.Fatal(err)
	}
	for _, call := range reply.Calls() {
		fmt.Printf("%s %s %s\n", call.ID, call.Name, call.Arguments)
		answer := host.Answer{Call: call, Result: mcp.ToolError("There is no file %q.", "a")}
		next, err := json.Marshal(anthropic.Results([]host.Answer{answer}))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s\n", next)
	}
	// Output:
	// toolu_1 files__read {"path":"a"}
	// {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"There is no file \"a\"."}],"is_error":true}]}
}
