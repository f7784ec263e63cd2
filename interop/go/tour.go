package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// expected is what a tour expects of the reference server, and of servers beside it.
type expected struct {
	// Command starts what the client visits, and URL is where it is otherwise.
	Command  []string `json:"command"`
	URL      string   `json:"url"`
	Revision string   `json:"revision"`
	Name     string   `json:"name"`
	Server   struct {
		Calculate  tool   `json:"calculate"`
		Paced      tool   `json:"paced"`
		Checkout   tool   `json:"checkout"`
		Sampling   tool   `json:"sampling"`
		Others     []tool `json:"others"`
		Unknown    string `json:"unknownTool"`
		Resource   struct{ URI string }
		Prompt     prompt
		Completion struct{ Argument, Prefix, Includes string }
	} `json:"server"`
}

type tool struct {
	Column, Name, Text, Contains, Answer string
	Arguments                            map[string]any
	Questions                            int32
	Fails                                bool
}

type prompt struct {
	Name      string
	Arguments map[string]string
	Contains  []string
}

// limit is how long one check may take.
const limit = 30 * time.Second

// tour checks what it expects, and prints a line of JSON for each check.
func tour(ctx context.Context, e *expected) {
	t := &tourist{expected: e}
	if !t.check(ctx, "version", t.connect) {
		return
	}
	t.check(ctx, "tools", t.tools)
	t.check(ctx, "reference", func(ctx context.Context) error {
		return t.visit(ctx, &tool{Name: e.Server.Calculate.Name, Arguments: e.Server.Calculate.Arguments, Contains: e.Server.Calculate.Text})
	})
	t.check(ctx, "unknown", t.unknown)
	t.check(ctx, "read", t.read)
	t.check(ctx, "prompt", t.prompt)
	t.check(ctx, "complete", t.complete)
	t.check(ctx, "progress", t.progress)
	t.check(ctx, "elicit", t.elicit)
	t.check(ctx, "sample", t.sample)
	for i := range e.Server.Others {
		other := &e.Server.Others[i]
		t.check(ctx, other.Column, func(ctx context.Context) error { return t.visit(ctx, other) })
	}
	t.check(ctx, "close", func(context.Context) error { return t.session.Close() })
}

// tourist is a client on a tour.
type tourist struct {
	*expected

	session          *mcp.ClientSession
	elicited, worked atomic.Int32
	sampled          atomic.Value
}

// check makes one check and prints how it ended.
func (t *tourist) check(ctx context.Context, column string, run func(context.Context) error) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := run(ctx)
	outcome := map[string]any{"column": column, "passed": err == nil}
	if err != nil {
		outcome["text"] = err.Error()
	}
	_ = json.NewEncoder(os.Stdout).Encode(outcome)
	return err == nil
}

func (t *tourist) connect(context.Context) error {
	c := mcp.NewClient(&mcp.Implementation{Name: "official", Version: "1"}, &mcp.ClientOptions{
		CreateMessageHandler: func(_ context.Context, req *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			asked, _ := json.Marshal(req.Params)
			t.sampled.Store(string(asked))
			return &mcp.CreateMessageResult{Role: "assistant", Model: "interop", Content: &mcp.TextContent{Text: t.Server.Sampling.Answer}}, nil
		},
		ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			t.elicited.Add(1)
			return &mcp.ElicitResult{Action: "accept", Content: filled(req.Params.RequestedSchema)}, nil
		},
		ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { t.worked.Add(1) },
	})
	var err error
	// The connection lives longer than the check.
	t.session, err = c.Connect(context.Background(), t.transport(), &mcp.ClientSessionOptions{ProtocolVersion: t.Revision})
	if err != nil {
		return err
	}
	r := t.session.InitializeResult()
	if r.ProtocolVersion != t.Revision || r.ServerInfo.Name != t.Name {
		return fmt.Errorf("it speaks %s with %s", r.ProtocolVersion, r.ServerInfo.Name)
	}
	return nil
}

func (t *tourist) transport() mcp.Transport {
	switch {
	case t.URL == "":
		command := exec.Command(t.Command[0], t.Command[1:]...)
		command.Stderr = os.Stderr
		return &mcp.CommandTransport{Command: command}
	case strings.HasSuffix(t.URL, "/sse"):
		return &mcp.SSEClientTransport{Endpoint: t.URL}
	}
	return &mcp.StreamableClientTransport{Endpoint: t.URL}
}

func (t *tourist) tools(ctx context.Context) error {
	listed := map[string]bool{}
	for tool, err := range t.session.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		listed[tool.Name] = true
	}
	for _, want := range append(t.Server.Others, t.Server.Calculate, t.Server.Checkout) {
		if !listed[want.Name] && want.Column != "down" {
			return fmt.Errorf("no tool %s among %d", want.Name, len(listed))
		}
	}
	return nil
}

// visit calls a tool of which it is known what it answers.
func (t *tourist) visit(ctx context.Context, other *tool) error {
	text, failed := t.call(ctx, other, nil)
	if failed != other.Fails || !strings.Contains(text, other.Contains) {
		return fmt.Errorf("%s, failed %t: %s", other.Name, failed, text)
	}
	return nil
}

// call calls a tool and returns its texts, also those of an error.
func (t *tourist) call(ctx context.Context, called *tool, token any) (text string, failed bool) {
	params := &mcp.CallToolParams{Name: called.Name, Arguments: called.Arguments}
	if token != nil {
		params.SetProgressToken(token)
	}
	result, err := t.session.CallTool(ctx, params)
	if err != nil {
		return err.Error(), true
	}
	var texts strings.Builder
	for _, block := range result.Content {
		if t, ok := block.(*mcp.TextContent); ok {
			texts.WriteString(t.Text)
		}
	}
	return texts.String(), result.IsError
}

func (t *tourist) unknown(ctx context.Context) error {
	if text, failed := t.call(ctx, &tool{Name: t.Server.Unknown}, nil); !failed || !strings.Contains(text, t.Server.Unknown) {
		return fmt.Errorf("it says %s", text)
	}
	return nil
}

func (t *tourist) read(ctx context.Context) error {
	result, err := t.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: t.Server.Resource.URI})
	if err != nil {
		return err
	}
	if len(result.Contents) != 1 || !json.Valid([]byte(result.Contents[0].Text)) || result.Contents[0].URI != t.Server.Resource.URI {
		return fmt.Errorf("%d contents", len(result.Contents))
	}
	return nil
}

func (t *tourist) prompt(ctx context.Context) error {
	result, err := t.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: t.Server.Prompt.Name, Arguments: t.Server.Prompt.Arguments})
	if err != nil {
		return err
	}
	text, _ := json.Marshal(result.Messages)
	for _, part := range t.Server.Prompt.Contains {
		if !strings.Contains(string(text), part) {
			return fmt.Errorf("%q is missing in %s", part, text)
		}
	}
	return nil
}

func (t *tourist) complete(ctx context.Context) error {
	c := t.Server.Completion
	result, err := t.session.Complete(ctx, &mcp.CompleteParams{
		Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: t.Server.Prompt.Name},
		Argument: mcp.CompleteParamsArgument{Name: c.Argument, Value: c.Prefix},
	})
	if err != nil {
		return err
	}
	for _, value := range result.Completion.Values {
		if value == c.Includes {
			return nil
		}
	}
	return fmt.Errorf("%s is not among %v", c.Includes, result.Completion.Values)
}

func (t *tourist) progress(ctx context.Context) error {
	t.worked.Store(0)
	text, failed := t.call(ctx, &t.Server.Paced, "interop")
	if failed || t.worked.Load() < 2 {
		return fmt.Errorf("%d notifications of %s", t.worked.Load(), text)
	}
	return nil
}

func (t *tourist) elicit(ctx context.Context) error {
	t.elicited.Store(0)
	text, failed := t.call(ctx, &t.Server.Checkout, nil)
	if failed || t.elicited.Load() != t.Server.Checkout.Questions {
		return fmt.Errorf("asked %d times: %s", t.elicited.Load(), text)
	}
	return nil
}

func (t *tourist) sample(ctx context.Context) error {
	text, failed := t.call(ctx, &t.Server.Sampling, nil)
	if failed || t.sampled.Load() == nil || !strings.Contains(text, t.Server.Sampling.Answer) {
		return fmt.Errorf("asked %v: %s", t.sampled.Load(), text)
	}
	return nil
}

// filled fills a form as a willing user would.
func filled(schema any) map[string]any {
	raw, _ := json.Marshal(schema)
	var form struct {
		Properties map[string]struct {
			Type, Format string
			Enum         []any
			OneOf        []struct{ Const any }
			MinLength    int
		}
	}
	_ = json.Unmarshal(raw, &form)
	content := map[string]any{}
	for name, field := range form.Properties {
		switch {
		case len(field.Enum) > 0:
			content[name] = field.Enum[0]
		case len(field.OneOf) > 0:
			content[name] = field.OneOf[0].Const
		case field.Type == "boolean":
			content[name] = true
		case field.Type == "integer" || field.Type == "number":
			content[name] = 1
		case field.Format == "email":
			content[name] = "ada@example.com"
		default:
			content[name] = "Ada Lovelace" + strings.Repeat(".", max(0, field.MinLength-12))
		}
	}
	return content
}
