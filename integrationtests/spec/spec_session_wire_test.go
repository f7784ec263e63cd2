package spec_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/stream"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// The tests in spec_session_*_test.go go through the revisions that have
// sessions, rule by rule. They run in bubbles with fake time: once every
// goroutine is blocked, nothing more will be sent.

// sessRevisions are the revisions that have sessions.
var sessRevisions = []mcp.Revision{mcp.Revision20241105, mcp.Revision20250326, mcp.Revision20250618, mcp.Revision20251125}

const (
	sessReady = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	sessAll   = `{"roots":{"listChanged":true},"sampling":{"tools":{},"context":{}},"elicitation":{"form":{},"url":{}}}`
)

// sessInit is the request that opens a session.
func sessInit(revision, capabilities string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"t","version":"1"}}}`, revision, capabilities)
}

// sessCall is a request for a tool.
func sessCall(id, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q}}`, id, tool)
}

// sessRequest is any request.
func sessRequest(id, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
}

// sessWire is a client that sends exactly what a test says.
type sessWire struct {
	send func(string)

	mu     sync.Mutex
	frames []string
}

// say sends frames and returns what the server sends until it is idle,
// including its reaction to frames that it only reads once it notices that a
// request takes long.
func (w *sessWire) say(frames ...string) []string {
	for _, f := range frames {
		w.send(f)
	}
	<-time.NewTimer(6 * time.Millisecond).C
	synctest.Wait()
	return w.take()
}

// later returns what the server sends after some time.
func (w *sessWire) later() []string {
	<-time.NewTimer(time.Minute).C
	synctest.Wait()
	return w.take()
}

func (w *sessWire) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.frames
	w.frames = nil
	return taken
}

func (w *sessWire) receive(frame []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.frames = append(w.frames, string(frame))
}

// sessBare runs body with a connection on which nothing was sent yet.
func sessBare(t *testing.T, h mcp.Handler, body func(t *testing.T, w *sessWire)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := new(sessWire)
		w.send = mcptest.Raw(t, &mcptest.Transport{Handler: h, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}, w.receive)
		body(t, w)
	})
}

// sessOpen runs body with an initialized session.
func sessOpen(t *testing.T, h mcp.Handler, r mcp.Revision, capabilities string, body func(t *testing.T, w *sessWire)) {
	t.Helper()
	sessBare(t, h, func(t *testing.T, w *sessWire) {
		if got := w.say(sessInit(r.String(), capabilities), sessReady); len(got) != 1 {
			t.Fatalf("opening a session gave %q, want one answer", got)
		}
		body(t, w)
	})
}

// sessWant compares all frames that were sent with the expected ones. An
// expected frame that begins with "~" is a part of the frame; otherwise it is
// the whole frame.
func sessWant(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: got %d frames, want %d:\n%s", what, len(got), len(want), strings.Join(got, "\n"))
		return
	}
	for i, w := range want {
		if part, ok := strings.CutPrefix(w, "~"); ok && !strings.Contains(got[i], part) || !ok && got[i] != w {
			t.Errorf("%s: frame %d\n got  %s\n want %s", what, i, got[i], w)
		}
	}
}

// sessField returns a member of a frame, by its path.
func sessField(t *testing.T, frame string, path ...string) string {
	t.Helper()
	raw := json.RawMessage(frame)
	for _, name := range path {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(raw, &object); err != nil {
			t.Fatalf("no %s in %s: %v", strings.Join(path, "."), frame, err)
		}
		raw = object[name]
	}
	return string(raw)
}

// sessServer has one of everything, and little enough to be understood at a
// glance.
func sessServer() *server.Server {
	s := server.New(mcp.Implementation{Name: "sess", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), Logging: true, Subscriptions: true, PageSize: 2})
	text := func(name string, f func(ctx context.Context, call *server.Call) (string, error)) {
		server.AddTool(s, mcp.Tool{Name: name}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) { return f(ctx, call) })
	}
	text("echo", func(context.Context, *server.Call) (string, error) { return "echo", nil })
	text("fail", func(context.Context, *server.Call) (string, error) { return "", errors.New("database unreachable") })
	text("wait", func(ctx context.Context, _ *server.Call) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	})
	text("stubborn", func(ctx context.Context, _ *server.Call) (string, error) {
		<-ctx.Done()
		return "done all the same", nil
	})
	text("log", func(ctx context.Context, call *server.Call) (string, error) {
		for _, l := range sessLevels {
			call.Log(ctx, l, string(l))
		}
		return "logged", nil
	})
	text("progress", func(ctx context.Context, call *server.Call) (string, error) {
		for _, p := range []float64{1, 2, 2, 1, 4} {
			call.Progress(ctx, p, 4, "words")
		}
		return "done", nil
	})
	text("roots", func(ctx context.Context, call *server.Call) (string, error) {
		roots, err := server.Roots(ctx, call)
		return fmt.Sprint(len(roots), " roots"), err
	})
	text("sample", func(ctx context.Context, call *server.Call) (string, error) {
		return server.SampleText(ctx, call, "s", "Capital of France?", 10)
	})
	text("elicit", func(ctx context.Context, call *server.Call) (string, error) {
		a, err := server.Elicit[city](ctx, call, "city", "Where?")
		return a.City, err
	})
	text("tools", func(ctx context.Context, call *server.Call) (string, error) {
		r, err := server.Sample(ctx, call, "s", &mcp.CreateMessageParams{MaxTokens: 5, Messages: []*mcp.SamplingMessage{
			{Role: mcp.RoleAssistant, Content: mcp.OneOrMany{&mcp.ToolUseContent{ID: "1", Name: "t", Input: json.RawMessage(`{}`)}}},
			{Role: mcp.RoleUser, Content: mcp.OneOrMany{&mcp.ToolResultContent{ToolUseID: "1", Content: mcp.Contents{mcp.Text("x")}}}},
		}})
		if err != nil {
			return "", err
		}
		return r.Text(), nil
	})
	text("peer", func(_ context.Context, call *server.Call) (string, error) {
		declared, err := json.Marshal(call.Peer().Capabilities)
		return string(declared), err
	})
	text("visit", func(ctx context.Context, call *server.Call) (string, error) {
		return "visited", server.ElicitURL(ctx, call, "u", "Go there", "https://example.com/x")
	})
	for _, uri := range []string{"test://a", "test://b", "test://c"} {
		s.AddResource(mcp.Resource{URI: uri, Name: uri}, func(_ context.Context, _ *server.Call, uri string) (*mcp.ReadResourceResult, error) {
			return server.Contents(mcp.TextResource(uri, "text/plain", "content")), nil
		})
	}
	s.AddRawPrompt(mcp.Prompt{Name: "p", Arguments: []*mcp.PromptArgument{{Name: "x", Required: true}}},
		func(_ context.Context, _ *server.Call, args map[string]string) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{mcp.UserMessage(mcp.Text(args["x"]))}}, nil
		})
	many := make([]string, 250)
	for i := range many {
		many[i] = fmt.Sprint("v", i)
	}
	s.CompletePrompt("p", "x", server.CompleteFrom(many...))
	return s
}

var sessLevels = []mcp.LoggingLevel{
	mcp.LevelDebug, mcp.LevelInfo, mcp.LevelNotice, mcp.LevelWarning, mcp.LevelError, mcp.LevelCritical, mcp.LevelAlert, mcp.LevelEmergency,
}

// sessFake is a server that sends exactly what a test says: on is called for
// each frame of the client, in order.
type sessFake struct {
	on func(m *jsonrpc.Message, frame string, say func(string))

	mu      sync.Mutex
	heard   []string
	say     func(string)
	running sync.WaitGroup
}

func (f *sessFake) Name() string { return "fake" }

func (f *sessFake) Connect(_ context.Context, r mcp.Receiver) (mcp.Conn, error) {
	near, far := stream.Pipe()
	say := func(frame string) { _ = far.Write([]byte(frame)) } // the client may have closed
	f.mu.Lock()
	f.say = say
	f.mu.Unlock()
	f.running.Go(func() { // ends with the connection; Wait waits for it
		for {
			frame, err := far.Read()
			if err != nil {
				return
			}
			m, err := new(jsonrpc.Decoder).Decode(frame)
			if err != nil && !jsonrpc.IsBatch(frame) {
				panic(fmt.Sprintf("the client sent %s: %v", frame, err))
			}
			f.mu.Lock()
			f.heard = append(f.heard, string(frame))
			f.mu.Unlock()
			f.on(m, string(frame), say)
		}
	})
	return stream.Dial(near, r, 1<<20, nil, nil), nil
}

// tell sends frames unasked, and returns what the client has sent since the
// last call, once it is idle.
func (f *sessFake) tell(frames ...string) []string {
	f.mu.Lock()
	f.heard = nil
	say := f.say
	f.mu.Unlock()
	for _, frame := range frames {
		say(frame)
	}
	return f.took()
}

// took returns what the client has sent, once it is idle.
func (f *sessFake) took() []string {
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	taken := f.heard
	f.heard = nil
	return taken
}

// sessOpens answers initialize with a revision and capabilities, and passes
// everything else to on, which may be nil.
func sessOpens(revision, capabilities string, on func(m *jsonrpc.Message, say func(string))) func(*jsonrpc.Message, string, func(string)) {
	return func(m *jsonrpc.Message, _ string, say func(string)) {
		if m.Method == mcp.MethodInitialize {
			say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":%q,"capabilities":%s,"serverInfo":{"name":"fake","version":"1"}}}`, m.ID, revision, capabilities))
			return
		}
		if on != nil {
			on(m, say)
		}
	}
}

// sessClient runs body with a client that only speaks sessions, connected to f.
func sessClient(t *testing.T, f *sessFake, o *client.Options, body func(t *testing.T, c *client.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c, err := sessConnect(t, f, o)
		if err != nil {
			t.Fatal(err)
		}
		body(t, c)
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		f.running.Wait()
	})
}

func sessConnect(t *testing.T, f *sessFake, o *client.Options) (*client.Client, error) {
	t.Helper()
	if o == nil {
		o = &client.Options{}
	}
	opts := *o
	opts.Logger = mcptest.Quiet()
	if opts.Revisions == nil {
		opts.Revisions = sessRevisions
	}
	return client.Connect(t.Context(), f, &opts)
}

// sessCode returns the code of a server's error, or 0.
func sessCode(err error) int64 {
	var rpc *jsonrpc.Error
	if errors.As(err, &rpc) {
		return rpc.Code
	}
	return 0
}
