package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func serveMark3labs(way string) error {
	s := mark3labsServer()
	switch way {
	case "stdio":
		return server.ServeStdio(s)
	case "sse":
		return listen("/sse", server.NewSSEServer(s))
	}
	return listen("/mcp", server.NewStreamableHTTPServer(s))
}

type completions struct{}

func (completions) CompletePromptArgument(_ context.Context, _ string, argument mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	return &mcp.Completion{Values: starting(languages, argument.Value)}, nil
}

func (completions) CompleteResourceArgument(_ context.Context, _ string, argument mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	return &mcp.Completion{Values: starting([]string{"monday", "tuesday"}, argument.Value)}, nil
}

// mark3labsServer writes its questions once, as results: to sessions the SDK sends requests instead.
func mark3labsServer() *server.MCPServer {
	s := server.NewMCPServer("innocent", "1.0.0",
		server.WithToolCapabilities(true), server.WithResourceCapabilities(true, true), server.WithPromptCapabilities(true),
		server.WithLogging(), server.WithElicitation(), server.WithCompletions(),
		server.WithInputSchemaValidation(), server.WithOutputSchemaValidation(),
		server.WithPromptCompletionProvider(completions{}), server.WithResourceCompletionProvider(completions{}))
	s.EnableSampling()
	tool := func(name, description string, options ...mcp.ToolOption) mcp.Tool {
		return mcp.NewTool(name, append([]mcp.ToolOption{mcp.WithDescription(description)}, options...)...)
	}
	readOnly := func(t *mcp.Tool) {
		mcp.WithReadOnlyHintAnnotation(true)(t)
		mcp.WithDestructiveHintAnnotation(false)(t)
	}
	s.AddTool(tool("add", "Adds two numbers.", readOnly, mcp.WithNumber("a", mcp.Required()), mcp.WithNumber("b", mcp.Required()), mcp.WithOutputSchema[total]()),
		mcp.NewStructuredToolHandler(func(_ context.Context, _ mcp.CallToolRequest, in numbers) (total, error) {
			return total{in.A + in.B}, nil
		}))
	s.AddTool(tool("count", "Counts slowly and reports its progress.", readOnly, mcp.WithInteger("steps", mcp.DefaultNumber(3), mcp.Min(1), mcp.Max(50))), countMark3labs)
	s.AddTool(tool("ask", "Asks the client's model.", readOnly, mcp.WithString("question", mcp.Required())), askMark3labs)
	s.AddTool(tool("order", "Asks the user what to order.", readOnly), orderMark3labs)
	var lock sync.Mutex
	notes := "nothing yet"
	s.AddTool(tool("remember", "Writes a note.", mcp.WithString("note", mcp.Required())),
		func(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			lock.Lock()
			notes = req.GetString("note", "")
			lock.Unlock()
			s.SendNotificationToAllClients(mcp.MethodNotificationResourceUpdated, map[string]any{"uri": "notes://today"})
			return mcp.NewToolResultText("noted"), nil
		})
	contents := func(uri, text string) []mcp.ResourceContents {
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, MIMEType: "text/plain", Text: text}}
	}
	s.AddResource(mcp.NewResource("notes://today", "today", mcp.WithMIMEType("text/plain")),
		func(_ context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			lock.Lock()
			defer lock.Unlock()
			return contents(req.Params.URI, notes), nil
		})
	s.AddResourceTemplate(mcp.NewResourceTemplate("notes://{day}/all", "day", mcp.WithTemplateMIMEType("text/plain")),
		func(_ context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return contents(req.Params.URI, "the notes of a day"), nil
		})
	s.AddPrompt(mcp.NewPrompt("review", mcp.WithPromptDescription("Asks for a review"),
		mcp.WithArgument("code", mcp.RequiredArgument()), mcp.WithArgument("language", mcp.RequiredArgument())),
		func(_ context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			text := fmt.Sprintf("Please review this %s: %s", req.Params.Arguments["language"], req.Params.Arguments["code"])
			return mcp.NewGetPromptResult("a review", []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(text))}), nil
		})
	return s
}

func countMark3labs(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	to := req.GetInt("steps", 3)
	s := server.ServerFromContext(ctx)
	for step := 1; step <= to; step++ {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
		if req.Params.Meta != nil && req.Params.Meta.ProgressToken != nil {
			progress := map[string]any{"progress": step, "total": to, "progressToken": req.Params.Meta.ProgressToken}
			if err := s.SendNotificationToClient(ctx, "notifications/progress", progress); err != nil {
				return nil, err
			}
		}
	}
	// It fails for a client that wants no logs, which is no fault of the call.
	_ = s.SendLogMessageToClient(ctx, mcp.NewLoggingMessageNotification(mcp.LoggingLevelInfo, "count", map[string]any{"counted": to}))
	return mcp.NewToolResultText(fmt.Sprintf("counted to %d", to)), nil
}

// declared is what the client says that it can do: with the request, or once.
func declared(ctx context.Context) mcp.ClientCapabilities {
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.Modern {
		if info.ClientCapabilities == nil {
			return mcp.ClientCapabilities{}
		}
		return *info.ClientCapabilities
	}
	if session, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo); ok {
		return session.GetClientCapabilities()
	}
	return mcp.ClientCapabilities{}
}

func askMark3labs(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if answer := server.SamplingResponse(req.Params.InputResponses, "model"); answer != nil {
		return mcp.NewToolResultText(fmt.Sprintf("the model %s said %v", answer.Model, answer.Content)), nil
	}
	if declared(ctx).Sampling == nil {
		return mcp.NewToolResultError("the client has no model to ask"), nil
	}
	return server.NewInputRequestBuilder("asked").Sample("model", mcp.CreateMessageParams{
		Messages:  []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.NewTextContent(req.GetString("question", ""))}},
		MaxTokens: 50,
	}).ToolResult(), nil
}

func orderMark3labs(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if answer := server.ElicitationResponse(req.Params.InputResponses, "order"); answer != nil {
		return mcp.NewToolResultText(fmt.Sprintf("%s %v", answer.Action, answer.Content)), nil
	}
	if can := declared(ctx).Elicitation; can == nil || can.Form == nil && can.URL != nil {
		return mcp.NewToolResultError("the client has nobody to ask"), nil
	}
	return server.NewInputRequestBuilder("asked").Elicit("order", mcp.ElicitationParams{
		Mode:    mcp.ElicitationModeForm,
		Message: "What do you want?",
		RequestedSchema: map[string]any{
			"type":       "object",
			"properties": map[string]any{"name": map[string]any{"type": "string"}, "amount": map[string]any{"type": "integer"}},
			"required":   []string{"name"},
		},
	}).ToolResult(), nil
}
