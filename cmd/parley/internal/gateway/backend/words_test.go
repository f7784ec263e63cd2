package backend_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/plain"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/stdio"
	"github.com/parley-mcp/parley/transport/streamable"
)

// Clients learn what kind of failure it is, and nothing of where the server is, what it was
// started with, or what it says to whoever has.
func TestWords(t *testing.T) {
	const secret = "hunter2-hunter2"
	at := func(err error) error {
		return &url.Error{Op: "Post", URL: "http://user:" + secret + "@h/" + secret + "?key=" + secret, Err: err}
	}
	for want, err := range map[string]error{
		"it cannot be started":              fmt.Errorf("cannot connect to x --token %s: %w", secret, &fs.PathError{Op: "fork/exec", Path: secret, Err: syscall.ENOENT}),
		"it cannot be started:":             &exec.Error{Name: secret, Err: exec.ErrNotFound},
		"connection refused":                at(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}),
		"the name of its host is not known": at(&net.DNSError{Name: secret}),
		"HTTP status 401 Unauthorized":      at(&streamable.HTTPError{Status: 401, Body: secret}),
		"did not answer in time":            at(client.ErrTimeout),
		"the connection was lost":           fmt.Errorf("%s: %w", secret, jsonrpc.ErrClosed),
		"refuses the connection":            fmt.Errorf("cannot connect to %s: %w", secret, &jsonrpc.Error{Code: -32602, Message: "no such key: " + secret}),
		"cannot be found":                   &target.Error{File: secret, Err: errors.New(secret)},
		"it cannot be reached":              errors.New(secret),
		"message is over the limit of 5 by": at(&jsonrpc.TooLongError{Limit: 5}),
		"clients may read this":             at(plain.New("clients may read this")),
	} {
		t.Run(want, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCommand(t)
				c.down = err
				b := c.behind(t, backend.Options{})
				defer c.end(b)
				_, err := call(t, b, false)
				told := fmt.Sprint(err)
				if rpc, ok := errors.AsType[*jsonrpc.Error](err); ok {
					told += rpc.Message
				}
				if !strings.Contains(told, strings.TrimSuffix(want, ":")) || strings.Contains(told, secret) {
					t.Errorf("clients are told: %s", told)
				}
				if s := b.State(); s.Err == nil {
					t.Error("whoever runs the gateway is told nothing")
				}
			})
		})
	}
}

// What a server writes of one user before it ends reaches no other one, also where all
// share it.
func TestLastWordsReachNobody(t *testing.T) {
	const words = "ann asked for patient 4711"
	b := backend.New(backend.Options{Name: "files", Logger: mcptest.Quiet(), Share: bridge.ShareAll, Connect: func(ctx context.Context, _ *mcp.Peer, o *client.Options) (*client.Client, error) {
		o.MaxRestarts = -1
		return client.Connect(ctx, &stdio.Command{Args: []string{"sh", "-c", "echo " + words + " >&2; exit 3"}}, o)
	}})
	t.Cleanup(func() { _ = b.Close() })
	for _, who := range []string{"ann", "bob"} {
		_, err := callAs(t, b, &mcp.Peer{Principal: who}, "a", false)
		if told := fmt.Sprint(err); strings.Contains(told, "patient") || !strings.Contains(told, "it has ended: exit status 3") {
			t.Errorf("%s is told: %s", who, told)
		}
	}
	if s := b.State(); !strings.Contains(fmt.Sprint(s.Err), words) {
		t.Errorf("whoever runs the gateway is told %v", s.Err)
	}
}
