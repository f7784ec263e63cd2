package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/cli"
)

// An address without a host is on the loopback; listening everywhere has to be
// asked for, and is warned of.
func TestServeListensOnTheLoopback(t *testing.T) {
	t.Parallel()
	const warning = "can be reached from other machines"
	for addr, want := range map[string]struct {
		url  string
		warn bool
	}{
		":0":          {"url=http://127.0.0.1:", false},
		"0":           {"url=http://127.0.0.1:", false},
		"127.0.0.1:0": {"url=http://127.0.0.1:", false},
		"0.0.0.0:0":   {"url=http://", true},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		log := &serving{until: "msg=serving", stop: cancel}
		if want.warn {
			log.until = warning
		}
		code := cli.Run(ctx, piped(log, log), []string{"serve", "--http", addr})
		cancel()
		if text := log.String(); code != 0 || !strings.Contains(text, want.url) || strings.Contains(text, warning) != want.warn {
			t.Errorf("%s: exit code %d\n%s", addr, code, text)
		}
	}
}

// serving is a log that stops the server when it says something.
type serving struct {
	bytes.Buffer

	until string
	stop  func()
}

// Write implements io.Writer. The program writes one line at a time.
func (s *serving) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(s.until)) {
		s.stop()
	}
	return s.Buffer.Write(p)
}
