package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type numbers struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

type total struct {
	Sum float64 `json:"sum"`
}

type steps struct {
	Steps int `json:"steps,omitempty" jsonschema:"how far to count"`
}

type question struct {
	Question string `json:"question"`
}

type newNote struct {
	Note string `json:"note"`
}

var languages = []string{"pascal", "perl", "python", "ruby"}

func starting(values []string, prefix string) (found []string) {
	found = []string{}
	for _, value := range values {
		if strings.HasPrefix(value, prefix) {
			found = append(found, value)
		}
	}
	return found
}

func serveOfficial(way string) error {
	server := officialServer()
	switch way {
	case "stdio":
		return server.Run(context.Background(), &mcp.StdioTransport{})
	case "sse":
		handler := mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return server }, nil)
		return listen("/sse", http.NewCrossOriginProtection().Handler(handler))
	}
	mux := http.NewServeMux()
	// With sessions the SDK serves no 2026-07-28.
	options := &mcp.StreamableHTTPOptions{CrossOriginProtection: http.NewCrossOriginProtection(), Stateless: way == "stateless"}
	mux.Handle("/mcp", mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, options))
	return listen("/mcp", mux)
}

func said(format string, args ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

// officialServer writes its questions once, as results: to sessions the SDK sends requests instead.
func officialServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "innocent", Version: "1.0.0"}, &mcp.ServerOptions{
		CompletionHandler:  completeOfficial,
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	readOnly := &mcp.ToolAnnotations{ReadOnlyHint: true}
	mcp.AddTool(server, &mcp.Tool{Name: "add", Description: "Adds two numbers.", Annotations: readOnly},
		func(_ context.Context, _ *mcp.CallToolRequest, in numbers) (*mcp.CallToolResult, total, error) {
			return nil, total{in.A + in.B}, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "count", Description: "Counts slowly and reports its progress.", Annotations: readOnly}, countOfficial)
	mcp.AddTool(server, &mcp.Tool{Name: "ask", Description: "Asks the client's model.", Annotations: readOnly}, askOfficial)
	mcp.AddTool(server, &mcp.Tool{Name: "order", Description: "Asks the user what to order.", Annotations: readOnly}, orderOfficial)
	var lock sync.Mutex
	notes := "nothing yet"
	mcp.AddTool(server, &mcp.Tool{Name: "remember", Description: "Writes a note."},
		func(ctx context.Context, _ *mcp.CallToolRequest, in newNote) (*mcp.CallToolResult, any, error) {
			lock.Lock()
			notes = in.Note
			lock.Unlock()
			return said("noted"), nil, server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: "notes://today"})
		})
	contents := func(uri, text string) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: "text/plain", Text: text}}}, nil
	}
	server.AddResource(&mcp.Resource{URI: "notes://today", Name: "today", MIMEType: "text/plain"},
		func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			lock.Lock()
			defer lock.Unlock()
			return contents(req.Params.URI, notes)
		})
	server.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "notes://{day}/all", Name: "day", MIMEType: "text/plain"},
		func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return contents(req.Params.URI, "the notes of a day")
		})
	server.AddPrompt(&mcp.Prompt{
		Name: "review", Description: "Asks for a review",
		Arguments: []*mcp.PromptArgument{{Name: "code", Required: true}, {Name: "language", Required: true}},
	}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		text := fmt.Sprintf("Please review this %s: %s", req.Params.Arguments["language"], req.Params.Arguments["code"])
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}}}, nil
	})
	return server
}

func countOfficial(ctx context.Context, req *mcp.CallToolRequest, in steps) (*mcp.CallToolResult, any, error) {
	if in.Steps == 0 {
		in.Steps = 3
	}
	for step := 1; step <= in.Steps; step++ {
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
		if token := req.Params.GetProgressToken(); token != nil {
			progress := &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(step), Total: float64(in.Steps)}
			if err := req.Session.NotifyProgress(ctx, progress); err != nil {
				return nil, nil, err
			}
		}
	}
	// Without a level set by the client, the SDK sends nothing.
	err := req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Logger: "count", Data: map[string]any{"counted": in.Steps}})
	return said("counted to %d", in.Steps), nil, err
}

// declares is what the client says that it can do.
func declares(req *mcp.CallToolRequest) *mcp.ClientCapabilities {
	if can := req.ClientCapabilities(); can != nil {
		return can
	}
	return &mcp.ClientCapabilities{}
}

func askOfficial(_ context.Context, req *mcp.CallToolRequest, in question) (*mcp.CallToolResult, any, error) {
	if answer, isAnswer := req.Params.InputResponses["model"].(*mcp.CreateMessageWithToolsResult); isAnswer {
		return said("the model %s said %d contents", answer.Model, len(answer.Content)), nil, nil
	}
	if declares(req).Sampling == nil {
		return nil, nil, errors.New("the client has no model to ask")
	}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"model": &mcp.CreateMessageParams{
		Messages:  []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: in.Question}}},
		MaxTokens: 50,
	}}}, nil, nil
}

func orderOfficial(_ context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	if answer, isAnswer := req.Params.InputResponses["order"].(*mcp.ElicitResult); isAnswer {
		return said("%s %v", answer.Action, answer.Content), nil, nil
	}
	if can := declares(req).Elicitation; can == nil || can.Form == nil && can.URL != nil {
		return nil, nil, errors.New("the client has nobody to ask")
	}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"order": &mcp.ElicitParams{
		Message: "What do you want?",
		RequestedSchema: &jsonschema.Schema{
			Type:       "object",
			Properties: map[string]*jsonschema.Schema{"name": {Type: "string"}, "amount": {Type: "integer"}},
			Required:   []string{"name"},
		},
	}}}, nil, nil
}

func completeOfficial(_ context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	values := languages
	if req.Params.Ref.Type == "ref/resource" {
		values = []string{"monday", "tuesday"}
	}
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: starting(values, req.Params.Argument.Value)}}, nil
}
