package main

import (
	"encoding/json"
	"errors"
	"fmt"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/parley-mcp/parley/client/host"
	"github.com/parley-mcp/parley/client/host/openai"
	"github.com/parley-mcp/parley/mcp"
)

// responsesRequest: all of a request is something that their types know.
func responsesRequest() error {
	r, err := through[responses.ResponseNewParams]("openai/testdata/responses.json")
	if err != nil {
		return err
	}
	for i, t := range r.Tools {
		if t.OfFunction == nil {
			return fmt.Errorf("tool %d is no function to them", i)
		}
	}
	calls, outputs := 0, 0
	for _, it := range r.Input.OfInputItemList {
		switch {
		case it.OfFunctionCall != nil:
			calls++
		case it.OfFunctionCallOutput != nil:
			outputs++
			output := it.OfFunctionCallOutput.Output
			for i, part := range output.OfResponseFunctionCallOutputItemArray {
				if part.OfInputText == nil && part.OfInputImage == nil && part.OfInputFile == nil {
					return fmt.Errorf("part %d of the output of %s is none to them", i, it.OfFunctionCallOutput.CallID)
				}
			}
		}
	}
	if calls == 0 || calls != outputs {
		return fmt.Errorf("there are %d calls and %d outputs to them", calls, outputs)
	}
	return nil
}

// responsesResponse: both see the same calls, and what ours send back is something
// that their types know.
func responsesResponse() error {
	doc, err := recorded("openai/testdata/response.json")
	if err != nil {
		return err
	}
	var theirs responses.Response
	var ours struct {
		Output []openai.Item `json:"output"`
	}
	if err := json.Unmarshal(doc, &theirs); err != nil {
		return err
	}
	if err := json.Unmarshal(doc, &ours); err != nil {
		return err
	}
	var calls []host.Call
	for _, it := range theirs.Output {
		switch call := it.AsAny().(type) {
		case responses.ResponseFunctionToolCall:
			calls = append(calls, host.Call{ID: call.CallID, Name: call.Name, Arguments: json.RawMessage(call.Arguments)})
		case nil:
			return fmt.Errorf("their types do not know the item %s", it.Type)
		}
	}
	if err := equal(openai.Calls(ours.Output), calls); err != nil {
		return err
	}
	if err := equal(openai.Text(ours.Output), theirs.OutputText()); err != nil {
		return err
	}
	for i, it := range ours.Output {
		back, err := into[responses.ResponseInputItemUnionParam](it)
		if err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
		if it.Type == "message" {
			continue // to their types it may be one of three, of which some have fewer members
		}
		again, err := json.Marshal(back)
		if err != nil {
			return err
		}
		sent, err := json.Marshal(it)
		if err != nil {
			return err
		}
		if err := same(again, sent); err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
	}
	return nil
}

func responsesTools() error {
	ours, err := into[openai.Tool](responses.ToolParamOfFunction("read", parameters, false))
	if err != nil {
		return err
	}
	return tool(ours.MCP())
}

func responsesResults() error {
	output := responses.ResponseFunctionCallOutputItemListParam{
		{OfInputText: &responses.ResponseInputTextContentParam{Text: "a"}},
		{OfInputImage: &responses.ResponseInputImageContentParam{ImageURL: param.NewOpt("data:image/png;base64,AQI=")}},
		{OfInputFile: &responses.ResponseInputFileContentParam{FileData: param.NewOpt("data:application/pdf;base64,AQI="), Filename: param.NewOpt("a b.pdf")}},
	}
	var got []*mcp.CallToolResult
	for _, theirs := range []responses.ResponseInputItemUnionParam{
		responses.ResponseInputItemParamOfFunctionCallOutput("text"), responses.ResponseInputItemParamOfFunctionCallOutput(output),
	} {
		ours, err := into[openai.Item](theirs)
		if err != nil {
			return err
		}
		r, err := ours.MCP()
		if err != nil {
			return err
		}
		got = append(got, r)
	}
	return equal(got, []*mcp.CallToolResult{
		{Content: mcp.Contents{mcp.Text("text")}},
		{Content: mcp.Contents{
			mcp.Text("a"), &mcp.ImageContent{Data: []byte{1, 2}, MIMEType: "image/png"},
			&mcp.EmbeddedResource{Resource: mcp.BlobResource("file:a%20b.pdf", "application/pdf", []byte{1, 2})},
		}},
	})
}

// chatRequest: all of a request is something that their types know.
func chatRequest() error {
	r, err := through[sdk.ChatCompletionNewParams]("openai/testdata/chat.json")
	if err != nil {
		return err
	}
	for i, t := range r.Tools {
		if t.OfFunction == nil {
			return fmt.Errorf("tool %d is no function to them", i)
		}
	}
	if r.Messages[0].OfUser == nil || r.Messages[1].OfAssistant == nil {
		return errors.New("the question and the calls are none to them")
	}
	for i, c := range r.Messages[1].OfAssistant.ToolCalls {
		if c.OfFunction == nil {
			return fmt.Errorf("call %d is none to them", i)
		}
	}
	for i, m := range r.Messages[2:] {
		if m.OfTool == nil {
			return fmt.Errorf("result %d is none to them", i)
		}
	}
	return nil
}

// chatResponse: both see the same calls.
func chatResponse() error {
	doc, err := recorded("openai/testdata/completion.json")
	if err != nil {
		return err
	}
	var theirs sdk.ChatCompletion
	var ours struct {
		Choices []struct {
			Message openai.ChatMessage `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(doc, &theirs); err != nil {
		return err
	}
	if err := json.Unmarshal(doc, &ours); err != nil {
		return err
	}
	var calls []host.Call
	for _, c := range theirs.Choices[0].Message.ToolCalls {
		if call, ok := c.AsAny().(sdk.ChatCompletionMessageFunctionToolCall); ok {
			calls = append(calls, host.Call{ID: call.ID, Name: call.Function.Name, Arguments: json.RawMessage(call.Function.Arguments)})
		}
	}
	if err := equal(ours.Choices[0].Message.Calls(), calls); err != nil {
		return err
	}
	back, err := into[sdk.ChatCompletionMessageParamUnion](ours.Choices[0].Message)
	if err != nil {
		return err
	}
	if back.OfAssistant == nil || len(back.OfAssistant.ToolCalls) != len(theirs.Choices[0].Message.ToolCalls) {
		return errors.New("what is sent back is no message of a model to them, or lacks calls")
	}
	return nil
}

func chatTools() error {
	ours, err := into[openai.ChatTool](sdk.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: "read", Parameters: parameters}))
	if err != nil {
		return err
	}
	return tool(ours.MCP())
}

func chatResults() error {
	ours, err := into[openai.ChatMessage](sdk.ToolMessage([]sdk.ChatCompletionContentPartTextParam{{Text: "a"}, {Text: "b"}}, "1"))
	if err != nil {
		return err
	}
	r, err := ours.MCP()
	if err != nil {
		return err
	}
	return equal(r, &mcp.CallToolResult{Content: mcp.Contents{mcp.Text("a"), mcp.Text("b")}})
}

var parameters = map[string]any{"type": "object", "properties": map[string]any{"path": map[string]any{"type": "string"}}}

func tool(t *mcp.Tool, err error) error {
	if err != nil {
		return err
	}
	if err := same(t.InputSchema, []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)); err != nil {
		return err
	}
	return equal(t.Name, "read")
}
