package reference

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

func TestTimestamp(t *testing.T) {
	mcptest.Run(t, shared(t, Options{}), nil, func(t *testing.T, c *client.Client) {
		before := time.Now().Truncate(time.Millisecond)
		text, err := client.Call[string](t.Context(), c, "get_timestamp", nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := time.Parse("2006-01-02T15:04:05.000Z", text)
		if err != nil || got.Before(before) || got.After(time.Now()) {
			t.Errorf("timestamp = %q, %v", text, err)
		}
		if text, err = client.Call[string](t.Context(), c, "get_timestamp", map[string]any{"timezone": "Asia/Kolkata"}); err != nil || !strings.HasSuffix(text, "+05:30") {
			t.Errorf("in Kolkata: %q, %v", text, err)
		}
		wantToolError(t, c, "get_timestamp", map[string]any{"timezone": "Mars/Base"}, "Europe/Berlin")
		wantToolError(t, c, "get_timestamp", map[string]any{"timezone": "../../etc/passwd"}, "no time zone")
	})
}

func TestInfo(t *testing.T) {
	mcptest.Run(t, shared(t, Options{}), nil, func(t *testing.T, c *client.Client) {
		var info serverInfo
		readJSON(t, c, infoURI, &info)
		if info.Server.Version != "1.2.3" || info.Server.Name != "parley-reference" || info.Uptime <= 0 || info.PID == 0 || info.MemoryUsage == 0 {
			t.Errorf("info = %+v", info)
		}
		if c.ServerInfo().Version != "1.2.3" || !strings.Contains(c.Instructions(), "db://schema") {
			t.Errorf("server = %+v, instructions = %q", c.ServerInfo(), c.Instructions())
		}
	})
}

func TestCountSlowly(t *testing.T) {
	mcptest.Run(t, shared(t, Options{}), nil, func(t *testing.T, c *client.Client) {
		var mu sync.Mutex
		var last *mcp.ProgressParams
		progress := client.WithProgress(func(p *mcp.ProgressParams) {
			mu.Lock()
			defer mu.Unlock()
			last = p
		})
		got := call[counted](t, c, "count_slowly", map[string]any{"steps": 5, "delay_ms": 1}, progress)
		mu.Lock()
		defer mu.Unlock()
		if got.Steps != 5 || got.ElapsedMS < 5 || last == nil {
			t.Errorf("counted = %+v, last progress %+v", got, last)
		}
		wantToolError(t, c, "count_slowly", map[string]any{"steps": 10001}, "10000")
	})
}

func TestCountSlowlyStops(t *testing.T) {
	for _, mode := range mcptest.Modes() {
		t.Run(mode.String(), func(t *testing.T) {
			r := start(t, Options{})
			ended := make(chan error, 1)
			r.srv.Use(func(next mcp.ServeFunc) mcp.ServeFunc {
				return func(ctx context.Context, x *mcp.Exchange) (any, error) {
					result, err := next(ctx, x)
					if strings.Contains(string(x.Params), "count_slowly") {
						ended <- err
					}
					return result, err
				}
			})
			c := mcptest.Connect(t, r.srv, mode, nil)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			_, err := c.CallTool(ctx, "count_slowly", map[string]any{"steps": 10000, "delay_ms": 20}, client.WithProgress(func(*mcp.ProgressParams) { cancel() }))
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error = %v, want context.Canceled", err)
			}
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("the handler ended with %v", err)
			}
		})
	}
}

func TestChart(t *testing.T) {
	mcptest.Run(t, shared(t, Options{}), nil, func(t *testing.T, c *client.Client) {
		r, err := c.CallTool(t.Context(), "make_chart", map[string]any{"values": []float64{3, -1, 2}, "width": 300, "height": 200})
		if err != nil {
			t.Fatal(err)
		}
		picture, ok := r.Content[1].(*mcp.ImageContent)
		if !ok || picture.MIMEType != "image/png" {
			t.Fatalf("content = %+v", r.Content)
		}
		img, err := png.Decode(bytes.NewReader(picture.Data))
		if err != nil || img.Bounds().Dx() != 300 || img.Bounds().Dy() != 200 {
			t.Fatalf("picture: %v", err)
		}
		for x, want := range map[int]color.Color{55: barColor(1), 150: color.White} {
			r, g, b, _ := img.At(x, 50).RGBA()
			wr, wg, wb, _ := want.RGBA()
			if r != wr || g != wg || b != wb {
				t.Errorf("at %d: %v, want %v", x, img.At(x, 50), want)
			}
		}
		wantToolError(t, c, "make_chart", map[string]any{"values": []float64{}}, "values")
	})
	for _, values := range [][]float64{{0}, {0, 0}, {-1}, {1e15, -1e15}, make([]float64, 100)} {
		drawBars(values, 100, 60)
	}
}

func TestTone(t *testing.T) {
	mcptest.Run(t, shared(t, Options{}), nil, func(t *testing.T, c *client.Client) {
		r, err := c.CallTool(t.Context(), "make_tone", map[string]any{"frequency": 1000, "seconds": 0.5})
		if err != nil {
			t.Fatal(err)
		}
		sound, ok := r.Content[len(r.Content)-1].(*mcp.AudioContent)
		if !ok {
			if c.Revision() == mcp.Revision20241105 {
				return // it has no audio
			}
			t.Fatalf("content = %+v", r.Content)
		}
		if n := len(sound.Data); n != 44+2*sampleRate/2 || string(sound.Data[:4]) != "RIFF" || string(sound.Data[8:16]) != "WAVEfmt " {
			t.Errorf("%d bytes: %q", n, sound.Data[:16])
		}
		if got := binary.LittleEndian.Uint32(sound.Data[4:]); int(got) != len(sound.Data)-8 {
			t.Errorf("size in the header = %d", got)
		}
	})
	crossings, samples := 0, sine(1000, 1)
	for i := 1; i < len(samples); i++ {
		if samples[i-1] < 0 && samples[i] >= 0 {
			crossings++
		}
	}
	if crossings < 998 || crossings > 1000 {
		t.Errorf("%d oscillations in a second of 1000 Hz", crossings)
	}
}

func TestSetFeature(t *testing.T) {
	mcptest.Run(t, plain(t), nil, func(t *testing.T, c *client.Client) {
		told, err := listen(t, c, mcp.SubscriptionFilter{ToolsListChanged: true})
		if err != nil {
			t.Fatal(err)
		}
		tools, err := client.Collect(c.Tools(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(tools, func(tool *mcp.Tool) bool { return tool.Name == "set_feature" })
		if c.Revision() == mcp.Revision20260728 && !strings.Contains(string(tools[i].InputSchema), `"x-mcp-header":"Feature"`) {
			t.Errorf("schema = %s, without a header", tools[i].InputSchema)
		}
		set := func(name string, enabled bool) {
			t.Helper()
			r, err := c.CallTool(t.Context(), "set_feature", map[string]any{"name": name, "enabled": enabled})
			if err != nil || r.IsError {
				t.Fatalf("set_feature: %v", err)
			}
			told.want(t, mcp.Change{Kind: mcp.ToolsChanged})
		}
		set("roll_dice", true)
		got := call[rolled](t, c, "roll_dice", map[string]any{"count": 3, "sides": 2})
		if len(got.Dice) != 3 || got.Sum < 3 || got.Sum > 6 {
			t.Errorf("rolled %+v", got)
		}
		set("make_id", true)
		if id, err := client.Call[string](t.Context(), c, "make_id", nil); err != nil || len(id) != 32 {
			t.Errorf("make_id = %q, %v", id, err)
		}
		set("roll_dice", false)
		if _, err := c.CallTool(t.Context(), "roll_dice", nil); err == nil || !strings.Contains(err.Error(), "unknown tool") {
			t.Errorf("after removal: %v, want that it is unknown", err)
		}
		wantToolError(t, c, "set_feature", map[string]any{"name": "checkout", "enabled": false}, "roll_dice")
	})
}

func TestCodeReview(t *testing.T) {
	mcptest.Run(t, shared(t, Options{}), nil, func(t *testing.T, c *client.Client) {
		r, err := c.GetPrompt(t.Context(), "code_review", map[string]string{"code": "x = 1\n# ```", "language": "python", "focus": "security"})
		if err != nil {
			t.Fatal(err)
		}
		text := r.Messages[0].Content.(*mcp.TextContent).Text
		for _, want := range []string{"x = 1", "````python\n", "security"} {
			if !strings.Contains(text, want) {
				t.Errorf("prompt %q lacks %q", text, want)
			}
		}
		for _, args := range []map[string]string{{}, {"code": " "}, {"code": "x", "nope": "y"}} {
			_, err := c.GetPrompt(t.Context(), "code_review", args)
			var rpc *jsonrpc.Error
			if !errors.As(err, &rpc) || rpc.Code != jsonrpc.CodeInvalidParams {
				t.Errorf("%v: %v, want invalid params", args, err)
			}
		}
		if c.ServerCapabilities().Completions == nil {
			return
		}
		got, err := c.CompletePrompt(t.Context(), "code_review", "language", "py", nil)
		if err != nil || !slices.Equal(got.Values, []string{"python"}) {
			t.Errorf("completion = %+v, %v", got, err)
		}
	})
}

func TestAnalyzeLogs(t *testing.T) {
	mcptest.Run(t, plain(t), nil, func(t *testing.T, c *client.Client) {
		_, _ = client.Call[string](t.Context(), c, "calculate", map[string]any{"expression": "1 + 1"})
		wantToolError(t, c, "calculate", map[string]any{"expression": "1 / 0"}, "zero")
		_, _ = c.ReadResource(t.Context(), "what:ever")
		attached := func(args map[string]string) string {
			t.Helper()
			r, err := c.GetPrompt(t.Context(), "analyze_logs", args)
			if err != nil {
				t.Fatal(err)
			}
			return *r.Messages[1].Content.(*mcp.EmbeddedResource).Resource.Text
		}
		all := attached(map[string]string{"timeframe": "24h"})
		for _, want := range []string{`INFO tools/call "calculate"`, `WARNING tools/call "calculate"`, "the tool failed", `WARNING resources/read "what:ever"`, "refused: resource not found"} {
			if !strings.Contains(all, want) {
				t.Errorf("log lacks %q:\n%s", want, all)
			}
		}
		if strings.Contains(all, "1 / 0") {
			t.Errorf("the log has arguments:\n%s", all)
		}
		serious := attached(map[string]string{"timeframe": "7d", "severity": "warning"})
		if strings.Contains(serious, "INFO") || strings.Count(serious, "\n") != 2 {
			t.Errorf("warnings:\n%s", serious)
		}
		if recent := readText(t, c, recentLogURI); !strings.Contains(recent, `prompts/get "analyze_logs"`) || strings.Contains(recent, recentLogURI) {
			t.Errorf("recent:\n%s", recent)
		}
		for _, bad := range []string{"yesterday", "0d", "-1h", "1w", "d", "99999d"} {
			_, err := c.GetPrompt(t.Context(), "analyze_logs", map[string]string{"timeframe": bad})
			var rpc *jsonrpc.Error
			if !errors.As(err, &rpc) || rpc.Code != jsonrpc.CodeInvalidParams || !strings.Contains(rpc.Message, "24h") {
				t.Errorf("%q: %v, want invalid params", bad, err)
			}
		}
	})
}

func TestRequestLogIsBounded(t *testing.T) {
	l := newRequestLog(3)
	for i := range 5 {
		l.add(logEntry{at: time.Unix(int64(i), 0), level: mcp.LevelInfo, method: string(rune('a' + i)), principal: "ann"})
	}
	l.add(logEntry{at: time.Unix(9, 0), level: mcp.LevelInfo, method: "x", principal: "bob"})
	var got strings.Builder
	for _, e := range l.since(time.Unix(0, 0), mcp.LevelDebug, "ann") {
		got.WriteString(e.method)
	}
	if got.String() != "de" {
		t.Errorf("ann's requests = %q, want de", got.String())
	}
}

func TestLogSubscription(t *testing.T) {
	mcptest.Run(t, shared(t, Options{}), nil, func(t *testing.T, c *client.Client) {
		told, err := listen(t, c, mcp.SubscriptionFilter{ResourceSubscriptions: []string{recentLogURI}})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = client.Call[string](t.Context(), c, "get_timestamp", nil)
		told.want(t, updated(recentLogURI))
	})
}

// What the server says about itself must be true and readable.
func TestDescriptions(t *testing.T) {
	r := start(t, Options{Root: t.TempDir()})
	c := mcptest.Connect(t, r.srv, mcptest.Mode{Revision: mcp.Revision20260728, Transport: "memory"}, nil)
	for tool, err := range c.Tools(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if tool.Title == "" || tool.Description == "" || tool.Annotations == nil {
			t.Errorf("tool %q lacks a title, a description or annotations", tool.Name)
		}
		var schema struct {
			Properties map[string]struct{ Description string }
		}
		if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
			t.Fatal(err)
		}
		for name, p := range schema.Properties {
			if p.Description == "" {
				t.Errorf("tool %q: argument %q lacks a description", tool.Name, name)
			}
		}
	}
	caps := c.ServerCapabilities()
	if caps.Logging == nil || caps.Completions == nil || caps.Prompts == nil || !caps.Resources.Subscribe || !caps.Tools.ListChanged {
		t.Errorf("capabilities = %+v", caps)
	}
	if icons := c.ServerInfo().Icons; len(icons) != 1 || !strings.HasPrefix(icons[0].Src, "data:image/svg+xml;base64,") {
		t.Errorf("icons = %+v", icons)
	}
}

func TestImportLogs(t *testing.T) {
	for _, mode := range mcptest.Modes() {
		t.Run(mode.String(), func(t *testing.T) {
			messages := make(chan *mcp.LogParams, 10)
			o := &client.Options{LogLevel: mcp.LevelInfo, Log: func(_ context.Context, m *mcp.LogParams) { messages <- m }}
			c := mcptest.Connect(t, start(t, Options{}).srv, mode, o)
			call[imported](t, c, "import_csv", map[string]any{"csv": "a\n1", "table": "t"})
			if m := <-messages; m.Logger != "import_csv" || m.Level != mcp.LevelInfo {
				t.Errorf("message = %+v", m)
			}
		})
	}
}

func TestReleaseTwice(t *testing.T) {
	_, release, err := New(Options{Root: t.TempDir(), Logger: mcptest.Quiet()})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := release(); err != nil {
			t.Error(err)
		}
	}
}
