// Package specimen is a server that uses every feature of the protocol. It does
// everything within calls that say that they only read, so a checker gets to
// see all of it: it is the good peer that mutants are made of, and what stands
// behind a gateway that is judged.
package specimen

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// New returns the server. nil options mean the defaults, with all features on.
func New(o *server.Options) *server.Server {
	s, _ := newServer(o)
	return s
}

// NewTelling is New for a server that also tells, by tools, what reached it.
func NewTelling(o *server.Options) *server.Server {
	s, j := newServer(o)
	addJournal(s, j)
	return s
}

func newServer(o *server.Options) (*server.Server, *journal) {
	options := server.Options{}
	if o != nil {
		options = *o
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	options.Instructions = "A server that shows every feature."
	options.Logging, options.Subscriptions = true, true
	options.PageSize = 3
	options.ProgressInterval = -1
	options.Tasks.ListUnowned = true // each specimen has one user
	s := server.New(mcp.Implementation{
		Name: "specimen", Title: "Specimen", Version: "1.0.0", Description: "Shows every feature.",
		WebsiteURL: "https://example.com/specimen", Icons: icons(),
	}, &options)
	addContent(s)
	j := &journal{}
	addReports(s, j)
	addQuestions(s)
	addChanges(s)
	addResources(s)
	addPrompts(s)
	addTasks(s)
	addToggle(s)
	addWriter(s)
	return s, j
}

// addWriter adds the last tool, which does not say that it only reads.
func addWriter(s *server.Server) {
	plain := tool("write_note", "Writes a note: not called unless allowed.")
	plain.Annotations = nil
	server.AddTool(s, plain, func(context.Context, *server.Call, struct{}) (string, error) { return "written", nil })
}

func icons() []mcp.Icon {
	return []mcp.Icon{{Src: "https://example.com/icon.png", MIMEType: "image/png", Sizes: []string{"48x48"}}}
}

func meta() mcp.Meta {
	return mcp.Meta{"com.example/specimen": json.RawMessage(`{"big":9223372036854775808}`)}
}

func notes() *mcp.Annotations {
	priority := 0.5
	return &mcp.Annotations{Audience: []mcp.Role{mcp.RoleUser, mcp.RoleAssistant}, Priority: &priority, LastModified: "2026-01-12T15:00:58Z"}
}

// reading says of a tool that it may be called by anybody.
func reading(title string) *mcp.ToolAnnotations {
	no := false
	return &mcp.ToolAnnotations{Title: title, ReadOnlyHint: true, DestructiveHint: &no, OpenWorldHint: &no}
}

func tool(name, description string) mcp.Tool {
	return mcp.Tool{Name: name, Title: name, Description: description, Annotations: reading(name), Icons: icons(), Meta: meta()}
}

// Sum is what add_numbers returns.
type Sum struct {
	Sum float64 `json:"sum"`
}

// Terms are the arguments of add_numbers.
type Terms struct {
	A float64 `json:"a" description:"the first term"`
	B float64 `json:"b" description:"the second term"`
}

func addContent(s *server.Server) {
	server.AddTool(s, tool("add_numbers", "Adds two numbers."), func(_ context.Context, _ *server.Call, t Terms) (Sum, error) {
		return Sum{t.A + t.B}, nil
	})
	size := int64(5)
	s.AddRawTool(withSchema(tool("show_content", "Shows each kind of content."), `{"type":"object","additionalProperties":false}`),
		func(context.Context, *server.Call, json.RawMessage) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: mcp.Contents{
				&mcp.TextContent{Text: "text", Annotations: notes(), Meta: meta()},
				&mcp.ImageContent{Data: []byte{1, 2}, MIMEType: "image/png", Annotations: notes()},
				&mcp.AudioContent{Data: []byte{1, 2}, MIMEType: "audio/wav", Annotations: notes()},
				&mcp.ResourceLink{URI: "test://static", Name: "static", Size: &size, Icons: icons()},
				&mcp.EmbeddedResource{Resource: mcp.TextResource("test://static", "text/plain", "hello"), Annotations: notes()},
			}, ResultFields: mcp.ResultFields{Meta: meta()}}, nil
		})
	server.AddTool(s, tool("always_fails", "Fails, as tools do."), func(context.Context, *server.Call, struct{}) (string, error) {
		return "", errors.New("it always fails")
	})
	s.AddRawTool(withSchema(tool(EchoHeader, "Gives back what is mirrored into headers."),
		`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region","default":"north"},"count":{"type":"integer","x-mcp-header":"Count","minimum":1}},"required":["region"]}`),
		func(_ context.Context, _ *server.Call, arguments json.RawMessage) (*mcp.CallToolResult, error) {
			return text(string(arguments)), nil
		})
	s.AddRawTool(withSchema(tool("tuple_first", "Gives back the first of a pair."),
		`{"type":"object","properties":{"pair":{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"minItems":2},"unit":{"type":"string"}},"required":["pair"],"dependentRequired":{"unit":["pair"]}}`),
		func(_ context.Context, _ *server.Call, arguments json.RawMessage) (*mcp.CallToolResult, error) {
			return text(string(arguments)), nil
		})
}

func withSchema(t mcp.Tool, schema string) mcp.Tool {
	t.InputSchema = json.RawMessage(schema)
	return t
}

func addReports(s *server.Server, j *journal) {
	server.AddTool(s, tool("report_progress", "Reports progress, and logs."), func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		call.Logger("reports").InfoContext(ctx, "begin")
		call.Progress(ctx, 1, 3, "first")
		call.Progress(ctx, 2, 3, "second")
		call.Logger("reports").ErrorContext(ctx, "end")
		call.Progress(ctx, 3, 3, "third")
		return "done", nil
	})
	server.AddTool(s, tool(WaitLong, "Waits until it is cancelled, a second at most."), func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		err := wait(ctx, call)
		if err != nil {
			j.note(err)
		}
		return "waited", err
	})
}

// wait takes a second, and says how far it is.
func wait(ctx context.Context, call *server.Call) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for n := range 10 {
		call.Progress(ctx, float64(n)+0.5, 10, "waiting")
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: mcp.Contents{mcp.Text(s)}}
}
