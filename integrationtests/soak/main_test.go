package soak_test

import (
	"context"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/stdio"
)

// childEnv makes this binary a server on its standard streams.
const childEnv = "PARLEY_SOAK_CHILD"

// No goroutine outlives the tests.
func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		if err := stdio.Serve(context.Background(), newWorld(), &mcp.ServeOptions{Logger: mcptest.Quiet()}); err != nil {
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// length is how long to run.
func length(t *testing.T) time.Duration {
	t.Helper()
	value := os.Getenv("PARLEY_SOAK")
	if value == "" {
		return time.Second
	}
	d, err := time.ParseDuration(value)
	if err != nil {
		t.Fatalf("PARLEY_SOAK: %v", err)
	}
	return d
}

// pause waits, and reports false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
