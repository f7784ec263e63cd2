package server

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// within runs f as the handler of a tool, in an exchange that prepare may
// change, and returns the exchange's client end.
func within(t *testing.T, s *Server, prepare func(*mcp.Exchange, *fakeBack), f func(ctx context.Context, call *Call) error) *fakeBack {
	t.Helper()
	AddTool(s, mcp.Tool{Name: "t"}, func(ctx context.Context, call *Call, _ struct{}) (string, error) { return "", f(ctx, call) })
	back := &fakeBack{}
	x := request(mcp.MethodCallTool, `{"name":"t"}`)
	x.Back = back
	prepare(x, back)
	if got := serveExchange(t, s, x); strings.HasPrefix(got, "error") || strings.Contains(got, "isError") {
		t.Fatal(got)
	}
	return back
}

// wait lets fake time pass.
func wait(d time.Duration) { <-time.NewTimer(d).C }

func withToken(x *mcp.Exchange, _ *fakeBack) { x.ProgressToken = jsonrpc.StringID("tok") }

func unprepared(*mcp.Exchange, *fakeBack) {}

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newServer(Options{})
		back := within(t, s, withToken, func(ctx context.Context, c *Call) error {
			c.Progress(ctx, 0, 10, "first")
			c.Progress(ctx, 1, 10, "too soon")
			wait(99 * time.Millisecond)
			c.Progress(ctx, 2, 10, "too soon")
			wait(time.Millisecond)
			c.Progress(ctx, 3, 0, "")
			wait(time.Second)
			c.Progress(ctx, 3, 10, "does not increase")
			c.Progress(ctx, 2, 10, "falls")
			c.Progress(ctx, math.NaN(), 10, "no number")
			c.Progress(ctx, math.Inf(1), 10, "no number")
			c.Progress(ctx, 4.5, 10, "later")
			c.Progress(ctx, 10, 10, "final")
			c.Progress(ctx, 11, 10, "too soon")
			return nil
		})
		same(t, strings.Join(back.of(t, mcp.NoteProgress), "\n"), strings.Join([]string{
			`{"progressToken":"tok","progress":0,"total":10,"message":"first"}`,
			`{"progressToken":"tok","progress":3}`,
			`{"progressToken":"tok","progress":4.5,"total":10,"message":"later"}`,
			`{"progressToken":"tok","progress":10,"total":10,"message":"final"}`,
		}, "\n"))
	})
}

func TestProgressWithoutToken(t *testing.T) {
	s, _ := newServer(Options{})
	back := within(t, s, unprepared, func(ctx context.Context, c *Call) error {
		c.Progress(ctx, 1, 1, "")
		return nil
	})
	if len(back.notes) != 0 {
		t.Errorf("sent %v", back.notes)
	}
}

func TestProgressAfterTheAnswer(t *testing.T) {
	s, _ := newServer(Options{ProgressInterval: -1})
	var kept *Call
	back := within(t, s, withToken, func(ctx context.Context, c *Call) error {
		kept = c
		c.Progress(ctx, 1, 0, "")
		c.Progress(ctx, 2, 0, "")
		return nil
	})
	kept.Progress(t.Context(), 3, 0, "")
	if got := len(back.of(t, mcp.NoteProgress)); got != 2 {
		t.Errorf("%d notifications, want 2", got)
	}
}

// While one goroutine sends, what others report waits for it; only the latest
// is sent next, and order is kept.
func TestProgressFromManyGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newServer(Options{ProgressInterval: -1})
		gate := make(chan struct{})
		back := within(t, s, func(x *mcp.Exchange, b *fakeBack) {
			withToken(x, b)
			b.block = gate
		}, func(ctx context.Context, c *Call) error {
			go c.Progress(ctx, 1, 0, "")
			synctest.Wait()
			for i := range 5 {
				c.Progress(ctx, float64(i+2), 0, "") // does not wait
			}
			close(gate)
			synctest.Wait()
			return nil
		})
		same(t, strings.Join(back.of(t, mcp.NoteProgress), " "), `{"progressToken":"tok","progress":1} {"progressToken":"tok","progress":6}`)
	})
}

func TestLog(t *testing.T) {
	wants := func(level mcp.LoggingLevel) func(*mcp.Exchange, *fakeBack) {
		return func(_ *mcp.Exchange, b *fakeBack) { b.level = level }
	}
	messages := func(ctx context.Context, c *Call) error {
		c.Log(ctx, mcp.LevelDebug, "a")
		c.Log(ctx, mcp.LevelError, map[string]int{"b": 1})
		c.Log(ctx, "loud", "c")
		return nil
	}
	const b, c = `{"level":"error","data":{"b":1}}`, `{"level":"info","data":"c"}`
	for _, test := range []struct {
		name    string
		logging bool
		level   mcp.LoggingLevel
		want    string
	}{
		{"all", true, mcp.LevelDebug, `{"level":"debug","data":"a"} ` + b + ` ` + c},
		{"some", true, mcp.LevelWarning, b},
		{"none wanted", true, "", ""},
		{"not declared", false, mcp.LevelDebug, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, log := newServer(Options{Logging: test.logging})
			back := within(t, s, wants(test.level), messages)
			same(t, strings.Join(back.of(t, mcp.NoteMessage), " "), test.want)
			for _, want := range []string{`level=ERROR msg="message to the client" method=tools/call data=map[b:1]`, `level=INFO msg=c`} {
				if !strings.Contains(log.String(), want) {
					t.Errorf("%q is not in the log:\n%s", want, log)
				}
			}
		})
	}
}

type secret string

func (secret) LogValue() slog.Value { return slog.StringValue("hidden") }

func TestLogger(t *testing.T) {
	s, log := newServer(Options{Logging: true})
	back := within(t, s, func(_ *mcp.Exchange, b *fakeBack) { b.level = mcp.LevelInfo }, func(_ context.Context, c *Call) error {
		l := c.Logger("db")
		l.Debug("not wanted")
		l.With("a", 1).WithGroup("g").With("b", 2*time.Second, "err", errors.New("bad")).Warn("m",
			"c", secret("x"), slog.Group("h", "d", []int{1}), slog.Group("empty"), slog.Group("", "inline", true),
			"ch", make(chan int) == nil, "f", func() {} == nil, "nan", math.NaN())
		l.WithGroup("").Info("plain", "msg2", "\xff")
		if l.Enabled(t.Context(), slog.LevelDebug) {
			t.Error("debug is enabled")
		}
		return nil
	})
	same(t, strings.Join(back.of(t, mcp.NoteMessage), "\n"),
		`{"level":"warning","logger":"db","data":{"a":1,"g":{"b":"2s","c":"hidden","ch":false,"err":"bad","f":false,"h":{"d":[1]},"inline":true,"nan":"NaN"},"msg":"m"}}`+"\n"+
			`{"level":"info","logger":"db","data":{"msg":"plain","msg2":"�"}}`)
	for _, want := range []string{`msg=m logger=db a=1 g.b=2s`, `msg=plain`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("%q is not in the log:\n%s", want, log)
		}
	}
}

func TestNotify(t *testing.T) {
	s, _ := newServer(Options{})
	back := within(t, s, unprepared, func(ctx context.Context, c *Call) error {
		if err := c.Notify(ctx, mcp.NoteProgress, nil); err == nil {
			t.Error("a notification of the protocol was not refused")
		}
		return c.Notify(ctx, "x/note", map[string]int{"a": 1})
	})
	same(t, strings.Join(back.of(t, "x/note"), " "), `{"a":1}`)
}

func TestNoWayBack(t *testing.T) {
	s, _ := newServer(Options{Logging: true})
	within(t, s, func(x *mcp.Exchange, _ *fakeBack) {
		x.Back, x.ProgressToken = nil, jsonrpc.IntID(1)
	}, func(ctx context.Context, c *Call) error {
		c.Progress(ctx, 1, 1, "")
		c.Log(ctx, mcp.LevelError, "x")
		_, roots := Roots(ctx, c)
		_, once := Once(ctx, c, "k", func(context.Context) (int, error) { return 1, nil })
		for _, err := range []error{c.Notify(ctx, "x", nil), roots, once} {
			if !errors.Is(err, errNoWayBack) {
				t.Errorf("got %v", err)
			}
		}
		return nil
	})
}

func TestCallFacts(t *testing.T) {
	s, _ := newServer(Options{})
	within(t, s, func(x *mcp.Exchange, _ *fakeBack) {
		x.Meta = []byte(`{"com.example/n":7,"s":"t"}`)
		x.Peer = mcp.Peer{Principal: "ann", Info: mcp.Implementation{Name: "client"}}
	}, func(_ context.Context, c *Call) error {
		var n int
		ok, err := c.Meta("com.example/n", &n)
		if !ok || err != nil || n != 7 {
			t.Errorf("got %d, %t, %v", n, ok, err)
		}
		if ok, err := c.Meta("other", &n); ok || err != nil {
			t.Errorf("got %t, %v", ok, err)
		}
		if ok, err := c.Meta("s", &n); !ok || err == nil {
			t.Errorf("got %t, %v", ok, err)
		}
		if c.Principal() != "ann" || c.Peer().Info.Name != "client" {
			t.Errorf("got %+v", c.Peer())
		}
		for _, key := range []string{"", "a b", "/x", "-a/x", "a/", "a/-x", "a/b/c", "a..b/c"} {
			if err := c.SetResultMeta(key, 1); (err == nil) != (key == "a/") {
				t.Errorf("key %q: %v", key, err)
			}
		}
		if err := c.SetResultMeta("k", make(chan int)); err == nil {
			t.Error("a channel was encoded")
		}
		return nil
	})
}
