package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	mark3labs "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

type mark struct {
	*mark3labs.Client
	stop func() // ends the subscription of the stateless era
}

type willing struct{}

func (willing) CreateMessage(context.Context, mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	message := mcp.SamplingMessage{Role: mcp.RoleAssistant, Content: mcp.NewTextContent("x")}
	return &mcp.CreateMessageResult{SamplingMessage: message, Model: "innocent-model", StopReason: "endTurn"}, nil
}

func (willing) Elicit(_ context.Context, req mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	answer := mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionAccept}
	if req.Params.Mode != mcp.ElicitationModeURL {
		answer.Content = sample(req.Params.RequestedSchema)
	}
	return &mcp.ElicitationResult{ElicitationResponse: answer}, nil
}

func (willing) ListRoots(context.Context, mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	return &mcp.ListRootsResult{Roots: []mcp.Root{{URI: "file:///tmp", Name: "tmp"}}}, nil
}

func connectMark3labs(ctx context.Context, revision string, to place) (client, error) {
	way, err := mark3labsTransport(to, revision)
	if err != nil {
		return nil, err
	}
	options := []mark3labs.ClientOption{
		mark3labs.WithSamplingHandler(willing{}), mark3labs.WithElicitationHandler(willing{}), mark3labs.WithRootsHandler(willing{}),
	}
	if revision != "auto" {
		options = append(options, mark3labs.WithProtocolVersion(revision))
	}
	m := &mark{Client: mark3labs.NewClient(way, options...), stop: func() {}}
	m.OnNotification(m.notified)
	if err := m.Start(ctx); err != nil {
		return nil, err
	}
	var request mcp.InitializeRequest
	request.Params.ClientInfo = mcp.Implementation{Name: "innocent-client", Version: "1.0.0"}
	if _, err := m.Initialize(ctx, request); err != nil {
		return nil, err
	}
	if !mcp.IsModernProtocol(m.ProtocolVersion()) {
		if err := m.RootListChanges(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "roots changed:", err)
		}
	}
	return m, nil
}

func mark3labsTransport(to place, revision string) (transport.Interface, error) {
	switch {
	case len(to.command) > 0:
		return transport.NewStdio(to.command[0], nil, to.command[1:]...), nil
	case strings.HasSuffix(to.url, "/sse"):
		return transport.NewSSE(to.url)
	case revision == "auto" || mcp.IsModernProtocol(revision):
		return transport.NewStreamableHTTP(to.url)
	}
	return transport.NewStreamableHTTP(to.url, transport.WithContinuousListening())
}

// notified fetches a list again when it has changed, as hosts do.
func (m *mark) notified(n mcp.JSONRPCNotification) {
	ctx, stop := context.WithTimeout(context.Background(), each)
	relist := func(list func(context.Context) ([]feature, error)) {
		go func() { // ends with its request
			defer stop()
			_, _ = list(ctx)
		}()
	}
	switch n.Method {
	case "notifications/tools/list_changed":
		relist(m.tools)
	case "notifications/resources/list_changed":
		relist(m.resources)
	case "notifications/prompts/list_changed":
		relist(m.prompts)
	default:
		stop()
	}
}

func (m *mark) declared() any { return m.GetServerCapabilities() }

func (m *mark) tools(ctx context.Context) (found []feature, err error) {
	result, err := m.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return nil, err
	}
	for _, tool := range result.Tools {
		text, _ := json.Marshal(tool)
		var decoded struct{ InputSchema any }
		_ = json.Unmarshal(text, &decoded)
		found = append(found, feature{name: tool.Name, schema: decoded.InputSchema})
	}
	return found, nil
}

func (m *mark) resources(ctx context.Context) (found []feature, err error) {
	result, err := m.ListResources(ctx, mcp.ListResourcesRequest{})
	if err != nil {
		return nil, err
	}
	for _, resource := range result.Resources {
		found = append(found, feature{name: resource.URI})
	}
	return found, nil
}

func (m *mark) templates(ctx context.Context) (found []feature, err error) {
	result, err := m.ListResourceTemplates(ctx, mcp.ListResourceTemplatesRequest{})
	if err != nil {
		return nil, err
	}
	for _, template := range result.ResourceTemplates {
		found = append(found, feature{kind: "ref/resource", name: template.URITemplate.Raw()})
	}
	return found, nil
}

func (m *mark) prompts(ctx context.Context) (found []feature, err error) {
	result, err := m.ListPrompts(ctx, mcp.ListPromptsRequest{})
	if err != nil {
		return nil, err
	}
	for _, prompt := range result.Prompts {
		f := feature{kind: "ref/prompt", name: prompt.Name}
		for _, argument := range prompt.Arguments {
			f.arguments = append(f.arguments, argument.Name)
		}
		found = append(found, f)
	}
	return found, nil
}

func (m *mark) call(ctx context.Context, name string, args any) error {
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = name, args
	request.Params.Meta = &mcp.Meta{ProgressToken: "progress of " + name}
	_, err := m.CallTool(ctx, request)
	return err
}

func (m *mark) read(ctx context.Context, uri string) error {
	var request mcp.ReadResourceRequest
	request.Params.URI = uri
	_, err := m.ReadResource(ctx, request)
	return err
}

func (m *mark) prompt(ctx context.Context, name string, args map[string]string) error {
	var request mcp.GetPromptRequest
	request.Params.Name, request.Params.Arguments = name, args
	_, err := m.GetPrompt(ctx, request)
	return err
}

func (m *mark) complete(ctx context.Context, f feature, argument, value string) error {
	var request mcp.CompleteRequest
	request.Params.Ref = mcp.PromptReference{Type: f.kind, Name: f.name}
	if f.kind == "ref/resource" {
		request.Params.Ref = mcp.ResourceReference{Type: f.kind, URI: f.name}
	}
	request.Params.Argument = mcp.CompleteArgument{Name: argument, Value: value}
	_, err := m.Complete(ctx, request)
	return err
}

func (m *mark) subscribe(ctx context.Context, uri string) error {
	if mcp.IsModernProtocol(m.ProtocolVersion()) {
		// The stream outlives this request, and ends in unsubscribe.
		stop, err := m.ListenAsync(context.WithoutCancel(ctx), mcp.SubscriptionFilter{ResourceSubscriptions: []string{uri}}, nil)
		if err == nil {
			m.stop = stop
		}
		return err
	}
	var request mcp.SubscribeRequest
	request.Params.URI = uri
	return m.Subscribe(ctx, request)
}

func (m *mark) unsubscribe(ctx context.Context, uri string) error {
	if mcp.IsModernProtocol(m.ProtocolVersion()) {
		m.stop()
		return nil
	}
	var request mcp.UnsubscribeRequest
	request.Params.URI = uri
	return m.Unsubscribe(ctx, request)
}

func (m *mark) setLevel(ctx context.Context) error {
	var request mcp.SetLevelRequest
	request.Params.Level = mcp.LoggingLevelDebug
	return m.SetLevel(ctx, request)
}

func (m *mark) ping(ctx context.Context) error { return m.Ping(ctx) }

func (m *mark) close() error { return m.Close() }
