package frames_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/frames"
)

// kinds make the two ends of each kind of connection.
var kinds = map[string]func() (near, far frames.Conn){
	"pipe": frames.Pipe,
	"lines": func() (near, far frames.Conn) {
		a, b := net.Pipe()
		return frames.Lines(a, a, 0), frames.Lines(b, b, 0)
	},
	"a type of its own": func() (near, far frames.Conn) {
		a, b := frames.Pipe()
		return plain{a}, plain{b}
	},
}

// plain hides the methods of a Conn that are not in the interface.
type plain struct{ frames.Conn }

// curious has a tool that asks, reports progress, and says who called it.
func curious() *server.Server {
	s := server.New(mcp.Implementation{Name: "curious", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	server.AddTool(s, mcp.Tool{Name: "ask"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		roots, err := server.Roots(ctx, call)
		if err != nil {
			return "", err
		}
		call.Progress(ctx, 1, 1, "")
		p := call.Exchange().Peer
		return fmt.Sprint(roots[0].Name, " ", p.Principal, " ", p.Authorization.Scopes), nil
	})
	server.AddTool(s, mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *server.Call, _ struct{}) (string, error) {
		<-ctx.Done()
		return "", context.Cause(ctx)
	})
	return s
}

func quiet() *frames.Options {
	return &frames.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}}
}

// dial connects a client to the near end of a connection.
func dial(t *testing.T, near frames.Conn, r mcp.Revision) *client.Client {
	t.Helper()
	transport := &frames.Client{Label: "test:", Dial: func(context.Context) (frames.Conn, error) { return near, nil }}
	c, err := client.Connect(t.Context(), transport, &client.Options{
		Revisions: []mcp.Revision{r}, Logger: mcptest.Quiet(),
		Roots: []*mcp.Root{{URI: "file:///a", Name: "home"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// serve serves the far end, and returns what Serve returns.
func serve(ctx context.Context, far frames.Conn, opts *frames.Options) <-chan error {
	served := make(chan error, 1)
	go func() { served <- frames.Serve(ctx, curious(), far, opts) }() // ends with the connection
	return served
}

// Both roles work in both eras over any Conn, and the handler learns who is at
// the other end.
func TestBothRoles(t *testing.T) {
	for name, pair := range kinds {
		for _, r := range []mcp.Revision{mcp.Revision20241105, mcp.Revision20251125, mcp.Revision20260728} {
			t.Run(name+"/"+r.String(), func(t *testing.T) {
				near, far := pair()
				opts := quiet()
				opts.Authorization = &mcp.Authorization{Issuer: "https://id.example", Subject: "ann", Scopes: []string{"read"}}
				served := serve(t.Context(), far, opts)
				c := dial(t, near, r)
				told := 0
				got, err := client.Call[string](t.Context(), c, "ask", nil, client.WithProgress(func(*mcp.ProgressParams) { told++ }))
				if want := "home https://id.example user ann [read]"; err != nil || got != want {
					t.Errorf("got %q, %v, want %q", got, err, want)
				}
				if err := errors.Join(c.Close(), <-served); err != nil {
					t.Error(err)
				}
				if told != 1 {
					t.Errorf("progress was told %d times", told)
				}
			})
		}
	}
}

// Principal takes precedence over that of the authorization.
func TestPrincipal(t *testing.T) {
	near, far := frames.Pipe()
	opts := quiet()
	opts.Principal, opts.Authorization = "ann@tls", &mcp.Authorization{Issuer: "https://id.example", Subject: "ann"}
	served := serve(t.Context(), far, opts)
	c := dial(t, near, mcp.Revision20260728)
	if got, err := client.Call[string](t.Context(), c, "ask", nil); err != nil || got != "home ann@tls []" {
		t.Errorf("got %q, %v", got, err)
	}
	if err := errors.Join(c.Close(), <-served); err != nil {
		t.Error(err)
	}
}

// scripted is a Conn whose Read returns what is scripted, and then waits.
type scripted struct {
	script []any // messages and errors
	frames.Conn
}

func (s *scripted) Read() ([]byte, error) {
	if len(s.script) == 0 {
		return s.Conn.Read()
	}
	next := s.script[0]
	s.script = s.script[1:]
	if err, ok := next.(error); ok {
		return nil, err
	}
	return []byte(next.(string)), nil
}

func TestServeEnds(t *testing.T) {
	broken := errors.New("the wire broke")
	for name, tt := range map[string]struct {
		read error
		want error
	}{
		"clean":   {io.EOF, nil},
		"wrapped": {fmt.Errorf("bye: %w", io.EOF), nil},
		"badly":   {broken, broken},
	} {
		t.Run(name, func(t *testing.T) {
			near, far := frames.Pipe()
			err := frames.Serve(t.Context(), curious(), &scripted{[]any{tt.read}, far}, quiet())
			if !errors.Is(err, tt.want) || tt.want == nil && err != nil {
				t.Errorf("Serve: %v, want %v", err, tt.want)
			}
			if near.Write([]byte("{}")) == nil {
				t.Error("Serve has left the connection open")
			}
		})
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := frames.Pipe()
		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		served := serve(ctx, far, quiet())
		c := dial(t, near, mcp.Revision20251125)
		answered := make(chan error, 1)
		go func() { // ends with the call
			_, err := client.Call[string](t.Context(), c, "wait", nil)
			answered <- err
		}()
		synctest.Wait()
		cancel(enough)
		if err := <-served; !errors.Is(err, enough) {
			t.Errorf("Serve: %v, want %v", err, enough)
		}
		if err := <-answered; err == nil {
			t.Error("the call was answered")
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A connection does not outlive the authorization of its client.
func TestAuthorizationExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := frames.Pipe()
		opts := quiet()
		start := time.Now()
		opts.Authorization = &mcp.Authorization{Issuer: "https://id.example", Subject: "ann", Expires: start.Add(10 * time.Second)}
		served := serve(t.Context(), far, opts)
		c := dial(t, near, mcp.Revision20251125)
		if _, err := client.Call[string](t.Context(), c, "wait", nil); err == nil || !strings.Contains(err.Error(), "expired") {
			t.Errorf("the call ended with %v", err)
		}
		if err := <-served; err == nil || !strings.Contains(err.Error(), "expired") {
			t.Errorf("Serve: %v", err)
		}
		if d := time.Since(start); d != 10*time.Second {
			t.Errorf("it took %v", d)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A message that was skipped is refused, and the connection stays open.
func TestTooLongForAServer(t *testing.T) {
	near, far := frames.Pipe()
	served := make(chan error, 1)
	conn := &scripted{[]any{&jsonrpc.TooLongError{Limit: 9}, `{"jsonrpc":"2.0","id":1,"method":"ping"}`}, far}
	go func() { served <- frames.Serve(t.Context(), curious(), conn, quiet()) }() // ends when near is closed
	for _, want := range []string{"message is over the limit of 9 bytes", `"id":1,"result":{}`} {
		if got, err := near.Read(); err != nil || !strings.Contains(string(got), want) {
			t.Errorf("the server said %s, %v, want %s", got, err, want)
		}
	}
	if err := errors.Join(near.Close(), <-served); err != nil {
		t.Error(err)
	}
}

// A client cannot tell which answer was too long, so all calls fail.
func TestTooLongForAClient(t *testing.T) {
	a, b := net.Pipe()
	served := serve(t.Context(), frames.Lines(b, b, 0), quiet())
	transport := &frames.Client{Label: "test:", Dial: func(context.Context) (frames.Conn, error) { return frames.Lines(a, a, 100), nil }}
	_, err := client.Connect(t.Context(), transport, &client.Options{Revisions: []mcp.Revision{mcp.Revision20251125}, Logger: mcptest.Quiet()})
	if err == nil || !strings.Contains(err.Error(), "over the limit of 100 bytes") {
		t.Errorf("Connect: %v", err)
	}
	<-served // how that ended does not matter
}

func TestDialFails(t *testing.T) {
	refused := errors.New("nobody is there")
	_, err := client.Connect(t.Context(), &frames.Client{Label: "test:", Dial: func(context.Context) (frames.Conn, error) { return nil, refused }}, nil)
	if !errors.Is(err, refused) || !strings.Contains(err.Error(), "test:") {
		t.Errorf("Connect: %v", err)
	}
	if _, err := client.Connect(t.Context(), &frames.Client{}, nil); err == nil || !strings.Contains(err.Error(), "Dial") {
		t.Errorf("without Dial: %v", err)
	}
}

// The error of a server in this process reaches its client.
func TestInProcessServerFails(t *testing.T) {
	opts := quiet()
	opts.StateKeys = [][]byte{[]byte("short")}
	_, err := client.Connect(t.Context(), frames.InProcess(curious(), opts), &client.Options{Logger: mcptest.Quiet()})
	if err == nil || !strings.Contains(err.Error(), "want 32") {
		t.Errorf("Connect: %v", err)
	}
}

// Close of a connection to a server in this process waits for its handlers.
func TestInProcessCloseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		started := make(chan struct{})
		s := server.New(mcp.Implementation{Name: "t", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
		server.AddTool(s, mcp.Tool{Name: "slow"}, func(ctx context.Context, _ *server.Call, _ struct{}) (string, error) {
			close(started)
			<-ctx.Done()
			<-time.NewTimer(time.Second).C
			close(over)
			return "", nil
		})
		c, err := client.Connect(t.Context(), frames.InProcess(s, quiet()), &client.Options{Logger: mcptest.Quiet()})
		if err != nil {
			t.Fatal(err)
		}
		answered := make(chan struct{})
		go func() { // ends with the connection
			defer close(answered)
			_, _ = client.Call[string](t.Context(), c, "slow", nil) // it is cut off
		}()
		<-started
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		select {
		case <-over:
		default:
			t.Error("Close returned before the handler")
		}
		<-answered
	})
}
