package observe_test

import (
	"context"
	"io"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// A stream that is resumed is seen as the request that asks for it, with the
// event to go on from, and with what it brings.
func TestResumedStreamIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := new(witness)
		web, session := changing(t, observers{w.tap, new(mcp.Drops)}, nil)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, web.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Accept": {"text/event-stream"}, "Mcp-Session-Id": {session}, "Last-Event-Id": {"0_0"}}
		resp, err := web.Client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		synctest.Wait()
		asked := w.all(func(e mcp.TapEvent) bool { return e.HTTP.Method == http.MethodGet && e.HTTP.Status == 0 })
		brought := w.all(func(e mcp.TapEvent) bool {
			return e.HTTP.Method == http.MethodGet && e.Direction == mcp.Sent && e.Frame != nil
		})
		if len(asked) != 1 || asked[0].HTTP.EventID != "0_0" || asked[0].Session != session {
			t.Errorf("the request was seen as %+v", asked)
		}
		if len(brought) != 1 || brought[0].HTTP.EventID != "0_1" || brought[0].HTTP.Request != asked[0].HTTP.Request {
			t.Errorf("what was missed was seen as %+v", brought)
		}
	})
}

// A refused request is seen with its header, its status and the reason, though
// no message was read.
func TestRefusedRequestIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := new(witness)
		s, _ := site(t, with(idle, nil), observers{w.tap, new(mcp.Drops)}, nil)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Origin": {"https://elsewhere.example"}}
		resp, err := s.Client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close() // it was read
		if err != nil {
			t.Error(err)
		}
		events := w.all(func(mcp.TapEvent) bool { return true })
		if len(events) != 3 {
			t.Fatalf("%d events were seen, want the request, the response, and its frame", len(events))
		}
		request, response, frame := events[0], events[1], events[2]
		if request.HTTP.Header["Origin"][0] != "https://elsewhere.example" || request.Direction != mcp.Received {
			t.Errorf("the request was seen as %+v", request)
		}
		if response.HTTP.Status != http.StatusForbidden || response.HTTP.Header["Content-Type"][0] != "application/json" {
			t.Errorf("the response was seen as %+v", response)
		}
		if string(frame.Frame) != string(body) || frame.HTTP.Status != http.StatusForbidden {
			t.Errorf("the frame was seen as %s, and was %s", frame.Frame, body)
		}
	})
}

// foreign is a transport of somebody else, which knows nothing of taps.
type foreign struct{ inner mcp.Transport }

func (f foreign) Name() string { return f.inner.Name() }

func (f foreign) Connect(_ context.Context, r mcp.Receiver) (mcp.Conn, error) {
	return f.inner.Connect(context.Background(), r)
}

// Over a transport that shows nothing, the messages are seen once all the same.
func TestTransportOfSomebodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := with(idle, nil)
		inner := &mcptest.Transport{Handler: s, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
		w := new(witness)
		c, err := client.Connect(t.Context(), foreign{inner}, &client.Options{Revisions: []mcp.Revision{mcp.Revision20251125}, Logger: mcptest.Quiet(), Tap: w.tap})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.CallTool(t.Context(), "t", nil); err != nil {
			t.Error(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		inner.Wait()
		var decoder jsonrpc.Decoder
		for direction, want := range map[mcp.Direction]int{mcp.Sent: 3, mcp.Received: 2} {
			frames := w.frames(direction)
			if len(frames) != want {
				t.Errorf("%d frames were %s, want %d: %q", len(frames), direction, want, frames)
			}
			for _, f := range frames {
				if _, err := decoder.Decode([]byte(f)); err != nil {
					t.Errorf("%s: %v", f, err)
				}
			}
		}
	})
}
