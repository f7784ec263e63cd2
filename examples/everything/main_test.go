package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/parley-mcp/parley/apps"
	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// options are those of a client that answers everything.
func options() *client.Options {
	return &client.Options{
		Elicit: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: json.RawMessage(`{"name":"Ann"}`)}, nil
		},
		VisitURL: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: mcp.ActionAccept}, nil
		},
		Sample: func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Model: "m", Content: mcp.OneOrMany{mcp.Text("Knock, knock.")}}, nil
		},
		Roots:      []*mcp.Root{{URI: "file:///home"}},
		Extensions: map[string]any{apps.Extension: apps.Supported()}, ResultTypes: []string{},
	}
}

// everywhere runs a test in all revisions and over all transports.
func everywhere(t *testing.T, body func(t *testing.T, c *client.Client)) {
	mcptest.RunModes(t, mcptest.AllModes(), func() mcp.Handler {
		srv, err := newServer()
		if err != nil {
			t.Fatal(err)
		}
		return srv
	}, options, body)
}

// since reports whether a client speaks a revision, or a later one.
func since(c *client.Client, r mcp.Revision) bool {
	all := mcp.Revisions()
	return slices.Index(all, c.Revision()) >= slices.Index(all, r)
}

func TestTools(t *testing.T) {
	tests := []struct {
		tool, want string
		since      mcp.Revision
	}{
		{"text", "Hello, Ann.", mcp.Revision20241105},
		{"think", "Knock, knock.", mcp.Revision20241105},
		{"folders", "1 folders", mcp.Revision20241105},
		{"count", "three", mcp.Revision20241105},
		{"ask", "Ann likes green", mcp.Revision20250618},
		{"send", "the user agreed", mcp.Revision20251125},
	}
	everywhere(t, func(t *testing.T, c *client.Client) {
		for _, test := range tests {
			args := map[string]any{}
			if test.tool == "text" {
				args["name"] = "Ann"
			}
			got, err := client.Call[string](t.Context(), c, test.tool, args)
			var failed *client.ToolError
			switch {
			case since(c, test.since) && (err != nil || got != test.want):
				t.Errorf("%s: %q, %v", test.tool, got, err)
			case !since(c, test.since) && err == nil:
				t.Errorf("%s: the revision has no such question, but it was asked", test.tool)
			}
			if errors.As(err, &failed) {
				t.Errorf("%s: a question that cannot be asked is no failure of the tool: %v", test.tool, err)
			}
		}
		var failed *client.ToolError
		if _, err := client.Call[string](t.Context(), c, "failure", nil); !errors.As(err, &failed) {
			t.Errorf("failure: %v", err)
		}
	})
}

func TestResults(t *testing.T) {
	everywhere(t, func(t *testing.T, c *client.Client) {
		r, err := c.CallTool(t.Context(), "content", nil)
		if err != nil || len(r.Content) < 4 { // the oldest revisions have no links, and no sound
			t.Errorf("content: %+v, %v", r, err)
		}
		dice, err := client.Call[map[string][]int](t.Context(), c, "structure", nil)
		if err != nil || len(dice["sides"]) != 2 {
			t.Errorf("structure: %+v, %v", dice, err)
		}
		if r, err := c.CallTool(t.Context(), "nothing", nil); err != nil || len(r.Content) != 0 {
			t.Errorf("nothing: %+v, %v", r, err)
		}
		if _, err := client.Call[string](t.Context(), c, "order", nil); err != nil {
			t.Error(err)
		}
	})
}

func TestData(t *testing.T) {
	everywhere(t, func(t *testing.T, c *client.Client) {
		ctx := t.Context()
		for uri, want := range map[string]string{"test:///text": "hello", "weather:///Rome": "sunny in Rome"} {
			if r, err := c.ReadResource(ctx, uri); err != nil || *r.Contents[0].Text != want {
				t.Errorf("%s: %+v, %v", uri, r, err)
			}
		}
		if _, err := c.ReadResource(ctx, "skill://greeting/SKILL.md"); err != nil {
			t.Error(err)
		}
		if app, err := c.ReadApp(ctx, "ui://everything/dice.html"); err != nil || app.HTML != page {
			t.Errorf("app: %+v, %v", app, err)
		}
		if got, err := c.CompleteTemplate(ctx, "weather:///{city}", "city", "p", nil); err != nil || !slices.Equal(got.Values, []string{"Paris", "Prague"}) {
			t.Errorf("cities: %+v, %v", got, err)
		}
		if got, err := c.GetPrompt(ctx, "review", map[string]string{"language": "go"}); err != nil || len(got.Messages) != 1 {
			t.Errorf("prompt: %+v, %v", got, err)
		}
		changed := make(chan client.Event, 4)
		sub, err := c.Listen(ctx, mcp.SubscriptionFilter{ResourceSubscriptions: []string{"test:///text"}}, func(_ context.Context, e client.Event) { changed <- e })
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = sub.Close() }()
		if _, err := c.CallTool(ctx, "change", nil); err != nil {
			t.Error(err)
		}
		<-changed
		if got, err := client.Call[string](ctx, c, "new", nil); err != nil || got != "I am new" {
			t.Errorf("new: %q, %v", got, err)
		}
	})
}
