package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/frames"
)

// clock is a server without package server: whoever passes exchanges on, such as a
// gateway, needs no more than this.
type clock struct{}

func (clock) Describe(context.Context, *mcp.Peer) *mcp.Description {
	return &mcp.Description{
		Info:         mcp.Implementation{Name: "clock", Version: "1.0.0"},
		Capabilities: mcp.ServerCapabilities{Tools: &mcp.ListCapability{}},
	}
}

func (clock) Serve(_ context.Context, x *mcp.Exchange) (any, error) {
	if x.Method != mcp.MethodCallTool {
		return nil, &mcp.MethodNotFoundError{Method: x.Method}
	}
	return &mcp.CallToolResult{Content: mcp.Contents{mcp.Text("It is noon.")}}, nil
}

func ExampleHandler() {
	ctx := context.Background()
	c, err := client.Connect(ctx, frames.InProcess(clock{}, nil), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	fmt.Println(client.Call[string](ctx, c, "time", nil))
	// Output: It is noon. <nil>
}

// What a tool returns to the model: blocks of different kinds.
func ExampleContents() {
	result := &mcp.CallToolResult{Content: mcp.Contents{
		mcp.Textf("%d files", 2),
		&mcp.ResourceLink{URI: "file:///a.txt", Name: "a.txt"},
	}}
	for _, block := range result.Content {
		switch b := block.(type) {
		case *mcp.TextContent:
			fmt.Println("text:", b.Text)
		case *mcp.ResourceLink:
			fmt.Println("link:", b.URI)
		}
	}
	// Output:
	// text: 2 files
	// link: file:///a.txt
}

// Of a kind that did not exist when the program was written, nothing is lost.
func ExampleDecodeContent() {
	block, err := mcp.DecodeContent([]byte(`{"type":"hologram","data":"aGk="}`))
	if err != nil {
		log.Fatal(err)
	}
	raw, err := json.Marshal(block)
	fmt.Printf("%T %s %v\n", block, raw, err)
	// Output: *mcp.UnknownContent {"type":"hologram","data":"aGk="} <nil>
}

func ExampleToolError() {
	result := mcp.ToolError("there is no flight on %s; the next one is on Friday", "Monday")
	raw, err := json.Marshal(result)
	fmt.Println(string(raw), err)
	// Output: {"content":[{"type":"text","text":"there is no flight on Monday; the next one is on Friday"}],"isError":true} <nil>
}

func ExampleParseRevision() {
	for _, name := range []string{"2025-11-25", "1999-12-31"} {
		r, known := mcp.ParseRevision(name)
		fmt.Printf("%q %t\n", r, known)
	}
	// Output:
	// "2025-11-25" true
	// "" false
}
