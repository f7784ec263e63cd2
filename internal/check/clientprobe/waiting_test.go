package clientprobe_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/internal/check/clientprobe"
	"github.com/parley-mcp/parley/internal/check/specimen"
	"github.com/parley-mcp/parley/internal/check/verdict"
)

const fallsBack = "26.basic.versioning-015"

// Who waits longer for a silent server than the scenario lasts is not accused of
// not falling back, and who gives up is.
func TestWaitsForSilentServer(t *testing.T) {
	t.Parallel()
	for patience, want := range map[time.Duration]verdict.Outcome{5 * time.Second: verdict.Fail, 25 * time.Second: verdict.Pass, time.Hour: verdict.Pass} {
		synctest.Test(t, func(t *testing.T) {
			report, err := clientprobe.Check(t.Context(), func(ctx context.Context, p *clientprobe.Place) error {
				if p.Scenario.Name != "legacy-silent" {
					return specimen.Use(ctx, reach(p, nil, nil), nil)
				}
				return wait(ctx, p, patience)
			}, &clientprobe.Options{Revisions: []string{"2026-07-28"}, Lines: true, Scenarios: []string{"legacy-32601", "legacy-silent"}})
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range report.Runs[0].Verdicts {
				if v.Row == fallsBack && v.Outcome != want {
					t.Errorf("of a client that waits %s: %s, want %s", patience, describe(v), want)
				}
			}
		})
	}
}

// wait asks the server what it speaks, and waits for an answer.
func wait(ctx context.Context, p *clientprobe.Place, patience time.Duration) error {
	stream := p.Connect()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = stream.Close() }) // it is over
	defer stop()
	const discover = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"patient","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	if _, err := io.Copy(stream, strings.NewReader(discover+"\n")); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, stream)
	return err
}
