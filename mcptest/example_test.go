package mcptest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// exampleT stands in for the *testing.T of a test, which examples do not have.
type exampleT struct {
	testing.TB
	cleanups []func()
}

func (*exampleT) Helper()                      {}
func (*exampleT) Context() context.Context     { return context.Background() }
func (*exampleT) Fatalf(f string, args ...any) { log.Fatalf(f, args...) }
func (*exampleT) Errorf(f string, args ...any) { log.Printf(f, args...) }
func (t *exampleT) Cleanup(f func())           { t.cleanups = append(t.cleanups, f) }
func (t *exampleT) end() {
	for i := len(t.cleanups) - 1; i >= 0; i-- {
		t.cleanups[i]()
	}
}

type order struct {
	Item string `json:"item"`
}

type confirmation struct {
	Sure bool `json:"sure" description:"whether to buy it"`
}

// buy is the handler of a tool, as server.AddTool takes it.
func buy(ctx context.Context, call *server.Call, in order) (string, error) {
	answer, err := server.Elicit[confirmation](ctx, call, "sure", "Buy "+in.Item+"?")
	if err != nil || !answer.Sure {
		return "nothing was bought", err
	}
	call.Progress(ctx, 1, 2, "paying")
	receipt, err := server.Once(ctx, call, "pay", func(context.Context) (int, error) { return 42, nil })
	return fmt.Sprint("receipt ", receipt), err
}

// A handler is tested as a plain function.
func ExampleNewCall() {
	t := new(exampleT) // in a test: its *testing.T
	defer t.end()

	caller := &mcptest.Caller{Answers: map[string]any{"sure": confirmation{Sure: true}}}
	got, err := buy(t.Context(), mcptest.NewCall(t, caller), order{Item: "a kettle"})
	fmt.Println(got, err)
	fmt.Println(caller.Asked()[0].Params.(*mcp.ElicitParams).Message)
	fmt.Println(caller.Progress()[0].Message, caller.Ran())
	// Output:
	// receipt 42 <nil>
	// Buy a kettle?
	// paying [pay]
}

// A question without an answer ends the first round, as it does for a client
// that cannot be asked in place.
func ExampleCaller() {
	t := new(exampleT) // in a test: its *testing.T
	defer t.end()

	caller := new(mcptest.Caller)
	_, err := buy(t.Context(), mcptest.NewCall(t, caller), order{Item: "a kettle"})
	var required *mcp.InputRequired
	fmt.Println(errors.As(err, &required), err)

	caller.Answers = map[string]any{"sure": server.ErrDeclined}
	_, err = buy(t.Context(), mcptest.NewCall(t, caller), order{Item: "a kettle"})
	fmt.Println(err)

	caller.Peer = new(mcp.Peer) // which has declared nothing
	_, err = buy(t.Context(), mcptest.NewCall(t, caller), order{Item: "a kettle"})
	fmt.Println(err)
	// Output:
	// true input required: sure
	// the user declined: "sure"
	// the client has not declared the capability elicitation (form)
}

// The recorder shows what client and server send, whatever the mode.
func ExampleRecorder() {
	t := new(exampleT) // in a test: its *testing.T
	defer t.end()

	var said mcptest.Recorder
	for _, transport := range []string{mcptest.Lines, mcptest.HTTP} {
		mode := mcptest.Mode{Revision: mcp.Revision20260728, Transport: transport}
		c := said.Connect(t, adder(), mode, nil)
		if _, err := client.Call[sum](t.Context(), c, "add", addArgs{2, 3}); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}
	for _, m := range said.FromClient() {
		fmt.Println(m.Method)
	}
	// Output:
	// server/discover
	// tools/call
	// server/discover
	// tools/call
}

// A server and a client in one process, with a tap on the frames.
func ExampleTransport() {
	transport := &mcptest.Transport{Handler: adder(), Over: mcptest.Lines}
	c, err := client.Connect(context.Background(), transport, &client.Options{Tap: func(e mcp.TapEvent) {
		if e.Direction == mcp.Sent {
			fmt.Println(string(e.Frame[:46]), "…")
		}
	}})
	if err != nil {
		log.Fatal(err)
	}
	got, err := client.Call[sum](context.Background(), c, "add", addArgs{2, 3})
	fmt.Println(got.Sum, err)
	_ = c.Close()
	transport.Wait()
	// Output:
	// {"jsonrpc":"2.0","id":1,"method":"server/disco …
	// {"jsonrpc":"2.0","id":2,"method":"tools/call", …
	// 5 <nil>
}

// RunModes skips modes in which a test makes no sense.
func ExampleSkip() {
	modes := mcptest.Skip(mcptest.AllModes(), "a request has a connection of its own there", mcptest.Mode.IsHTTP)
	for _, m := range modes {
		if m.Revision == mcp.Revision20251125 {
			fmt.Println(m)
		}
	}
	// Output:
	// memory/2025-11-25
	// lines/2025-11-25
	// http/2025-11-25
}

// An HTTP handler, such as a streamable.Handler behind an auth.Guard, without a
// network.
func ExampleSite() {
	site := mcptest.NewSite(http.NotFoundHandler())
	defer site.Close()
	resp, err := site.Client.Get(site.URL + "/mcp")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, resp.Body)
	fmt.Println(resp.Status)
	// Output: 404 Not Found
}
