package observe_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// Each message is seen once by the one that sends it, and once by the one that
// receives it, on one connection, and with the HTTP request that carries it.
func TestEverythingIsSeenOnceByBothSides(t *testing.T) {
	for _, m := range mcptest.Modes() {
		t.Run(m.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := new(witness), new(witness)
				converse(t, m, near, far)
				sameFrames(t, m, "from the client", near.frames(mcp.Sent), far.frames(mcp.Received))
				sameFrames(t, m, "from the server", far.frames(mcp.Sent), near.frames(mcp.Received))
				sides(t, near, mcp.ClientSide)
				sides(t, far, mcp.ServerSide)
				connections(t, m, near, far)
				if m.IsHTTP() {
					overHTTP(t, near, far)
				}
			})
		})
	}
}

// converse has a client and a server say a bit of everything.
func converse(t *testing.T, m mcptest.Mode, near, far *witness) {
	t.Helper()
	s := server.New(mcp.Implementation{Name: "s", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), Logging: true, Subscriptions: true})
	server.AddTool(s, mcp.Tool{Name: "ask"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		call.Progress(ctx, 1, 2, "half")
		return server.SampleText(ctx, call, "q", "why?", 1)
	})
	transport := &mcptest.Transport{Handler: s, Over: m.Transport, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet(), Tap: far.tap, Drops: new(mcp.Drops)}}
	c, err := client.Connect(t.Context(), transport, &client.Options{
		Revisions: []mcp.Revision{m.Revision}, Logger: mcptest.Quiet(), Tap: near.tap, Drops: new(mcp.Drops),
		Sample: func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Content: mcp.OneOrMany{mcp.Text("because")}, Model: "m"}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	changed := make(chan struct{}, 8)
	listening, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true}, func(context.Context, client.Event) { changed <- struct{}{} })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CallTool(t.Context(), "ask", nil, client.WithProgress(func(*mcp.ProgressParams) {})); err != nil {
		t.Error(err)
	}
	if _, err := c.Do(t.Context(), "no/such", nil); err == nil {
		t.Error("a method that does not exist was served")
	}
	server.AddTool(s, mcp.Tool{Name: "new"}, func(context.Context, *server.Call, struct{}) (string, error) { return "", nil })
	<-changed
	if err := listening.Close(); err != nil {
		t.Error(err)
	}
	synctest.Wait() // the server has heard of it
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	transport.Wait()
}

// sameFrames compares what was sent with what was received. Over HTTP several
// requests are under way at a time, so there the order may differ.
func sameFrames(t *testing.T, m mcptest.Mode, from string, sent, received []string) {
	t.Helper()
	if m.IsHTTP() {
		slices.Sort(sent)
		slices.Sort(received)
	}
	if len(sent) < 4 || !slices.Equal(sent, received) {
		t.Errorf("%s: %d frames were sent, and %d were received:\n%s\n\n%s", from, len(sent), len(received), strings.Join(sent, "\n"), strings.Join(received, "\n"))
	}
}

// sides checks what is true of every event.
func sides(t *testing.T, w *witness, side mcp.Side) {
	t.Helper()
	for _, e := range w.all(func(mcp.TapEvent) bool { return true }) {
		if e.Side != side || e.Direction == 0 || e.Time.IsZero() || e.Connection == 0 {
			t.Errorf("%s: an event of %q, %q, at %s on connection %d: %s", side, e.Side, e.Direction, e.Time, e.Connection, e.Frame)
		}
	}
}

// connections checks that each side has one, but for a server over HTTP without
// sessions, where each request is one.
func connections(t *testing.T, m mcptest.Mode, near, far *witness) {
	t.Helper()
	of := map[uint64]bool{}
	for side, w := range map[string]*witness{"client": near, "server": far} {
		of := of
		if side == "client" {
			of = map[uint64]bool{}
		}
		requests := map[uint64]bool{}
		for _, e := range w.all(func(e mcp.TapEvent) bool { return e.Dropped == 0 }) {
			of[e.Connection] = true
			if e.HTTP != nil {
				requests[e.HTTP.Request] = true
			}
		}
		want := 1
		if side == "server" && m.Transport == mcptest.HTTP && m.Revision == mcp.Revision20260728 {
			want = len(requests)
		}
		if len(of) != want {
			t.Errorf("the %s has seen %d connections, and not %d", side, len(of), want)
		}
	}
	session := len(far.all(func(e mcp.TapEvent) bool { return e.Session != "" })) > 0
	if want := m.Transport == mcptest.SSE || m.Transport == mcptest.HTTP && m.Revision != mcp.Revision20260728; session != want {
		t.Errorf("events of a session: %v, want %v", session, want)
	}
}

// overHTTP checks that both sides have seen the same requests, and that every
// frame belongs to one of them.
func overHTTP(t *testing.T, near, far *witness) {
	t.Helper()
	client, server := exchanges(t, near), exchanges(t, far)
	if !slices.Equal(client, server) {
		t.Errorf("the client has seen the requests\n%q\nand the server\n%q", client, server)
	}
	if !slices.ContainsFunc(client, func(s string) bool { return strings.HasPrefix(s, "POST 20") }) {
		t.Errorf("there was no POST with a response among %q", client)
	}
}

// exchanges describes the HTTP requests that a side has seen: method, status,
// type of the response, and how many frames went which way.
func exchanges(t *testing.T, w *witness) []string {
	t.Helper()
	type exchange struct {
		method, kind   string
		status         int
		there, back    int
		header, answer http.Header
	}
	byNumber := map[uint64]*exchange{}
	for _, e := range w.all(func(e mcp.TapEvent) bool { return e.Dropped == 0 }) {
		h := e.HTTP
		if h == nil {
			t.Errorf("an event without its request: %+v", e)
			continue
		}
		x := byNumber[h.Request]
		if x == nil {
			x = &exchange{method: h.Method}
			byNumber[h.Request] = x
		}
		request := h.Status == 0
		switch {
		case request != ((e.Side == mcp.ClientSide) == (e.Direction == mcp.Sent)):
			t.Errorf("status %d in what was %s by the %s", h.Status, e.Direction, e.Side)
		case e.Frame == nil && request:
			x.header = h.Header
		case e.Frame == nil:
			x.answer, x.status, x.kind = h.Header, h.Status, http.Header(h.Header).Get("Content-Type")
		case request:
			x.there++
		default:
			x.back++
		}
		if x.header == nil || !request && x.answer == nil {
			t.Errorf("request %d: a frame came before the header: %s", h.Request, e.Frame)
		}
	}
	var list []string
	for _, x := range byNumber {
		kind, _, _ := strings.Cut(x.kind, ";")
		if x.status == http.StatusAccepted || x.status == http.StatusNoContent {
			kind = "" // net/http names a type where there is none
		}
		list = append(list, fmt.Sprintf("%s %d %s: %d there, %d back", x.method, x.status, kind, x.there, x.back))
	}
	slices.Sort(list)
	return list
}
