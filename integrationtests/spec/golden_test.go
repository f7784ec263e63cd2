package spec_test

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/check/schemas"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// everything uses every feature, and its descriptions and results have every
// member of the newest revision: what an older revision lacks must not reach
// its wire.
func everything() *server.Server {
	icons := []mcp.Icon{{Src: "https://example.com/i.png", MIMEType: "image/png", Sizes: []string{"48x48"}, Theme: "dark"}}
	meta := mcp.Meta{"com.example/k": json.RawMessage(`1`)}
	priority := 0.5
	size := int64(5)
	notes := &mcp.Annotations{Audience: []mcp.Role{mcp.RoleUser}, Priority: &priority, LastModified: "2025-01-12T15:00:58Z"}
	s := server.New(mcp.Implementation{Name: "everything", Title: "Everything", Version: "1", Description: "d", Icons: icons, WebsiteURL: "https://example.com"}, &server.Options{
		Logger: mcptest.Quiet(), Instructions: "use it", Logging: true, Subscriptions: true, PageSize: 2,
		Extensions: map[string]any{"com.example/x": map[string]any{"a": 1}},
	})
	addContentTools(s, icons, meta, notes, &size)
	addAskingTools(s)
	s.AddResource(mcp.Resource{URI: "test://a", Name: "a", Title: "A", Description: "d", MIMEType: "text/plain", Size: &size, Icons: icons, Annotations: notes, Meta: meta},
		func(_ context.Context, _ *server.Call, uri string) (*mcp.ReadResourceResult, error) {
			c := mcp.TextResource(uri, "text/plain", "hello")
			c.Meta = meta
			return server.Contents(c, mcp.BlobResource(uri+"/b", "image/png", []byte{1, 2, 3})), nil
		})
	server.AddTemplate(s, mcp.ResourceTemplate{URITemplate: "test://t/{name}", Name: "t", Title: "T", Icons: icons, Annotations: notes, Meta: meta},
		func(_ context.Context, _ *server.Call, uri string, vars map[string]string) (*mcp.ReadResourceResult, error) {
			if vars["name"] == "none" {
				return nil, &mcp.ResourceNotFoundError{URI: uri}
			}
			return server.Contents(mcp.TextResource(uri, "text/plain", vars["name"])), nil
		})
	s.CompleteTemplate("test://t/{name}", "name", server.CompleteFrom("ann", "bob"))
	s.AddRawPrompt(mcp.Prompt{Name: "p", Title: "P", Description: "d", Icons: icons, Meta: meta, Arguments: []*mcp.PromptArgument{{Name: "x", Title: "X", Required: true}}},
		func(_ context.Context, _ *server.Call, args map[string]string) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Description: "d", Messages: []*mcp.PromptMessage{
				mcp.UserMessage(&mcp.TextContent{Text: args["x"], Annotations: notes, Meta: meta}),
				mcp.AssistantMessage(&mcp.ResourceLink{URI: "test://a", Name: "a", Title: "A", Icons: icons}),
				mcp.UserMessage(&mcp.AudioContent{Data: []byte{1}, MIMEType: "audio/wav"}),
			}}, nil
		})
	s.CompletePrompt("p", "x", server.CompleteFrom("one", "two"))
	return s
}

func addContentTools(s *server.Server, icons []mcp.Icon, meta mcp.Meta, notes *mcp.Annotations, size *int64) {
	yes := true
	s.AddRawTool(mcp.Tool{
		Name: "all", Title: "All", Description: "d", InputSchema: json.RawMessage(`{"type":"object"}`), OutputSchema: json.RawMessage(`{"type":"object"}`),
		Annotations: &mcp.ToolAnnotations{Title: "t", ReadOnlyHint: true, DestructiveHint: &yes}, Icons: icons, Meta: meta,
	}, func(_ context.Context, _ *server.Call, _ json.RawMessage) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{
			Content: mcp.Contents{
				&mcp.TextContent{Text: "text", Annotations: notes, Meta: meta},
				&mcp.ImageContent{Data: []byte{1}, MIMEType: "image/png", Annotations: notes, Meta: meta},
				&mcp.AudioContent{Data: []byte{1}, MIMEType: "audio/wav", Annotations: notes, Meta: meta},
				&mcp.ResourceLink{URI: "test://a", Name: "a", Title: "A", Description: "d", Size: size, Icons: icons, Annotations: notes, Meta: meta},
				&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "test://a", Blob: []byte{1}, Meta: meta}, Annotations: notes, Meta: meta},
			},
			StructuredContent: json.RawMessage(`{"a":1}`),
			ResultFields:      mcp.ResultFields{Meta: meta},
		}, nil
	})
	server.AddTool(s, mcp.Tool{Name: "list"}, func(context.Context, *server.Call, struct{}) ([]int, error) { return []int{1, 2}, nil })
	server.AddTool(s, mcp.Tool{Name: "fail"}, func(context.Context, *server.Call, struct{}) (string, error) { return "", os.ErrInvalid })
	server.AddTool(s, mcp.Tool{Name: "talk"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		call.Progress(ctx, 1, 2, "half")
		call.Log(ctx, mcp.LevelError, map[string]string{"a": "b"})
		call.Progress(ctx, 2, 2, "whole")
		return "done", nil
	})
}

type askForm struct {
	Name  string   `json:"name" title:"Name" description:"who" minLength:"1" default:"Ann"`
	Age   int      `json:"age" minimum:"0" default:"3"`
	Yes   bool     `json:"yes" default:"true"`
	Color string   `json:"color" enum:"r,g" enumTitles:"Red,Green" default:"g"`
	Many  []string `json:"many,omitempty" enum:"a,b"`
}

type plainForm struct {
	Name string `json:"name" description:"who"`
}

func addAskingTools(s *server.Server) {
	server.AddTool(s, mcp.Tool{Name: "ask"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		a, err := server.Elicit[plainForm](ctx, call, "plain", "Who?")
		if err != nil {
			return "", err
		}
		b, err := server.Elicit[askForm](ctx, call, "rich", "What?")
		if err != nil {
			return "", err
		}
		return a.Name + b.Color, nil
	})
	server.AddTool(s, mcp.Tool{Name: "visit"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		visit, err := call.Visit(ctx, "u")
		if err != nil {
			return "", err
		}
		if err := visit.Ask(ctx, "Go there", "https://example.com/x"); err != nil {
			return "", err
		}
		return "visited", visit.Over(ctx)
	})
	server.AddTool(s, mcp.Tool{Name: "think"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		temperature := 0.5
		r, err := server.Sample(ctx, call, "s", &mcp.CreateMessageParams{
			Messages:       []*mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.OneOrMany{mcp.Text("a"), &mcp.AudioContent{Data: []byte{1}, MIMEType: "audio/wav"}}}},
			SystemPrompt:   "s",
			IncludeContext: "allServers",
			Temperature:    &temperature,
			MaxTokens:      10,
			ModelPreferences: &mcp.ModelPreferences{
				Hints: []mcp.ModelHint{{Name: "m"}}, CostPriority: &temperature,
			},
		})
		if err != nil {
			return "", err
		}
		return r.Text(), nil
	})
	server.AddTool(s, mcp.Tool{Name: "roots"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		roots, err := server.Roots(ctx, call)
		if err != nil {
			return "", err
		}
		return roots[0].URI, nil
	})
}

func answering() *client.Options {
	return &client.Options{
		Info: mcp.Implementation{Name: "golden", Title: "Golden", Version: "1", Description: "d", WebsiteURL: "https://example.com", Icons: []mcp.Icon{{Src: "https://example.com/i.png"}}},
		Elicit: func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			if string(p.RequestedSchema) != "" && p.Message == "Who?" {
				return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: json.RawMessage(`{"name":"Bob"}`)}, nil
			}
			return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: json.RawMessage(`{"name":"Bob","age":4,"yes":true,"color":"r"}`)}, nil
		},
		VisitURL: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: mcp.ActionAccept}, nil
		},
		Sample: func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Content: mcp.OneOrMany{mcp.Text("x"), mcp.Text("y")}, Model: "m", StopReason: "endTurn"}, nil
		},
		SampleTools: true,
		Roots:       []*mcp.Root{{URI: "file:///tmp", Name: "tmp", Meta: mcp.Meta{"com.example/k": json.RawMessage(`1`)}}},
		LogLevel:    mcp.LevelDebug,
		Log:         func(context.Context, *mcp.LogParams) {},
		Extensions:  map[string]any{"com.example/x": map[string]any{}},
		NoCache:     true,
	}
}

// Every message that client and server exchange is valid for the official
// schema of the revision in use, and has no member that the revision lacks.
func TestEveryMessageIsValidForItsRevision(t *testing.T) {
	for _, m := range mcptest.AllModes() {
		t.Run(m.String(), func(t *testing.T) {
			schema, err := schemas.Of(m.Revision.String())
			if err != nil {
				t.Fatal(err)
			}
			checker := schemas.NewRecorder(schema)
			for _, f := range conversation(t, m).Frames() {
				if err := checker.Frame(f.FromClient, f.JSON); err != nil {
					t.Errorf("%v\nin %s", err, f.JSON)
				}
			}
			if checker.Frames() < 40 {
				t.Errorf("only %d messages were seen", checker.Frames())
			}
		})
	}
}

// conversation records everything that the client and server of everything
// exchange in a mode.
func conversation(t *testing.T, m mcptest.Mode) *mcptest.Recorder {
	t.Helper()
	said := new(mcptest.Recorder)
	t.Run("conversation", func(t *testing.T) { // client and server end with it
		srv := everything()
		tour(t, said.Connect(t, srv, m, answering()), srv)
	})
	return said
}

// tour uses everything once, correctly and incorrectly.
func tour(t *testing.T, c *client.Client, srv *server.Server) {
	t.Helper()
	ctx := t.Context()
	tools, err := client.Collect(c.Tools(ctx))
	check(t, "tools", err)
	if len(tools) != 8 {
		t.Errorf("%d tools, want 8", len(tools))
	}
	_, err = client.Collect(c.Resources(ctx))
	check(t, "resources", err)
	_, err = client.Collect(c.ResourceTemplates(ctx))
	check(t, "templates", err)
	_, err = client.Collect(c.Prompts(ctx))
	check(t, "prompts", err)
	for _, name := range []string{"all", "list", "fail", "talk", "think", "roots"} {
		_, err := c.CallTool(ctx, name, nil, client.WithProgress(func(*mcp.ProgressParams) {}), client.WithMeta(mcp.MetaTraceParent, "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"))
		check(t, name, err)
	}
	for _, name := range []string{"ask", "visit", "nope"} {
		_, _ = c.CallTool(ctx, name, nil) // older revisions cannot ask; but what is sent has to be valid
	}
	_, err = c.ReadResource(ctx, "test://a")
	check(t, "read", err)
	_, err = c.ReadResource(ctx, "test://t/none")
	if err == nil {
		t.Error("read of a missing resource gave no error")
	}
	_, err = c.GetPrompt(ctx, "p", map[string]string{"x": "y"})
	check(t, "prompt", err)
	if _, err = c.GetPrompt(ctx, "p", nil); err == nil {
		t.Error("a missing argument gave no error")
	}
	_, err = c.CompletePrompt(ctx, "p", "x", "o", map[string]string{"y": "z"})
	check(t, "complete", err)
	_, err = c.CompleteTemplate(ctx, "test://t/{name}", "name", "a", nil)
	check(t, "complete template", err)
	check(t, "ping", c.Ping(ctx))
	check(t, "level", c.SetLogLevel(ctx, mcp.LevelWarning))
	check(t, "roots", c.SetRoots(ctx, []*mcp.Root{{URI: "file:///x"}}))
	watch(t, c, srv)
	short, cancel := context.WithTimeout(ctx, time.Nanosecond)
	defer cancel()
	_, _ = c.CallTool(short, "talk", nil) // too late before it is sent, or cancelled: either is fine here
}

// watch changes everything that can be watched, and waits for each
// notification.
func watch(t *testing.T, c *client.Client, srv *server.Server) {
	t.Helper()
	filter := mcp.SubscriptionFilter{ToolsListChanged: true, PromptsListChanged: true, ResourcesListChanged: true, ResourceSubscriptions: []string{"test://a"}}
	events := make(chan client.Event, 16)
	sub, err := c.Listen(t.Context(), filter, func(_ context.Context, e client.Event) { events <- e })
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	server.AddTool(srv, mcp.Tool{Name: "new"}, func(context.Context, *server.Call, struct{}) (string, error) { return "", nil })
	srv.RemovePrompts("p")
	srv.RemoveResources("test://a")
	srv.ResourceUpdated("test://a")
	want := []mcp.Change{{Kind: mcp.ToolsChanged}, {Kind: mcp.PromptsChanged}, {Kind: mcp.ResourcesChanged}, {Kind: mcp.ResourceUpdated, URI: "test://a"}}
	for len(want) > 0 {
		e := <-events
		want = slices.DeleteFunc(want, func(c mcp.Change) bool { return c == e.Change })
	}
	check(t, "close", sub.Close())
}

func check(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
}
