package inspect

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// delivery is what the server of these tests asks by a form.
type delivery struct {
	Name  string `json:"name" minLength:"2"`
	Speed string `json:"speed" enum:"slow,fast" default:"slow"`
}

type noInput struct{}

// newCurious returns a server that asks all there is to ask, and has something of
// everything else.
func newCurious() *server.Server {
	s := server.New(mcp.Implementation{Name: "curious", Version: "1"}, &server.Options{Logging: true, Subscriptions: true, Logger: mcptest.Quiet()})
	server.AddTool(s, mcp.Tool{Name: "form"}, func(ctx context.Context, call *server.Call, _ noInput) (string, error) {
		d, err := server.Elicit[delivery](ctx, call, "delivery", "Where to?")
		return d.Name + " " + d.Speed, err
	})
	server.AddTool(s, mcp.Tool{Name: "visit"}, func(ctx context.Context, call *server.Call, _ noInput) (string, error) {
		return "been there", server.ElicitURL(ctx, call, "visit", "Look at this", "https://example.com/look")
	})
	server.AddTool(s, mcp.Tool{Name: "sample"}, func(ctx context.Context, call *server.Call, _ noInput) (string, error) {
		return server.SampleText(ctx, call, "sample", "Say something", 100)
	})
	server.AddTool(s, mcp.Tool{Name: "roots"}, func(ctx context.Context, call *server.Call, _ noInput) (string, error) {
		roots, err := server.Roots(ctx, call)
		if err != nil || len(roots) == 0 {
			return "none", err
		}
		return roots[0].URI, nil
	})
	server.AddTool(s, mcp.Tool{Name: "talk"}, func(ctx context.Context, call *server.Call, _ noInput) (string, error) {
		call.Log(ctx, mcp.LevelDebug, "quiet")
		call.Log(ctx, mcp.LevelError, map[string]any{"loud": 9007199254740993})
		return "said", nil
	})
	addReadables(s)
	return s
}

func addReadables(s *server.Server) {
	s.AddResource(mcp.Resource{URI: "memo://note", Name: "Note"}, func(context.Context, *server.Call, string) (*mcp.ReadResourceResult, error) {
		return server.Contents(mcp.TextResource("memo://note", "text/plain", "A note")), nil
	})
	server.AddTemplate(s, mcp.ResourceTemplate{URITemplate: "memo://{author}/{title}", Name: "Memos"}, func(_ context.Context, _ *server.Call, uri string, _ struct {
		Author string `json:"author"`
		Title  string `json:"title"`
	},
	) (*mcp.ReadResourceResult, error) {
		return server.Contents(mcp.TextResource(uri, "text/plain", "A memo")), nil
	})
	s.CompleteTemplate("memo://{author}/{title}", "author", server.CompleteFrom("ada", "alan", "grace"))
	server.AddPrompt(s, mcp.Prompt{Name: "greet"}, func(_ context.Context, _ *server.Call, in struct {
		Who string `json:"who"`
	},
	) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.Text("Hello " + in.Who)}}}, nil
	})
	s.CompletePrompt("greet", "who", server.CompleteFrom("ada", "alan", "grace"))
	s.AddSkills(fstest.MapFS{
		"greeting/SKILL.md":           {Data: []byte("---\nname: greeting\ndescription: How to greet\n---\n# Greeting\n")},
		"greeting/references/more.md": {Data: []byte("More of it\n")},
		"greeting/logo.bin":           {Data: []byte{0xff, 0xfe, 0}},
	}, nil)
}

// visited is a connection to a server of these tests, in one revision.
type visited struct {
	*stage
	id     string
	path   string
	client *client.Client
	host   *server.Server
}

// inEachRevision has a test visit the server in every revision, over HTTP.
func inEachRevision(t *testing.T, test func(t *testing.T, v visited)) {
	for _, r := range mcp.Revisions() {
		t.Run(r.String(), func(t *testing.T) { test(t, visitCurious(t, r)) })
	}
}

func visitCurious(t *testing.T, r mcp.Revision) visited { return visitServer(t, r, newCurious()) }

func visitServer(t *testing.T, r mcp.Revision, host *server.Server) visited {
	h, err := streamable.New(host, &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewServer(h)
	t.Cleanup(func() {
		_ = h.Close(context.WithoutCancel(t.Context()))
		site.Close()
	})
	s := newStage(t, Options{})
	c := s.open(map[string]any{"url": site.URL, "revision": r.String()})
	if c.State != string(up) {
		t.Fatalf("connecting: %+v", c.Error)
	}
	cl, err2 := s.server.byID(c.ID).live()
	if err2 != nil {
		t.Fatal(err2)
	}
	return visited{s, c.ID, "/connections/" + c.ID, cl, host}
}

// toolOutcome is what came of a call.
type toolOutcome struct {
	result *mcp.CallToolResult
	err    error
}

func (o toolOutcome) text() string {
	if o.err != nil {
		return "error: " + o.err.Error()
	}
	text, ok := o.result.Content[0].(*mcp.TextContent)
	if !ok {
		return "no text"
	}
	return text.Text
}

// start calls a tool. What comes of it comes on the channel.
func (v visited) start(ctx context.Context, tool string) <-chan toolOutcome {
	done := make(chan toolOutcome, 1)
	go func() { // ends with the call
		r, err := v.client.CallTool(ctx, tool, nil)
		done <- toolOutcome{r, err}
	}()
	return done
}

// untilGet asks a route until its answer is as wanted.
func untilGet[T any](v visited, path string, wanted func(T) bool) T {
	v.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		if got := must[T](v.stage, "GET", v.path+path, nil); wanted(got) {
			return got
		}
		select {
		case <-tick.C:
		case <-v.Context().Done():
			v.Fatal("the test ended first")
		}
	}
}

type askedList struct {
	Questions          []askedQuestion
	SamplingDeprecated bool
}

type askedQuestion struct {
	ID, Kind, State, Rule, Note string
	Call                        *asker
	Params                      json.RawMessage
	Answer                      *answer
}

// waiting waits for a question.
func (v visited) waiting() askedQuestion {
	v.Helper()
	list := untilGet(v, "/questions", func(l askedList) bool { return len(l.Questions) > 0 && l.Questions[0].State == questionWaiting })
	return list.Questions[0]
}

// The page learns of what can be asked for with a call, rather than compare revisions.
func TestCallFeatures(t *testing.T) {
	inEachRevision(t, func(t *testing.T, v visited) {
		facts := revision.Of(v.client.Revision())
		features := must[said](v.stage, "GET", v.path, nil).Features
		for name, want := range map[string]bool{"callTask": facts.Tasks, "callLogLevel": facts.Stateless} {
			if slices.Contains(features, name) != want {
				t.Errorf("in %s the features are %q, and %s should be among them: %t", v.client.Revision(), features, name, want)
			}
		}
	})
}
