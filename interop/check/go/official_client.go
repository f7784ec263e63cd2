package main

import (
	"context"
	"os"
	"os/exec"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type official struct{ session *mcp.ClientSession }

func connectOfficial(ctx context.Context, revision string, to place) (client, error) {
	o := &official{}
	relist := func(ctx context.Context, list func(context.Context) ([]feature, error)) {
		go func() { _, _ = list(ctx) }()
	} // ends with its request
	c := mcp.NewClient(&mcp.Implementation{Name: "innocent-client", Version: "1.0.0"}, &mcp.ClientOptions{
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: "assistant", Model: "innocent-model", StopReason: "endTurn", Content: &mcp.TextContent{Text: "x"}}, nil
		},
		ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			if req.Params.Mode == "url" {
				return &mcp.ElicitResult{Action: "accept"}, nil
			}
			content, _ := sample(req.Params.RequestedSchema).(map[string]any)
			return &mcp.ElicitResult{Action: "accept", Content: content}, nil
		},
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { relist(ctx, o.tools) },
		PromptListChangedHandler:    func(context.Context, *mcp.PromptListChangedRequest) { relist(ctx, o.prompts) },
		ResourceListChangedHandler:  func(context.Context, *mcp.ResourceListChangedRequest) { relist(ctx, o.resources) },
		ResourceUpdatedHandler:      func(context.Context, *mcp.ResourceUpdatedNotificationRequest) {},
		LoggingMessageHandler:       func(context.Context, *mcp.LoggingMessageRequest) {},
		ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) {},
	})
	c.AddRoots(&mcp.Root{URI: "file:///tmp", Name: "tmp"})
	options := &mcp.ClientSessionOptions{}
	if revision != "auto" {
		options.ProtocolVersion = revision
	}
	var err error
	o.session, err = c.Connect(ctx, officialTransport(to), options)
	if err == nil {
		c.AddRoots(&mcp.Root{URI: "file:///var", Name: "var"}) // tells a session that the roots have changed
	}
	return o, err
}

func officialTransport(to place) mcp.Transport {
	switch {
	case len(to.command) > 0:
		command := exec.Command(to.command[0], to.command[1:]...)
		command.Stderr = os.Stderr
		return &mcp.CommandTransport{Command: command}
	case strings.HasSuffix(to.url, "/sse"):
		return &mcp.SSEClientTransport{Endpoint: to.url}
	}
	return &mcp.StreamableClientTransport{Endpoint: to.url}
}

func (o *official) declared() any { return o.session.InitializeResult().Capabilities }

func (o *official) tools(ctx context.Context) (found []feature, err error) {
	for tool, err := range o.session.Tools(ctx, nil) {
		if err != nil {
			return found, err
		}
		found = append(found, feature{name: tool.Name, schema: tool.InputSchema})
	}
	return found, nil
}

func (o *official) resources(ctx context.Context) (found []feature, err error) {
	for resource, err := range o.session.Resources(ctx, nil) {
		if err != nil {
			return found, err
		}
		found = append(found, feature{name: resource.URI})
	}
	return found, nil
}

func (o *official) templates(ctx context.Context) (found []feature, err error) {
	for template, err := range o.session.ResourceTemplates(ctx, nil) {
		if err != nil {
			return found, err
		}
		found = append(found, feature{kind: "ref/resource", name: template.URITemplate})
	}
	return found, nil
}

func (o *official) prompts(ctx context.Context) (found []feature, err error) {
	for prompt, err := range o.session.Prompts(ctx, nil) {
		if err != nil {
			return found, err
		}
		f := feature{kind: "ref/prompt", name: prompt.Name}
		for _, argument := range prompt.Arguments {
			f.arguments = append(f.arguments, argument.Name)
		}
		found = append(found, f)
	}
	return found, nil
}

func (o *official) call(ctx context.Context, name string, args any) error {
	params := &mcp.CallToolParams{Name: name, Arguments: args}
	params.SetProgressToken("progress of " + name)
	_, err := o.session.CallTool(ctx, params)
	return err
}

func (o *official) read(ctx context.Context, uri string) error {
	_, err := o.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
	return err
}

func (o *official) prompt(ctx context.Context, name string, args map[string]string) error {
	_, err := o.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: args})
	return err
}

func (o *official) complete(ctx context.Context, f feature, argument, value string) error {
	ref := &mcp.CompleteReference{Type: f.kind, Name: f.name}
	if f.kind == "ref/resource" {
		ref = &mcp.CompleteReference{Type: f.kind, URI: f.name}
	}
	_, err := o.session.Complete(ctx, &mcp.CompleteParams{Ref: ref, Argument: mcp.CompleteParamsArgument{Name: argument, Value: value}})
	return err
}

func (o *official) subscribe(ctx context.Context, uri string) error {
	return o.session.Subscribe(ctx, &mcp.SubscribeParams{URI: uri})
}

func (o *official) unsubscribe(ctx context.Context, uri string) error {
	return o.session.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: uri})
}

// stateless reports whether the revision has neither pings nor levels of a session,
// which the SDK would send all the same.
func (o *official) stateless() bool { return o.session.InitializeResult().ProtocolVersion >= "2026" }

func (o *official) setLevel(ctx context.Context) error {
	if o.stateless() {
		return nil
	}
	return o.session.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: "debug"})
}

func (o *official) ping(ctx context.Context) error {
	if o.stateless() {
		return nil
	}
	return o.session.Ping(ctx, nil)
}

func (o *official) close() error { return o.session.Close() }
