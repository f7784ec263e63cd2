package record

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/reference"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// fill answers the questions of a checkout.
func fill(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	answer := `{"confirm":true}`
	if strings.Contains(string(p.RequestedSchema), "email") {
		answer = `{"name":"Ada","email":"ada@example.com","speed":"standard"}`
	}
	return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: json.RawMessage(answer)}, nil
}

// talk records what a client says with the reference server.
func talk(t *testing.T, m mcptest.Mode, do func(c *client.Client)) *Recorder {
	t.Helper()
	s, release, err := reference.New(reference.Options{Logger: mcptest.Quiet()})
	if err != nil {
		t.Fatal(err)
	}
	r := newRecorder(t, Options{})
	tr := &mcptest.Transport{Handler: s, Over: m.Transport, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
	c, err := client.Connect(t.Context(), tr, &client.Options{
		Tap: r.Tap, Revisions: []mcp.Revision{m.Revision}, Logger: mcptest.Quiet(),
		Elicit: fill,
	})
	if err != nil {
		t.Fatal(err)
	}
	do(c)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	tr.Wait()
	if err := release(); err != nil {
		t.Error(err)
	}
	return r
}

// outline shows the exchanges with their frames, those that belong to another one
// below it.
func outline(t *testing.T, r *Recorder) string {
	t.Helper()
	var b strings.Builder
	all := r.Exchanges(0, 1000)
	slices.Reverse(all)
	for _, root := range all {
		family, err := r.Family(root.Number)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range family {
			if x.Stream {
				continue
			}
			if x.Parent != 0 {
				fmt.Fprintf(&b, "  %s: ", x.Why)
			}
			fmt.Fprintf(&b, "%s %s from %s: %s", x.Method, x.Subject, x.Asker, x.State)
			var kinds []string
			for _, h := range r.Heads(numbers([]Run{{1, r.State().Last}})) {
				if h.Exchange == x.Number && h.Kind != HTTP {
					kinds = append(kinds, string(h.Kind))
				}
			}
			slices.Sort(kinds)
			fmt.Fprintf(&b, " %s\n", strings.Join(kinds, " "))
		}
	}
	return b.String()
}

// What the four forms of the protocol make of the same calls. Lines of streams, which
// open and end at their own time, are left out.
func TestRealTraffic(t *testing.T) {
	const (
		opening = "initialize  from client: done notification request result\n"
		counted = "tools/call count_slowly from client: done notification notification request result\n"
		session = opening + counted + "tools/call checkout from client: error error request\ntools/call nothing from client: error error request\n"
		asked   = opening + counted + "tools/call checkout from client: done request result\n" +
			"  question: elicitation/create  from server: done request result\n" +
			"  question: elicitation/create  from server: done request result\n" +
			"tools/call nothing from client: error error request\n"
		rounds = "server/discover  from client: done request result\n" + counted +
			"tools/call checkout from client: input_required request result\n" +
			"  round: tools/call checkout from client: input_required request result\n" +
			"  round: tools/call checkout from client: done request result\n" +
			"tools/call nothing from client: error error request\n"
	)
	for _, m := range mcptest.Modes() {
		want, elicits := session, m.Revision == mcp.Revision20251125
		switch {
		case m.Revision == mcp.Revision20260728:
			want = rounds
		case elicits:
			want = asked
		}
		t.Run(m.String(), func(t *testing.T) {
			r := talk(t, m, func(c *client.Client) {
				if _, err := c.CallTool(t.Context(), "count_slowly", map[string]any{"steps": 3, "delay_ms": 0}, client.WithProgress(func(*mcp.ProgressParams) {})); err != nil {
					t.Error(err)
				}
				_, err := c.CallTool(t.Context(), "checkout", nil)
				if (err == nil) != (want != session) {
					t.Error(err)
				}
				if _, err := c.CallTool(t.Context(), "nothing", nil); err == nil {
					t.Error("a tool that is not there was called")
				}
			})
			if got := outline(t, r); got != want {
				t.Errorf("the exchanges are\n%s\nwant\n%s", got, want)
			}
			checkHTTP(t, r, m)
		})
	}
}

// checkHTTP checks that every request over HTTP has its status and its headers.
func checkHTTP(t *testing.T, r *Recorder, m mcptest.Mode) {
	t.Helper()
	found, _, err := r.Find(t.Context(), Filter{Kinds: []Kind{HTTP}})
	if err != nil {
		t.Fatal(err)
	}
	if (len(found) > 0) != m.IsHTTP() {
		t.Errorf("the HTTP requests are %v", found)
	}
	for _, n := range numbers(found) {
		f, err := r.Frame(n)
		if err != nil {
			t.Fatal(err)
		}
		if f.Exchange == 0 || f.Raw != nil || f.Header == nil {
			t.Errorf("a beginning is %+v", f)
		}
		x, err := r.Exchange(f.Exchange)
		// Over HTTP+SSE the answer comes on another stream, and may be there first: the client that has it
		// closes, and never sees the status.
		late := m.Transport == mcptest.SSE && x.Status == 0
		if err == nil && !x.Stream && x.Asker == mcp.ClientSide && x.Status != 200 && x.Status != 202 && !late {
			t.Errorf("the status of %+v", x)
		}
	}
}
