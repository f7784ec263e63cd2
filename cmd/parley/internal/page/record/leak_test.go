package record

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/parley-mcp/parley/cmd/parley/internal/reference"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/stdio"
)

// serving makes the program of the tests the reference server on standard streams.
const serving = "PARLEY_TEST_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(serving) == "" {
		goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
			if built != "" {
				_ = os.RemoveAll(built) // only tests have put anything there
			}
			os.Exit(code)
		}))
		return
	}
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve() error {
	s, release, err := reference.New(reference.Options{Logger: mcptest.Quiet()})
	if err != nil {
		return err
	}
	defer func() { _ = release() }() // the process ends
	return stdio.Serve(context.Background(), s, nil)
}
