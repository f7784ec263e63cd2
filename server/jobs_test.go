package server_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

type tenantKey struct{}

// book is a log that can be read while it is written.
type book struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *book) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *book) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// jobServer has a tool that starts a job, in a context with a value that middleware has put there.
func jobServer(o *server.Options, job func(ctx context.Context, j *server.Job) error) *server.Server {
	srv := server.New(mcp.Implementation{Name: "jobs", Version: "1"}, o)
	srv.Use(func(next mcp.ServeFunc) mcp.ServeFunc {
		return func(ctx context.Context, x *mcp.Exchange) (any, error) {
			ctx, cancel := context.WithCancel(context.WithValue(ctx, tenantKey{}, "acme"))
			defer cancel() // with the request
			return next(ctx, x)
		}
	})
	server.AddTool(srv, mcp.Tool{Name: "start"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		return "started", call.StartJob(ctx, "mail", job)
	})
	return srv
}

// A job goes on after its request, in every revision, with the values of the context but
// not with its end, until the server is closed.
func TestJobOutlivesItsRequest(t *testing.T) {
	for _, m := range mcptest.Modes() {
		t.Run(m.String(), func(t *testing.T) {
			answered, done := make(chan struct{}), make(chan error, 1)
			srv := jobServer(&server.Options{Logger: mcptest.Quiet()}, func(ctx context.Context, j *server.Job) error {
				<-answered
				switch {
				case ctx.Err() != nil:
					done <- ctx.Err()
				case ctx.Value(tenantKey{}) != "acme" || j.Name() != "mail" || j.Peer().Revision != m.Revision:
					done <- errors.New("the job does not know its request")
				default:
					done <- nil
				}
				<-ctx.Done()
				done <- context.Cause(ctx)
				return nil
			})
			t.Run("client", func(t *testing.T) {
				c := mcptest.Connect(t, srv, m, nil)
				if text, err := client.Call[string](t.Context(), c, "start", struct{}{}); err != nil || text != "started" {
					t.Errorf("start gave %q, %v", text, err)
				}
			})
			close(answered) // and the client has gone
			if err := <-done; err != nil {
				t.Error(err)
			}
			if err := srv.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if err := <-done; !errors.Is(err, server.ErrServerClosed) {
				t.Errorf("the job ended with %v", err)
			}
		})
	}
}

// Close waits for what a job does in spite of its context, for as long as it may.
func TestCloseWaitsForJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var job *server.Job
		call := mcptest.NewCall(t, &mcptest.Caller{Peer: &mcp.Peer{Principal: "ann", Authorization: &mcp.Authorization{Subject: "ann"}}})
		srv := jobServer(&server.Options{Logger: mcptest.Quiet()}, func(context.Context, *server.Job) error {
			<-release
			return nil
		})
		if _, err := srv.Serve(t.Context(), toolCall("start")); err != nil {
			t.Fatal(err)
		}
		err := call.StartJob(t.Context(), "own", func(ctx context.Context, j *server.Job) error {
			job = j
			if mcp.AuthorizationFrom(ctx) == nil {
				t.Error("the job has no authorization")
			}
			return nil
		})
		synctest.Wait()
		if err != nil || job.Principal() != "ann" {
			t.Errorf("the job is of %+v, %v", job, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		go func() { ended <- srv.Close(ctx) }()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Close gave up with %v", err)
		}
		go func() { ended <- srv.Close(t.Context()) }()
		synctest.Wait()
		select {
		case err := <-ended:
			t.Errorf("Close did not wait, and returned %v", err)
		default:
		}
		close(release)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func toolCall(name string) *mcp.Exchange {
	return &mcp.Exchange{ID: jsonrpc.IntID(1), Method: mcp.MethodCallTool, Params: []byte(`{"name":"` + name + `","arguments":{}}`)}
}

// What goes wrong in a job is in the log, with the name of the job, and nothing else
// suffers from it.
func TestJobsThatFail(t *testing.T) {
	for want, fail := range map[string]func() error{
		`msg="a job failed" job=mail error="no mail server"`: func() error { return errors.New("no mail server") },
		`msg="panic in a job" job=mail panic="no paper"`:     func() error { panic("no paper") },
		"msg=done job=mail": func() error { return nil },
	} {
		log := new(book)
		srv := jobServer(&server.Options{Logger: slog.New(slog.NewTextHandler(log, nil))}, func(_ context.Context, j *server.Job) error {
			err := fail()
			j.Logger().Info("done")
			return err
		})
		if _, err := srv.Serve(t.Context(), toolCall("start")); err != nil {
			t.Fatal(err)
		}
		if err := srv.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s:\n%s", want, log)
		}
	}
}

// Only so many jobs run at a time, and none once the server is closed.
func TestJobsAreBounded(t *testing.T) {
	release := make(chan struct{})
	srv := jobServer(&server.Options{Logger: mcptest.Quiet(), MaxJobs: 2}, func(context.Context, *server.Job) error {
		<-release
		return nil
	})
	start := func() string {
		result, err := srv.Serve(t.Context(), toolCall("start"))
		if err != nil {
			t.Fatal(err)
		}
		return result.(*mcp.CallToolResult).Content[0].(*mcp.TextContent).Text
	}
	for i, want := range []string{"started", "started", server.ErrTooManyJobs.Error()} {
		if got := start(); got != want {
			t.Errorf("job %d: %q, want %q", i, got, want)
		}
	}
	close(release)
	if err := srv.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if got := start(); got != server.ErrServerClosed.Error() {
		t.Errorf("after the end: %q", got)
	}
}
