package specimen

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/check/sample"
	"github.com/parley-mcp/parley/mcp"
)

// Use does with a server whatever a client can do with it: it lists everything,
// calls each tool, reads each resource, gets each prompt, completes, listens for
// changes, answers questions, and closes. What fails is passed over: the
// server may be one that fails. The error says why there was no conversation.
// options may be nil; what a client answers and hears is set by Use.
func Use(ctx context.Context, t mcp.Transport, options *client.Options) error {
	u := &user{}
	o := client.Options{}
	if options != nil {
		o = *options
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Timeout == 0 {
		o.Timeout = 2 * time.Second
	}
	if o.MaxTimeout == 0 {
		o.MaxTimeout = 5 * time.Second
	}
	o.Info = mcp.Implementation{Name: "specimen", Title: "Specimen", Version: "1.0.0"}
	o.Elicit, o.VisitURL, o.Sample = u.fill, u.visit, u.say
	o.SampleTools, o.AnswerAsTasks = true, true
	o.Roots = []*mcp.Root{{URI: "file:///tmp/specimen", Name: "specimen"}}
	o.LogLevel, o.Log = mcp.LevelInfo, func(context.Context, *mcp.LogParams) {}
	o.MaxListPages = 20
	c, err := client.Connect(ctx, t, &o)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // what matters has been said
	u.client = c
	u.use(ctx)
	return c.Err()
}

// user is somebody who tries everything.
type user struct {
	client *client.Client
}

// linger is how long the user waits at the end for what the server still has to
// say.
const linger = 3 * time.Second

func (u *user) use(ctx context.Context) {
	tools, _ := client.Collect(u.client.Tools(ctx)) // as far as it goes, like all that follows
	resources, _ := client.Collect(u.client.Resources(ctx))
	templates, _ := client.Collect(u.client.ResourceTemplates(ctx))
	prompts, _ := client.Collect(u.client.Prompts(ctx))
	if heard := u.listen(ctx, resources); heard != nil {
		defer func() { _ = heard.Close() }()
	}
	for _, tool := range tools {
		u.call(ctx, tool)
	}
	var both sync.WaitGroup
	for _, tool := range tools[:min(2, len(tools))] {
		both.Go(func() { u.call(ctx, tool) }) // ends within the limits of a call
	}
	both.Wait()
	for _, r := range resources {
		_, _ = u.client.ReadResource(ctx, r.URI)
	}
	for range templates {
		_, _ = u.client.ReadResource(ctx, "test://item/apple")
	}
	for _, p := range prompts {
		u.prompt(ctx, p)
	}
	for _, t := range templates {
		_, _ = u.client.CompleteTemplate(ctx, t.URITemplate, "name", "a", nil)
	}
	u.tasks(ctx, tools)
	_ = u.client.SetLogLevel(ctx, mcp.LevelDebug)
	_ = u.client.Ping(ctx)
	_ = u.client.SetRoots(ctx, []*mcp.Root{{URI: "file:///tmp/specimen/other"}})
	for range 2 {
		_, _ = client.Collect(u.client.Tools(ctx))
		_, _ = client.Collect(u.client.Prompts(ctx))
		_, _ = client.Collect(u.client.Resources(ctx))
		if len(resources) > 0 {
			_, _ = u.client.ReadResource(ctx, resources[len(resources)-1].URI)
		}
	}
	select {
	case <-time.NewTimer(linger).C:
	case <-ctx.Done():
	}
}

func (u *user) listen(ctx context.Context, resources []*mcp.Resource) *client.Subscription {
	filter := mcp.SubscriptionFilter{ToolsListChanged: true, PromptsListChanged: true, ResourcesListChanged: true}
	if len(resources) > 0 {
		filter.ResourceSubscriptions = []string{resources[0].URI}
	}
	heard, err := u.client.Listen(ctx, filter, func(context.Context, client.Event) {})
	if err != nil {
		return nil
	}
	return heard
}

func (u *user) call(ctx context.Context, tool *mcp.Tool) {
	arguments := json.RawMessage("{}")
	if m, err := sample.New(tool.InputSchema); err == nil {
		if v, err := m.Value(false); err == nil {
			arguments = v
		}
	}
	_, _ = u.client.CallTool(ctx, tool.Name, arguments, client.WithProgress(func(*mcp.ProgressParams) {}))
}

// tasks starts a task where it has the choice, gives it up, asks for it all the same,
// and lists the tasks that the server has.
func (u *user) tasks(ctx context.Context, tools []*mcp.Tool) {
	for _, tool := range tools {
		if tool.Execution == nil || tool.Execution.TaskSupport != mcp.TaskOptional {
			continue
		}
		if task, err := u.client.StartTask(ctx, tool.Name, json.RawMessage("{}")); err == nil {
			_ = task.Cancel(ctx)
			_, _ = task.Status(ctx)
		}
		_, _ = client.Collect(u.client.Tasks(ctx))
	}
}

func (u *user) prompt(ctx context.Context, p *mcp.Prompt) {
	arguments := map[string]string{}
	for _, a := range p.Arguments {
		arguments[a.Name] = "example"
		_, _ = u.client.CompletePrompt(ctx, p.Name, a.Name, "a", nil)
	}
	_, _ = u.client.GetPrompt(ctx, p.Name, arguments)
}

// fill fills in a form.
func (*user) fill(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	content, err := sample.Answer(p.RequestedSchema)
	if err != nil {
		return &mcp.ElicitResult{Action: "cancel"}, nil //nolint:nilerr // a user gives up on a form that makes no sense
	}
	return client.CheckForm(p, &mcp.ElicitResult{Action: "accept", Content: content})
}

func (*user) visit(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	return &mcp.ElicitResult{Action: "accept"}, nil
}

// say is the user's model: it uses a tool if it must.
func (*user) say(ctx context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
	if p.ToolChoice != nil && p.ToolChoice.Mode == "required" && len(p.Tools) > 0 {
		use := &mcp.ToolUseContent{ID: "use-1", Name: p.Tools[0].Name, Input: json.RawMessage("{}")}
		return &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Model: "specimen", StopReason: "toolUse", Content: mcp.OneOrMany{use}}, nil
	}
	if text, ok := p.Messages[0].Content[0].(*mcp.TextContent); ok && strings.Contains(text.Text, "slowly") {
		select {
		case <-time.NewTimer(200 * time.Millisecond).C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return &mcp.CreateMessageResult{
		Role: mcp.RoleAssistant, Model: "specimen", StopReason: "endTurn", Content: mcp.OneOrMany{mcp.Text("something")},
	}, nil
}
