package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/parley-mcp/parley/cmd/parley/internal/cli"
)

// TestMain makes this test binary the program and, under another name, the
// servers that the scripts need besides the reference server.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"parley": main, "fixture": fixture, "xdg-open": browse, "open": browse})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "http": serveHTTP, "bridge": overHTTP("bridge", "BRIDGE"), "gateway": overHTTP("gateway", "GATEWAY"), "keep": keep, "until": until},
		Setup: func(env *testscript.Env) error {
			// With the race detector, every process would wait a second before
			// it exits.
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			env.Setenv("PARLEY_CREDENTIALS", env.WorkDir+"/credentials")
			env.Setenv("PARLEY_KEYRING", "off")
			env.Setenv("XDG_STATE_HOME", env.WorkDir+"/state")
			return nil
		},
	})
}

// serveHTTP starts the reference server over HTTP for the rest of a script,
// with additional flags, and sets URL to its endpoint and OLD to that of its
// older transport.
func serveHTTP(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: http [FLAG...]")
	}
	url, stop, err := startHTTP(args...)
	ts.Check(err)
	ts.Defer(func() {
		if code := stop(); code != 0 {
			ts.Logf("the server ended with %d", code)
		}
	})
	ts.Setenv("URL", url)
	ts.Setenv("OLD", strings.TrimSuffix(url, "/mcp")+"/sse")
	ts.Setenv("ORIGIN", strings.TrimSuffix(url, "/mcp"))
}

// until is "until REGEXP PROGRAM ARGS...": it runs a program until it prints what is
// waited for.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until REGEXP PROGRAM ARGS...")
	}
	want := regexp.MustCompile(args[0])
	for range 1000 {
		ts.Check(ts.Exec(args[1], args[2:]...))
		if want.MatchString(ts.ReadFile("stdout")) {
			return
		}
	}
	ts.Fatalf("%s never printed %s", args[1], args[0])
}

// keep is "keep VARIABLE [REGEXP]": it sets a variable to what the last command printed, or
// to what the first group of an expression is there.
func keep(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: keep VARIABLE [REGEXP]")
	}
	text := strings.TrimSpace(ts.ReadFile("stdout"))
	if len(args) == 2 {
		found := regexp.MustCompile(args[1]).FindStringSubmatch(text)
		if len(found) < 2 {
			ts.Fatalf("%s is not in %s", args[1], text)
		}
		text = found[1]
	}
	ts.Setenv(args[0], text)
}

// overHTTP is "COMMAND ARGS...": it starts a command of parley with --http for the rest
// of a script, and sets a variable to its endpoint.
func overHTTP(command, variable string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg {
			ts.Fatalf("usage: %s ARGS...", command)
		}
		for i, arg := range args {
			if path := ts.MkAbs(arg); strings.HasSuffix(arg, ".json") || strings.HasSuffix(arg, ".yaml") {
				args[i] = path // it runs in this process, whose folder is another
			}
		}
		url, stop, err := startServing(stateOf(ts), append([]string{command, "--http", "127.0.0.1:0"}, args...)...)
		ts.Check(err)
		ts.Defer(func() {
			if code := stop(); code != 0 {
				ts.Fatalf("%s ended with %d", command, code)
			}
		})
		ts.Setenv(variable, url)
	}
}

// stateOf is the environment of this process, with the state folder of a script.
func stateOf(ts *testscript.TestScript) func(string) (string, bool) {
	const name = "XDG_STATE_HOME"
	dir := ts.Getenv(name)
	return func(variable string) (string, bool) {
		if variable == name {
			return dir, true
		}
		return os.LookupEnv(variable)
	}
}

// piped returns the IO of a program that nobody uses from a terminal.
func piped(out, err io.Writer) cli.IO {
	return cli.IO{
		In: strings.NewReader(""), Out: out, Err: err,
		LookupEnv:  os.LookupEnv,
		IsTerminal: func(any) bool { return false },
		Executable: os.Executable,
	}
}

// startHTTP starts the reference server over HTTP.
func startHTTP(flags ...string) (url string, stop func() (code int), err error) {
	return startServing(os.LookupEnv, append([]string{"serve", "--http", "127.0.0.1:0"}, flags...)...)
}

// startServing starts a command that serves over HTTP.
func startServing(env func(string) (string, bool), args ...string) (url string, stop func() (code int), err error) {
	ctx, cancel := context.WithCancel(context.Background())
	log := &urlLog{found: make(chan string, 1)}
	ended := make(chan int, 1)
	go func() { // ends with cancel; stop waits for it
		streams := piped(log, log)
		streams.LookupEnv = env
		ended <- cli.Run(ctx, streams, args)
	}()
	stop = func() int {
		cancel()
		return <-ended
	}
	select {
	case url := <-log.found:
		return url, stop, nil
	case code := <-ended:
		cancel()
		return "", nil, fmt.Errorf("the server ended with %d: %s", code, log.text.String())
	}
}

// urlLog finds the first URL of the server in what it logs.
type urlLog struct {
	mu    sync.Mutex
	text  bytes.Buffer
	found chan string
}

func (l *urlLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(p)
	if _, url, ok := strings.Cut(string(p), "msg=serving url="); ok {
		select {
		case l.found <- strings.TrimSpace(url):
		default: // a gateway has one for each view, too; its own comes first
		}
	}
	return len(p), nil
}

// onText calls a function when a text is written to it.
type onText struct {
	text string
	do   func()
}

func (w onText) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.text) {
		w.do()
	}
	return len(p), nil
}

func TestInterruptEndsWatch(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var out bytes.Buffer
	code := cli.Run(ctx, piped(&out, onText{"watching tools", interrupt}), []string{"watch", "--", "parley", "serve", "--stdio"})
	if code != 0 || out.Len() > 0 {
		t.Errorf("exit code = %d, output %q", code, &out)
	}
}

// Watching a server that is killed ends at once in a session, and goes on with another
// process in the stateless era; both say what has happened.
func TestWatchSaysThatTheServerIsGone(t *testing.T) {
	t.Parallel()
	tests := []struct {
		revision  string
		code      int
		says, out string
	}{
		{"2024-11-05", 3, "parley: the session was lost: the server ended: signal: killed\n", ""},
		{"2025-11-25", 3, "parley: the session was lost: the server ended: signal: killed\n", ""},
		{"2026-07-28", 0, "the server went away; connecting again", "gap\n"},
	}
	for _, tt := range tests {
		t.Run(tt.revision, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pid")
			kill := func() {
				raw, err := os.ReadFile(file)
				if err != nil {
					t.Error(err)
					return
				}
				pid, err := strconv.Atoi(string(raw))
				if err != nil {
					t.Error(err)
					return
				}
				process, err := os.FindProcess(pid)
				if err == nil {
					err = process.Kill()
				}
				if err != nil {
					t.Error(err)
				}
			}
			var out, said bytes.Buffer
			code := cli.Run(t.Context(), piped(&out, io.MultiWriter(&said, onText{"watching tools", kill})),
				[]string{"watch", "--count", "1", "--revision", tt.revision, "--", "fixture", "pid", file})
			if code != tt.code || !strings.Contains(said.String(), tt.says) || !strings.HasSuffix(out.String(), tt.out) {
				t.Errorf("exit code = %d, output %q, errors %q; want %d, %q and %q", code, &out, &said, tt.code, tt.out, tt.says)
			}
		})
	}
}

func TestInterruptEndsCall(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var out bytes.Buffer
	code := cli.Run(ctx, piped(&out, onText{"notifications/progress", interrupt}), []string{"call", "--trace", "count_slowly", "steps=10000", "delay_ms=100", "--", "parley", "serve", "--stdio"})
	if code != 130 || out.Len() > 0 {
		t.Errorf("exit code = %d, output %q", code, &out)
	}
}

// exits is "exits CODE PROGRAM ARGS...": it runs a program and requires that
// exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code = %d, want %d", got, want)
	}
}
