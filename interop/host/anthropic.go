package main

import (
	"encoding/json"
	"fmt"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/parley-mcp/parley/client/host"
	"github.com/parley-mcp/parley/client/host/anthropic"
	"github.com/parley-mcp/parley/mcp"
)

// messagesRequest: all of a request is something that their types know.
func messagesRequest() error {
	r, err := through[sdk.MessageNewParams]("anthropic/testdata/request.json")
	if err != nil {
		return err
	}
	for i, t := range r.Tools {
		if t.OfTool == nil {
			return fmt.Errorf("tool %d is no tool to them", i)
		}
	}
	for _, b := range r.Messages[1].Content[1:] {
		if b.OfToolUse == nil {
			return fmt.Errorf("a call is none to them")
		}
	}
	for _, b := range r.Messages[2].Content {
		if b.OfToolResult == nil {
			return fmt.Errorf("a result is none to them")
		}
		for i, c := range b.OfToolResult.Content {
			if c.OfText == nil && c.OfImage == nil && c.OfDocument == nil {
				return fmt.Errorf("block %d of the result of %s is none to them", i, b.OfToolResult.ToolUseID)
			}
		}
	}
	return nil
}

// messagesResponse: both see the same calls, and what ours send back is something that
// their types know.
func messagesResponse() error {
	doc, err := recorded("anthropic/testdata/response.json")
	if err != nil {
		return err
	}
	var theirs sdk.Message
	var ours anthropic.Message
	if err := json.Unmarshal(doc, &theirs); err != nil {
		return err
	}
	if err := json.Unmarshal(doc, &ours); err != nil {
		return err
	}
	var calls []host.Call
	for _, b := range theirs.Content {
		switch use := b.AsAny().(type) {
		case sdk.ToolUseBlock:
			calls = append(calls, host.Call{ID: use.ID, Name: use.Name, Arguments: use.Input})
		case nil:
			return fmt.Errorf("their types do not know the block %s", b.Type)
		}
	}
	if err := equal(ours.Calls(), calls); err != nil {
		return err
	}
	back, err := into[sdk.MessageParam](ours)
	if err != nil {
		return err
	}
	again, err := json.Marshal(back)
	if err != nil {
		return err
	}
	sent, err := json.Marshal(ours)
	if err != nil {
		return err
	}
	return same(again, sent)
}

func messagesTools() error {
	tool := sdk.ToolUnionParamOfTool(sdk.ToolInputSchemaParam{Properties: map[string]any{"path": map[string]any{"type": "string"}}, Required: []string{"path"}}, "read")
	tool.OfTool.Description = sdk.String("Reads a file.")
	ours, err := into[anthropic.Tool](tool)
	if err != nil {
		return err
	}
	t, err := ours.MCP()
	if err != nil {
		return err
	}
	if err := same(t.InputSchema, []byte(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)); err != nil {
		return err
	}
	return equal(t.Name+": "+t.Description, "read: Reads a file.")
}

func messagesResults() error {
	image := sdk.ToolResultBlockParam{ToolUseID: "2", Content: []sdk.ToolResultBlockParamContentUnion{
		{OfImage: &sdk.ImageBlockParam{Source: sdk.ImageBlockParamSourceUnion{OfBase64: &sdk.Base64ImageSourceParam{Data: "AQI=", MediaType: "image/png"}}}},
		{OfDocument: &sdk.DocumentBlockParam{Source: sdk.DocumentBlockParamSourceUnion{OfURL: &sdk.URLPDFSourceParam{URL: "https://example.com/a.pdf"}}}},
	}}
	message := sdk.NewUserMessage(sdk.NewToolResultBlock("1", "There is none.", true), sdk.ContentBlockParamUnion{OfToolResult: &image})
	ours, err := into[anthropic.Message](message)
	if err != nil {
		return err
	}
	var got []*mcp.CallToolResult
	for _, b := range ours.Content {
		r, err := b.MCP()
		if err != nil {
			return err
		}
		got = append(got, r)
	}
	return equal(got, []*mcp.CallToolResult{
		mcp.ToolError("There is none."),
		{Content: mcp.Contents{&mcp.ImageContent{Data: []byte{1, 2}, MIMEType: "image/png"}, &mcp.ResourceLink{URI: "https://example.com/a.pdf", Name: "document"}}},
	})
}
