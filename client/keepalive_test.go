package client_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// logged is a log that a test reads.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) lines(with string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		if strings.Contains(line, with) {
			found = append(found, line)
		}
	}
	return found
}

func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// Every check that fails is logged, with its reason.
func TestKeepAliveLogsEachFailure(t *testing.T) {
	bothEras(t, func(t *testing.T, revisions []mcp.Revision) {
		var (
			dead atomic.Bool
			log  logged
		)
		tr := &mcptest.Transport{Handler: slow(), Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
		c, err := client.Connect(t.Context(), &deaf{Transport: tr, dead: &dead}, &client.Options{Revisions: revisions, Logger: log.logger(), KeepAlive: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Wait()
		defer c.Close()
		dead.Store(true)
		<-c.Done()
		if got := log.lines("does not answer a check"); len(got) != 3 || !strings.Contains(got[0], client.ErrTimeout.Error()) {
			t.Errorf("logged %q, want each of three failed checks with its reason", got)
		}
	})
}

// The time in which the user logs in does not count as silence of the server.
func TestKeepAliveWaitsForALogin(t *testing.T) {
	bothEras(t, func(t *testing.T, revisions []mcp.Revision) {
		var expired atomic.Bool
		inner := &mcptest.Transport{Handler: newServer(nil), Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
		tr := gate{inner, func(ctx context.Context) error {
			if !expired.CompareAndSwap(true, false) {
				return nil
			}
			defer mcp.Waiting(ctx)()
			return takes(ctx, 30*time.Minute)
		}}
		c, err := client.Connect(t.Context(), tr, &client.Options{Revisions: revisions, KeepAlive: time.Minute, KeepAliveFailures: 1, Logger: mcptest.Quiet()})
		if err != nil {
			t.Fatal(err)
		}
		expired.Store(true)
		<-time.NewTimer(time.Hour).C
		if c.Err() != nil {
			t.Errorf("the client ended while its user was logging in: %v", c.Err())
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		inner.Wait()
	})
}

// When the connection of a session ends, the client and its subscriptions end with
// it, though nobody makes a call.
func TestLostSessionIsNoticedWithoutACall(t *testing.T) {
	for _, over := range []string{mcptest.Memory, mcptest.Lines, mcptest.SSE} {
		t.Run(over, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr := &mcptest.Transport{Handler: newServer(nil), Over: over, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
				c, err := client.Connect(t.Context(), tr, &client.Options{Revisions: []mcp.Revision{mcp.Revision20241105}, Logger: mcptest.Quiet()})
				if err != nil {
					t.Fatal(err)
				}
				sub, err := c.Listen(t.Context(), mcp.SubscriptionFilter{}, func(context.Context, client.Event) {})
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				tr.Break()
				<-c.Done()
				<-sub.Done()
				if took := time.Since(began); took > time.Second {
					t.Errorf("it took %v to notice", took)
				}
				for what, err := range map[string]error{"client": c.Err(), "subscription": sub.Err()} {
					if err == nil || errors.Is(err, client.ErrClosed) || !strings.Contains(err.Error(), "session was lost") {
						t.Errorf("the %s ended with %v, want that the session was lost", what, err)
					}
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
				tr.Wait()
			})
		})
	}
}
