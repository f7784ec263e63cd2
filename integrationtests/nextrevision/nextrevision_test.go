package nextrevision_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// next is a second stateless revision, which lacks audio and completion.
var next = revision.Add("2030-01-01", mcp.Revision20260728, func(f *revision.Facts) {
	f.Audio = false
	f.Drop(mcp.MethodComplete)
})

// No goroutine outlives the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type answer struct {
	Name string `json:"name"`
}

func newServer(revisions ...mcp.Revision) *server.Server {
	s := server.New(mcp.Implementation{Name: "s", Version: "1"}, &server.Options{Revisions: revisions, Subscriptions: true, Logger: mcptest.Quiet()})
	server.AddTool(s, mcp.Tool{Name: "ask"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		call.Progress(ctx, 1, 2, "half")
		a, err := server.Elicit[answer](ctx, call, "name", "Who?")
		return "Hello, " + a.Name, err
	})
	server.AddTool(s, mcp.Tool{Name: "sound"}, func(context.Context, *server.Call, struct{}) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: mcp.Contents{&mcp.AudioContent{Data: []byte("x"), MIMEType: "audio/wav"}}}, nil
	})
	s.AddResource(mcp.Resource{URI: "x:r", Name: "r"}, func(context.Context, *server.Call, string) (*mcp.ReadResourceResult, error) {
		return server.Contents(mcp.TextResource("x:r", "", "text")), nil
	})
	return s
}

func options(revisions ...mcp.Revision) *client.Options {
	return &client.Options{
		Revisions: revisions,
		Logger:    mcptest.Quiet(),
		Elicit: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: []byte(`{"name":"Ann"}`)}, nil
		},
	}
}

// Server and client speak the revision over every transport that carries it.
func TestNextRevision(t *testing.T) {
	modes := slices.DeleteFunc(mcptest.AllModes(), func(m mcptest.Mode) bool { return m.Revision != next })
	if len(modes) != 3 {
		t.Fatalf("the matrix has the modes %v", modes)
	}
	mcptest.RunModes(t, modes, func() mcp.Handler { return newServer() }, func() *client.Options { return options() }, func(t *testing.T, c *client.Client) {
		if c.Revision() != next {
			t.Fatalf("the client speaks %s", c.Revision())
		}
		progress := 0
		got, err := client.Call[string](t.Context(), c, "ask", nil, client.WithProgress(func(*mcp.ProgressParams) { progress++ }))
		if err != nil || got != "Hello, Ann" || progress == 0 {
			t.Errorf("a call that asks: %q, %v, told of progress %d times", got, err, progress)
		}
		sound, err := c.CallTool(t.Context(), "sound", nil)
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := sound.Content[0].(*mcp.TextContent); !ok || !strings.Contains(text.Text, "audio") {
			t.Errorf("audio was sent as %T", sound.Content[0])
		}
		if _, err := c.Do(t.Context(), mcp.MethodComplete, nil); err == nil {
			t.Error("the revision has no completion, but a request was answered")
		}
		hears(t, c)
	})
}

// hears subscribes to a resource. The test cannot reach the server's side of a
// change, so it only checks what was agreed.
func hears(t *testing.T, c *client.Client) {
	t.Helper()
	s, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ResourceSubscriptions: []string{"x:r"}}, func(context.Context, client.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Honoured().ResourceSubscriptions; len(got) != 1 {
		t.Errorf("the server agreed to watch %v", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// Each side finds the newest revision that the other has as well.
func TestNegotiation(t *testing.T) {
	before := mcp.Revision20260728
	for _, tt := range []struct {
		name           string
		server, client []mcp.Revision
		want           mcp.Revision // zero means none
	}{
		{"both have all", nil, nil, next},
		{"an older server", []mcp.Revision{before}, nil, before},
		{"an older client", nil, []mcp.Revision{before}, before},
		{"a server of sessions", []mcp.Revision{mcp.Revision20251125}, nil, mcp.Revision20251125},
		{"nothing in common", []mcp.Revision{before}, []mcp.Revision{next}, mcp.Revision{}},
	} {
		for _, transport := range []string{mcptest.Memory, mcptest.HTTP} {
			t.Run(tt.name+"/"+transport, func(t *testing.T) {
				tr := &mcptest.Transport{Handler: newServer(tt.server...), Over: transport, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
				t.Cleanup(tr.Wait)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				c, err := client.Connect(ctx, tr, options(tt.client...))
				if tt.want.IsZero() {
					if err == nil || !strings.Contains(err.Error(), next.String()) || !strings.Contains(err.Error(), before.String()) {
						t.Errorf("got %v, want an error that names both revisions", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				if c.Revision() != tt.want {
					t.Errorf("they agreed on %s, not %s", c.Revision(), tt.want)
				}
			})
		}
	}
}
