//go:build unix

package stdio_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/stdio"
)

// The test binary is also the servers that the tests start.
func TestMain(m *testing.M) {
	switch os.Getenv("STDIO_TEST_SERVER") {
	case "":
		goleak.VerifyTestMain(m)
	case "good":
		serve()
	case "stubborn": // ends neither with its input nor when it is told to
		signal.Ignore(syscall.SIGTERM)
		serve()
		select {}
	case "parent": // has a child that does not end with its input
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "STDIO_TEST_SERVER=sleeper")
		if err := cmd.Start(); err != nil {
			os.Exit(1)
		}
		fmt.Fprintln(os.Stderr, "child", cmd.Process.Pid)
		serve()
	case "sleeper":
		<-time.NewTimer(time.Hour).C
	case "mute": // reads, and says nothing
		for s := bufio.NewScanner(os.Stdin); s.Scan(); {
			continue
		}
	case "crash":
		fmt.Fprintln(os.Stderr, "no database here")
		os.Exit(3)
	case "frail": // goes silent at a probe, and then ends at a handshake
		frail()
	case "noisy": // 8 MB on standard error
		for range 8 << 10 {
			fmt.Fprintln(os.Stderr, strings.Repeat("x", 1023))
		}
		fmt.Fprintln(os.Stderr, "that was it")
		os.Exit(3)
	case "junk":
		os.Stdout.WriteString("Welcome!\n") //nolint:forbidigo // to pollute it is the point
		serve()
	}
}

func frail() {
	const welcome = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"frail","version":"1"}}}`
	probed := false
	for s := bufio.NewScanner(os.Stdin); s.Scan(); {
		switch line := s.Text(); {
		case strings.Contains(line, "server/discover"):
			probed = true
		case strings.Contains(line, "initialize\"") && probed:
			os.Exit(1)
		case strings.Contains(line, "initialize\""):
			os.Stdout.WriteString(welcome + "\n") //nolint:forbidigo // it is a protocol frame
		}
	}
}

func serve() {
	s := server.New(mcp.Implementation{Name: "child", Version: "1"}, nil)
	server.AddTool(s, mcp.Tool{Name: "pid"}, func(context.Context, *server.Call, struct{}) (string, error) {
		return strconv.Itoa(os.Getpid()), nil
	})
	server.AddTool(s, mcp.Tool{Name: "environ"}, func(context.Context, *server.Call, struct{}) ([]string, error) {
		return os.Environ(), nil
	})
	server.AddTool(s, mcp.Tool{Name: "wait"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		call.Progress(ctx, 1, 0, strconv.Itoa(os.Getpid()))
		<-ctx.Done()
		return "", ctx.Err()
	})
	if err := stdio.Serve(context.Background(), s, &mcp.ServeOptions{Logger: mcptest.Quiet()}); err != nil {
		os.Exit(1)
	}
}

func child(kind string) *stdio.Command {
	return &stdio.Command{Args: []string{os.Args[0]}, Env: []string{"STDIO_TEST_SERVER=" + kind}, Grace: 5 * time.Second}
}

func connect(t *testing.T, kind string, r mcp.Revision) *client.Client {
	t.Helper()
	c, err := client.Connect(t.Context(), child(kind), &client.Options{Revisions: []mcp.Revision{r}, Logger: mcptest.Quiet()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return c
}

func pid(t *testing.T, c *client.Client) int {
	t.Helper()
	text, err := client.Call[string](t.Context(), c, "pid", nil)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A child that is killed in the middle of a call fails that call at once, and
// leaves no zombie.
func TestKilledChild(t *testing.T) {
	for _, r := range []mcp.Revision{mcp.Revision20241105, mcp.Revision20251125, mcp.Revision20260728} {
		t.Run(r.String(), func(t *testing.T) {
			c := connect(t, "good", r)
			id := pid(t, c)
			_, err := c.CallTool(t.Context(), "wait", nil, client.WithProgress(func(*mcp.ProgressParams) {
				if err := syscall.Kill(id, syscall.SIGKILL); err != nil {
					t.Error(err)
				}
			}))
			var exit *stdio.ExitError
			if !errors.As(err, &exit) || !errors.Is(err, jsonrpc.ErrClosed) {
				t.Fatalf("error = %v, want an *ExitError", err)
			}
			if !strings.Contains(err.Error(), "signal: killed") {
				t.Errorf("the error does not say how the child ended: %v", err)
			}
			if err := syscall.Kill(id, 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("process %d is still there: %v", id, err)
			}
		})
	}
}

// In the stateless era the next call finds a new process; a session is over.
func TestRestart(t *testing.T) {
	t.Run("stateless", func(t *testing.T) {
		c := connect(t, "good", mcp.Revision20260728)
		first := pid(t, c)
		kill(t, c, first)
		if second := pid(t, c); second == first {
			t.Error("the same process answers after it was killed")
		}
	})
	t.Run("session", func(t *testing.T) {
		c := connect(t, "good", mcp.Revision20251125)
		kill(t, c, pid(t, c))
		_, err := c.CallTool(t.Context(), "pid", nil)
		if err == nil || !strings.Contains(err.Error(), "session was lost") {
			t.Errorf("error = %v, want that the session was lost", err)
		}
		<-c.Done()
	})
}

// A server that dies while nothing is asked of it is noticed at once: a session ends
// with everything in it, and in the stateless era a subscription finds a new process.
func TestDeadServerIsNoticedWithoutACall(t *testing.T) {
	for _, r := range []mcp.Revision{mcp.Revision20241105, mcp.Revision20250326, mcp.Revision20250618, mcp.Revision20251125} {
		t.Run(r.String(), func(t *testing.T) {
			c := connect(t, "good", r)
			sub, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true}, func(context.Context, client.Event) {})
			if err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(pid(t, c), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			<-c.Done()
			<-sub.Done()
			for what, err := range map[string]error{"client": c.Err(), "subscription": sub.Err()} {
				var exit *stdio.ExitError
				if !errors.As(err, &exit) || !strings.Contains(err.Error(), "the session was lost: the server ended: signal: killed") {
					t.Errorf("the %s ended with %v, want how the process ended", what, err)
				}
			}
		})
	}
	t.Run("stateless subscription", func(t *testing.T) {
		c := connect(t, "good", mcp.Revision20260728)
		gap := make(chan client.Event, 1)
		sub, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true}, func(_ context.Context, e client.Event) { gap <- e })
		if err != nil {
			t.Fatal(err)
		}
		first := pid(t, c)
		if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		select {
		case e := <-gap:
			if !e.Gap || pid(t, c) == first {
				t.Errorf("event = %+v, want a gap and another process", e)
			}
		case <-sub.Done():
			t.Errorf("the subscription ended: %v", sub.Err())
		}
	})
	t.Run("stateless without restarts", func(t *testing.T) {
		c, err := client.Connect(t.Context(), child("good"), &client.Options{MaxRestarts: -1, Logger: mcptest.Quiet()})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		sub, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true}, func(context.Context, client.Event) {})
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid(t, c), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-c.Done()
		<-sub.Done()
		var exit *stdio.ExitError
		if !errors.As(c.Err(), &exit) || sub.Err() == nil {
			t.Errorf("client: %v, subscription: %v; want how the process ended", c.Err(), sub.Err())
		}
	})
}

// kill ends the child and waits until the client has noticed.
func kill(t *testing.T, c *client.Client, id int) {
	t.Helper()
	_, err := c.CallTool(t.Context(), "wait", nil, client.WithProgress(func(*mcp.ProgressParams) {
		_ = syscall.Kill(id, syscall.SIGKILL)
	}))
	if err == nil {
		t.Fatal("the call survived its server")
	}
}

func TestStubbornChildIsKilled(t *testing.T) {
	cmd := child("stubborn")
	cmd.Grace = 50 * time.Millisecond
	c, err := client.Connect(t.Context(), cmd, &client.Options{Logger: mcptest.Quiet()})
	if err != nil {
		t.Fatal(err)
	}
	id := pid(t, c)
	if err := c.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := syscall.Kill(id, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d is still there: %v", id, err)
	}
}

// lines has what is written to it.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// What a server has started ends with it when it is killed, and cannot see to that itself.
func TestChildOfAKilledChild(t *testing.T) {
	cmd, said := child("parent"), new(lines)
	cmd.Stderr = said
	c, err := client.Connect(t.Context(), cmd, &client.Options{Logger: mcptest.Quiet(), Revisions: []mcp.Revision{mcp.Revision20251125}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	leader := pid(t, c)
	said.mu.Lock()
	words := strings.Fields(said.buf.String())
	said.mu.Unlock()
	if len(words) != 2 {
		t.Fatalf("the server says %q", words)
	}
	grandchild, err := strconv.Atoi(words[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(leader, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-c.Done()
	for range 1000 { // nobody waits for it but the system
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", grandchild))
		if syscall.Kill(grandchild, 0) != nil || err == nil && bytes.Contains(stat, []byte(") Z ")) {
			return
		}
		<-time.NewTimer(10 * time.Millisecond).C
	}
	t.Errorf("process %d is still there", grandchild)
}

func TestConnectFailsClearly(t *testing.T) {
	tests := []struct {
		name    string
		cmd     *stdio.Command
		timeout time.Duration
		want    string
	}{
		{"no such program", &stdio.Command{Args: []string{"/no/such/program"}}, time.Minute, "no such file"},
		{"no command", &stdio.Command{}, time.Minute, "no command given"},
		{"crash with last words", child("crash"), time.Minute, "no database here"},
		{"silence", child("mute"), 50 * time.Millisecond, "did not answer in time"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := &client.Options{Logger: mcptest.Quiet(), ProbeTimeout: tt.timeout, Timeout: tt.timeout}
			_, err := client.Connect(t.Context(), tt.cmd, o)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want one with %q", err, tt.want)
			}
		})
	}
}

// The reason of a failure comes early, however long the command line is.
func TestErrorsNameTheReasonBeforeALongCommand(t *testing.T) {
	long := child("crash")
	long.Args = append(long.Args, strings.Repeat("--flag=value ", 100))
	_, err := client.Connect(t.Context(), long, &client.Options{Logger: mcptest.Quiet()})
	if err == nil {
		t.Fatal("a server that exits was connected to")
	}
	if at := strings.Index(err.Error(), "exit status 3; its last words: no database here"); at < 0 || at > 200 {
		t.Errorf("the reason is at %d, want it within the first 200 bytes of %q", at, err)
	}
}

// A server that a probe has broken is started again, and not probed.
func TestConnectToAServerThatAProbeBreaks(t *testing.T) {
	c, err := client.Connect(t.Context(), child("frail"), &client.Options{Logger: mcptest.Quiet(), ProbeTimeout: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Revision() != mcp.Revision20250618 {
		t.Errorf("revision = %s", c.Revision())
	}
}

// A line that is not a message does not disturb those that are.
func TestJunkOnStandardOutput(t *testing.T) {
	pid(t, connect(t, "junk", mcp.Revision20260728))
}

// A child that writes without end to its standard error fills nobody's terminal, and
// its last words are known all the same.
func TestStandardErrorIsBounded(t *testing.T) {
	var out bytes.Buffer
	cmd := child("noisy")
	cmd.Stderr, cmd.StderrRate = &out, 4096
	began := time.Now()
	_, err := client.Connect(t.Context(), cmd, &client.Options{Logger: mcptest.Quiet()})
	if err == nil || !strings.Contains(err.Error(), "that was it") {
		t.Errorf("error = %v, want the last words", err)
	}
	seconds := int(time.Since(began)/time.Second) + 2
	if out.Len() > seconds*4200 || !strings.Contains(out.String(), "bytes of standard error left out]\n") {
		t.Errorf("%d bytes in %d s, want 4096 a second and a notice", out.Len(), seconds)
	}
}

// With CleanEnv a child gets what is named and what it needs to run, and none of
// the secrets of its parent.
func TestCleanEnv(t *testing.T) {
	t.Setenv("DEPLOY_TOKEN", "secret")
	t.Setenv("TERM", "() { :; }")
	t.Setenv("LANG", "C.UTF-8")
	for _, clean := range []bool{false, true} {
		t.Run(fmt.Sprint(clean), func(t *testing.T) {
			cmd := child("good")
			cmd.CleanEnv, cmd.Env = clean, append(cmd.Env, "LANG=de_DE", "EXTRA=1")
			c, err := client.Connect(t.Context(), cmd, &client.Options{Logger: mcptest.Quiet()})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			env, err := client.Call[[]string](t.Context(), c, "environ", nil)
			if err != nil {
				t.Fatal(err)
			}
			for entry, want := range map[string]bool{
				"DEPLOY_TOKEN=secret": !clean, "TERM=() { :; }": !clean, "EXTRA=1": true,
				"LANG=de_DE": true, "LANG=C.UTF-8": false, "PATH=" + os.Getenv("PATH"): true,
			} {
				if slices.Contains(env, entry) != want {
					t.Errorf("the child has %q: %v, want %v", entry, !want, want)
				}
			}
		})
	}
}
