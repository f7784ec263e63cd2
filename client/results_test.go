package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
)

// Spec: 2026-07-28 basic#resulttype.
// A client that declares extensions gets results of their types: from Do verbatim,
// from typed calls in an error.
func TestResultsOfExtensions(t *testing.T) {
	const job = `{"resultType":"job","jobId":"j1","ttlMs":60000,"cacheScope":"public","pollIntervalMs":1.0}`
	s := serving(func(context.Context, *mcp.Exchange) (any, error) { return json.RawMessage(job), nil })
	for _, http := range []bool{false, true} {
		h := hop{mcp.Revision20260728, http}
		t.Run(h.String(), func(t *testing.T) {
			ctx := t.Context()
			cache := client.NewCache(0)
			c := connect(t, s, h, &client.Options{Extensions: map[string]any{"com.example/jobs": nil}, Cache: cache})
			got, err := c.Do(ctx, mcp.MethodCallTool, raw(`{"name":"t"}`))
			if err != nil || !strings.HasPrefix(string(got), strings.TrimSuffix(job, "}")) {
				t.Errorf("got %s, %v", got, err)
			}
			_, err = c.CallTool(ctx, "t", nil)
			foreign, ok := errors.AsType[*client.ResultTypeError](err)
			if !ok || foreign.Method != mcp.MethodCallTool || foreign.Type != "job" || string(foreign.Result) != string(got) {
				t.Errorf("a typed call returned %v", err)
			}
			if _, err := c.ReadResource(ctx, "x:a"); err == nil || cache.Len() != 0 {
				t.Errorf("read: %v; the cache holds %d results", err, cache.Len())
			}
			plain := connect(t, s, h, nil)
			if got, err := plain.Do(ctx, mcp.MethodCallTool, raw(`{"name":"t"}`)); err == nil || !strings.Contains(err.Error(), `"job"`) {
				t.Errorf("without extensions: %s, %v", got, err)
			}
		})
	}
}

// The params given to Do reach the server verbatim, and the result comes back
// verbatim, except for the part of _meta that belongs to another hop.
func TestDoPassesOnWhatItIsGiven(t *testing.T) {
	const (
		content = `"name":"x","z":1.0,"a":[1e400,12345678901234567890,-0.0],"s":"\u00e9\/\u0041"`
		result  = `"z":1.0,"a":[1e400,12345678901234567890,-0.0],"s":"\u00e9\/\u0041"`
		foreign = `"inputResponses":{"q":{}},"requestState":"of another server"`
	)
	var meta strings.Builder
	meta.WriteString(`"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"},"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"`)
	for _, reserved := range []string{
		mcp.MetaProtocolVersion, mcp.MetaClientInfo, mcp.MetaClientCapabilities, mcp.MetaLogLevel, mcp.MetaServerInfo, mcp.MetaSubscriptionID, mcp.MetaProgressToken,
	} {
		meta.WriteString(`,"` + reserved + `":"of another hop"`)
	}
	overHops(t, func(t *testing.T, h hop) {
		var got mcp.Exchange
		s := serving(func(_ context.Context, x *mcp.Exchange) (any, error) {
			got = *x
			got.Params, got.Meta = append(json.RawMessage(nil), x.Params...), append(json.RawMessage(nil), x.Meta...)
			return raw(`{%s,"_meta":{"com.example/k":1.0,%q:"of another hop",%q:5}}`, result, mcp.MetaServerInfo, mcp.MetaSubscriptionID), nil
		})
		c := connect(t, s, h, nil)
		answer, err := c.Do(t.Context(), mcp.MethodCallTool, raw("{%s,%s,%s}}", content, foreign, meta.String()))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(answer), "{"+result) || !strings.Contains(string(answer), `"com.example/k":1.0`) || strings.Contains(string(answer), "hop") {
			t.Errorf("the result is %s", answer)
		}
		if !strings.HasSuffix(string(got.Params), ","+content+"}") {
			t.Errorf("the params are %s", got.Params)
		}
		if m := string(got.Meta); strings.Contains(m, "hop") || !strings.Contains(m, "related-task") || got.Trace.Parent == "" {
			t.Errorf("_meta is %s", m)
		}
		// For a method that allows no questions, members of these names are ordinary.
		if _, err := c.Do(t.Context(), "com.example/update", raw("{%s}", foreign)); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(string(got.Params), foreign+"}") {
			t.Errorf("the params are %s", got.Params)
		}
	})
}

// A notification passes through like a request, and reaches a server of either era.
func TestNotifyPassesOnWhatItIsGiven(t *testing.T) {
	overHops(t, func(t *testing.T, h hop) {
		got := make(chan string, 1)
		s := serving(func(_ context.Context, x *mcp.Exchange) (any, error) {
			got <- x.Method + " " + string(x.Params)
			return nil, nil
		})
		c := connect(t, s, h, nil)
		err := c.Notify(t.Context(), "notifications/com.example/moved", raw(`{"to":1.0,"_meta":{"com.example/k":1,%q:"1900-01-01"}}`, mcp.MetaProtocolVersion))
		if err != nil {
			t.Fatal(err)
		}
		note := within(t, "the notification", got)
		if !strings.HasSuffix(note, `"to":1.0}`) || !strings.Contains(note, `"com.example/k":1`) || strings.Contains(note, "1900") {
			t.Errorf("got %s", note)
		}
	})
}

// The server is told the caller's reason for giving up, except in the stateless era
// over HTTP, where the client can only close the stream.
func TestCancellationSaysWhy(t *testing.T) {
	overHops(t, func(t *testing.T, h hop) {
		started, ended := make(chan struct{}), make(chan error, 1)
		s := serving(func(ctx context.Context, _ *mcp.Exchange) (any, error) {
			close(started)
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return nil, context.Cause(ctx)
		})
		c := connect(t, s, h, nil)
		ctx, cancel := context.WithCancelCause(t.Context())
		failed := make(chan error, 1)
		go func() { // ends with the call
			_, err := c.Do(ctx, mcp.MethodCallTool, raw(`{"name":"x"}`))
			failed <- err
		}()
		within(t, "the call", started)
		why := errors.New("the user has found something better")
		cancel(why)
		if err := within(t, "the end of the call", failed); !errors.Is(err, why) {
			t.Errorf("the call failed with %v", err)
		}
		if cause := within(t, "the cancellation", ended); (cause.Error() == why.Error()) != (!h.http || !h.stateless()) {
			t.Errorf("the server was told %q", cause)
		}
	})
}
