package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// curious has tools that ask the client one question each.
func curious() *server.Server {
	s := newServer(nil)
	server.AddTool(s, mcp.Tool{Name: "form"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		_, err := server.Elicit[struct {
			Name string `json:"name,omitempty"`
		}](ctx, call, "q", "Who?")
		return "asked", err
	})
	server.AddTool(s, mcp.Tool{Name: "model"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		return server.SampleText(ctx, call, "q", "Say it.", 5)
	})
	server.AddTool(s, mcp.Tool{Name: "roots"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		_, err := server.Roots(ctx, call)
		return "asked", err
	})
	return s
}

func willing() *client.Options {
	return &client.Options{
		Elicit: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: mcp.ActionAccept}, nil
		},
		Sample: func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Model: "m", Content: mcp.OneOrMany{mcp.Text("it")}}, nil
		},
	}
}

// outcome calls a tool without arguments, and returns what went wrong, of the call or
// of the tool, or "".
func outcome(t *testing.T, c *client.Client, tool string) string {
	t.Helper()
	r, err := c.CallTool(t.Context(), tool, nil)
	switch {
	case err != nil:
		return err.Error()
	case r.IsError:
		return (&client.ToolError{Tool: tool, Result: r}).Error()
	}
	return ""
}

// Questions over the rate are refused with a reason, and later ones are answered again.
//
// Spec: 2025-11-25 client/sampling#security-considerations.
// Spec: 2025-11-25 client/elicitation#security-considerations.
func TestQuestionsHaveARate(t *testing.T) {
	bothEras(t, func(t *testing.T, revisions []mcp.Revision) {
		o := willing()
		o.Revisions, o.ElicitRate, o.SampleRate = revisions, mcp.Rate{PerSecond: 0.1, Burst: 2}, mcp.Rate{PerSecond: 1, Burst: 1}
		c, _, stop := dial(t, curious(), o)
		defer stop()
		for _, tt := range []struct{ tool, want string }{
			{"form", ""},
			{"form", ""},
			{"form", "too many elicitations: this client answers 0.1 a second; the next in 10s"},
			{"model", ""},
			{"model", "too many requests for sampling: this client answers 1 a second; the next in 1s"},
		} {
			if got := outcome(t, c, tt.tool); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("%s: %q, want %q", tt.tool, got, tt.want)
			}
		}
		<-time.NewTimer(10 * time.Second).C
		if got := outcome(t, c, "form") + outcome(t, c, "model"); got != "" {
			t.Errorf("later: %q", got)
		}
	})
}

// Without being told otherwise, a client answers hundreds of questions at once, and not
// thousands.
func TestQuestionsHaveARateByDefault(t *testing.T) {
	bothEras(t, func(t *testing.T, revisions []mcp.Revision) {
		for want, rate := range map[int]mcp.Rate{256: {}, 300: {PerSecond: -1}} {
			o := willing()
			o.Revisions, o.ElicitRate, o.SampleRate = revisions, rate, rate
			c, _, stop := dial(t, curious(), o)
			for _, tool := range []string{"form", "model"} {
				answered := 0
				for range 300 {
					if outcome(t, c, tool) == "" {
						answered++
					}
				}
				if answered != want {
					t.Errorf("%s with %+v: %d of 300 answered, want %d", tool, rate, answered, want)
				}
			}
			stop()
		}
	})
}

// errLocal is an error of an application.
var errLocal = errors.New("my model is down")

// What goes wrong on this side does not look as if the server had said it, even if it
// is the error of yet another server.
//
// Spec: 2026-07-28 basic#error-codes.
func TestLocalErrorsAreNotThePeers(t *testing.T) {
	other := jsonrpc.Errorf(mcp.CodeResourceNotFoundOld, "not on the other server")
	o := &client.Options{
		Revisions: stateless,
		Sample: func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			return nil, errors.Join(errLocal, other)
		},
		ListRoots: func(context.Context) ([]*mcp.Root, error) { return nil, other },
	}
	c := mcptest.Connect(t, curious(), mcptest.Mode{Transport: mcptest.Memory, Revision: mcp.Revision20260728}, o)
	for _, tool := range []string{"model", "roots"} {
		_, err := c.CallTool(t.Context(), tool, nil)
		var rpc *jsonrpc.Error
		if err == nil || errors.As(err, &rpc) || errors.Is(err, client.ErrNotFound) || !strings.Contains(err.Error(), "not on the other server") {
			t.Errorf("%s: %v; want an error that names the reason and is no *jsonrpc.Error", tool, err)
		}
		if tool == "model" && !errors.Is(err, errLocal) {
			t.Errorf("the application does not find its own error in %v", err)
		}
	}
}

// A model that uses tools says so in its message.
//
// Spec: 2025-11-25 client/sampling#sampling-with-tools.
func TestModelsUseTools(t *testing.T) {
	bothEras(t, func(t *testing.T, revisions []mcp.Revision) {
		s := newServer(nil)
		server.AddTool(s, mcp.Tool{Name: "weather"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
			r, err := server.Sample(ctx, call, "q", &mcp.CreateMessageParams{
				MaxTokens: 100, Messages: []*mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.OneOrMany{mcp.Text("Is it warm?")}}},
				Tools: []*mcp.Tool{{Name: "measure", InputSchema: json.RawMessage(`{"type":"object"}`)}}, ToolChoice: &mcp.ToolChoice{Mode: "required"},
			})
			if err != nil {
				return "", err
			}
			use, ok := r.Content[0].(*mcp.ToolUseContent)
			if !ok {
				return "", fmt.Errorf("the message has a %T", r.Content[0])
			}
			return use.Name, nil
		})
		o := &client.Options{Revisions: revisions, SampleTools: true, Sample: func(_ context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			use := &mcp.ToolUseContent{ID: "1", Name: p.Tools[0].Name, Input: json.RawMessage(`{}`)}
			return &mcp.CreateMessageResult{Model: "m", StopReason: "toolUse", Content: mcp.OneOrMany{use}}, nil
		}}
		c, _, stop := dial(t, s, o)
		defer stop()
		if name, err := client.Call[string](t.Context(), c, "weather", nil); err != nil || name != "measure" {
			t.Errorf("the tool got %q, %v; want the use of the tool measure", name, err)
		}
	})
}

// What an application gives a client to send is checked before it is sent.
//
// Spec: 2026-07-28 basic#meta.
func TestClientsSendWhatIsValid(t *testing.T) {
	ctx := t.Context()
	o := &client.Options{Extensions: map[string]any{"io.modelcontextprotocol/tasks": nil}}
	c := mcptest.Connect(t, curious(), mcptest.Mode{Transport: mcptest.Memory, Revision: mcp.Revision20260728}, o)
	for key, ok := range map[string]bool{
		"a": true, "com.example/a": true, "traceparent": true, "io.modelcontextprotocol/related-task": true,
		"": false, "a b": false, "/a": false, "dev.mcp/a": false, mcp.MetaProgressToken: false, mcp.MetaClientInfo: false,
	} {
		_, err := c.ListTools(ctx, nil, client.WithMeta(key, 1), client.WithFresh())
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "meta") {
			t.Errorf("WithMeta(%q): %v, want accepted %v", key, err, ok)
		}
	}
	for what, o := range map[string]*client.Options{
		"an icon":        {Info: mcp.Implementation{Name: "c", Version: "1", Icons: []mcp.Icon{{Src: "file:///a.png"}}}},
		"a root's _meta": {Roots: []*mcp.Root{{URI: "file:///a", Meta: mcp.Meta{"a b": nil}}}},
		"result types":   {ResultTypes: []string{"task"}},
	} {
		if _, err := client.Connect(ctx, &mcptest.Transport{Handler: curious()}, o); err == nil {
			t.Errorf("%s: connected", what)
		}
	}
	for what, r := range map[string]*mcp.CreateMessageResult{
		"role":    {Role: "system", Content: mcp.OneOrMany{mcp.Text("x")}},
		"nil":     {Content: mcp.OneOrMany{nil}},
		"image":   {Content: mcp.OneOrMany{&mcp.ImageContent{MIMEType: "picture"}}},
		"_meta":   {Content: mcp.OneOrMany{mcp.Text("x")}, Meta: mcp.Meta{"a b": nil}},
		"nothing": {},
	} {
		o := willing()
		o.Sample = func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) { return r, nil }
		c := mcptest.Connect(t, curious(), mcptest.Mode{Transport: mcptest.Memory, Revision: mcp.Revision20260728}, o)
		if outcome(t, c, "model") == "" {
			t.Errorf("%s: %+v was sent", what, r)
		}
	}
}

// Roots are folders, and a URI that leads elsewhere than it seems to is not sent.
//
// Spec: 2026-07-28 client/roots#security-considerations (1).
func TestRootsDoNotLeadOut(t *testing.T) {
	connected := func(o *client.Options) (*client.Client, error) {
		return client.Connect(t.Context(), &mcptest.Transport{Handler: curious()}, o)
	}
	for uri, ok := range map[string]bool{
		"file:///home/me": true, "file:///": true, "file:///C:/work": true, "file:///a/..b/c..": true, "file:///a%20b": true, "file://host/share": true,
		"": false, "https://example.com/a": false, "file://": false, "file:a": false,
		"file:///home/../etc": false, "file:///..": false, "file:///home/%2e%2e/etc": false, "file:///home/%2E./etc": false,
		"file:///home%2f..%2fetc": false, `file:///home\..\etc`: false, "file:///home%5c..%5cetc": false, "file:///a%00b": false, "file:///%zz": false,
	} {
		root := &mcp.Root{URI: uri}
		c, err := connected(&client.Options{Roots: []*mcp.Root{root}})
		if (err == nil) != ok {
			t.Errorf("%q: %v, want accepted %v", uri, err, ok)
		}
		if c != nil {
			_ = c.Close()
		}
		for _, m := range []mcp.Revision{mcp.Revision20251125, mcp.Revision20260728} {
			o := &client.Options{ListRoots: func(context.Context) ([]*mcp.Root, error) { return []*mcp.Root{root}, nil }}
			c := mcptest.Connect(t, curious(), mcptest.Mode{Transport: mcptest.Memory, Revision: m}, o)
			if got := outcome(t, c, "roots"); (got == "") != ok {
				t.Errorf("%q given when asked, %s: %q, want accepted %v", uri, m, got, ok)
			}
		}
	}
}

// Folders offers what is there when the server asks.
//
// Spec: 2026-07-28 client/roots#security-considerations (1).
func TestFoldersAreThoseThatAreThere(t *testing.T) {
	dir := t.TempDir()
	work, gone := filepath.Join(dir, "my work"), filepath.Join(dir, "gone")
	file := filepath.Join(dir, "file")
	if err := errors.Join(os.Mkdir(work, 0o700), os.Mkdir(gone, 0o700), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	list := client.Folders(work, gone, file, filepath.Join(dir, "never"))
	names := func() string {
		t.Helper()
		roots, err := list(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := json.Marshal(roots)
		for _, r := range roots {
			if !strings.HasPrefix(r.URI, "file:///") {
				t.Errorf("URI %q", r.URI)
			}
		}
		return string(raw)
	}
	if got := names(); !strings.Contains(got, "my%20work") || !strings.Contains(got, `"name":"gone"`) || strings.Contains(got, "never") || strings.Contains(got, `"file"`) {
		t.Errorf("roots %s, want the two folders", got)
	}
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	if got := names(); strings.Contains(got, "gone") || !strings.Contains(got, "my work") {
		t.Errorf("roots %s, want the folder that is left", got)
	}
}

// A form in a dialect that is not supported is not shown, and the error says so.
//
// Spec: 2025-11-25 basic#implementation-requirements.
func TestFormsInUnknownDialects(t *testing.T) {
	const form = `{"message":"m","requestedSchema":{"$schema":"https://example.com/dialect","type":"object","properties":{}}}`
	s := serving(func(ctx context.Context, x *mcp.Exchange) (any, error) {
		answers, err := x.Back.Input(ctx, mcp.InputRequest{Key: "q", Method: mcp.MethodElicit, Params: json.RawMessage(form)})
		var required *mcp.InputRequired
		if errors.As(err, &required) {
			return nil, err
		}
		if err != nil {
			return mcp.ToolError("%v", err), nil
		}
		return map[string]any{"content": []any{map[string]any{"type": "text", "text": string(answers[0])}}}, nil
	})
	for _, r := range []mcp.Revision{mcp.Revision20251125, mcp.Revision20260728} {
		o := willing()
		o.Elicit = func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			t.Error("the user was asked")
			return &mcp.ElicitResult{Action: mcp.ActionDecline}, nil
		}
		c := mcptest.Connect(t, s, mcptest.Mode{Transport: mcptest.Memory, Revision: r}, o)
		if got := outcome(t, c, "t"); !strings.Contains(got, `dialect "https://example.com/dialect"`) {
			t.Errorf("%s: %q, want an error that names the dialect", r, got)
		}
	}
}
