package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/parley-mcp/parley/client/host"
	"github.com/parley-mcp/parley/client/host/openai"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/frames"
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

// todo is a server with one tool, in this process; most are in an mcp.json.
func todo() mcp.Transport {
	s := server.New(mcp.Implementation{Name: "todo", Version: "1"}, nil)
	server.AddTool(s, mcp.Tool{Name: "read", Description: "Reads the list"},
		func(context.Context, *server.Call, struct{}) (string, error) { return "water the plants", nil })
	return frames.InProcess(s, nil)
}

// model stands in for OpenAI's API, to which a program sends the input and the tools, by
// whatever means: it wants the list, and then says what is on it.
func model(input []openai.Item, _ []openai.Tool) (output []openai.Item) {
	last := input[len(input)-1]
	if last.Type != "function_call_output" {
		return []openai.Item{openai.CallItem(host.Call{ID: "call_1", Name: "todo__read"})}
	}
	return []openai.Item{{Type: "message", Role: "assistant", Content: openai.Content{{Type: "output_text", Text: "You should " + last.Output[0].Text + "."}}}}
}

// The loop of an agent over the Responses API: ask the model, make the calls that it wants,
// and tell it what has come of them, until it wants no more.
func Example() {
	ctx := context.Background()
	h, err := host.Open(ctx, map[string]host.Server{"todo": {Transport: todo()}}, &host.Options{Approve: host.ApproveAll})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	if err := h.Ready(ctx); err != nil {
		log.Print(err) // what is up can be used
	}

	tools, _ := openai.Tools(h.Tools())
	input := []openai.Item{openai.User("What shall I do?")}
	for {
		output := model(input, tools)
		input = append(input, output...)
		calls := openai.Calls(output)
		if len(calls) == 0 {
			fmt.Println(openai.Text(output))
			break
		}
		input = append(input, openai.Results(h.Answer(ctx, calls))...)
	}
	// Output: You should water the plants.
}
