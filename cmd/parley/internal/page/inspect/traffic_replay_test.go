package inspect

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/record"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/sse"
	"github.com/parley-mcp/parley/transport/streamable"
)

// stepsOfCall is how many messages a call of the tool "steps" brings before its answer.
const stepsOfCall = 5

// stepsStage returns a stage, and opens a connection to a server whose tool answers with a
// stream of events.
func stepsStage(t *testing.T, revision string) (*stage, said) {
	t.Helper()
	srv := server.New(mcp.Implementation{Name: "steps", Version: "1"}, &server.Options{ProgressInterval: time.Nanosecond})
	server.AddTool(srv, mcp.Tool{Name: "steps"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		for i := range stepsOfCall {
			call.Progress(ctx, float64(i+1), stepsOfCall, "")
		}
		return "done", nil
	})
	h, err := streamable.New(srv, &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(odd(h))
	t.Cleanup(web.Close) // after the connections
	s := newStage(t, Options{})
	return s, s.open(map[string]any{"url": web.URL, "revision": revision})
}

type offer struct {
	Why    string
	Events []record.Row
}

type outcome struct {
	Streams []resumption
	Why     string
}

// replayed returns the stream that the page asked for after a frame, once it has ended.
func (s *stage) replayed(at string, after uint64) resumption {
	s.Helper()
	for retry := time.NewTicker(10 * time.Millisecond); ; <-retry.C {
		for _, one := range must[outcome](s, "GET", fmt.Sprintf("%s/resume?after=%d", at, after), nil).Streams {
			if one.Aside && !one.Open {
				return one
			}
		}
		if s.Context().Err() != nil {
			s.Fatal("the replay did not end")
		}
	}
}

// A server replays the events after one, and the page tells which came again; the client
// goes on as if nothing had happened.
func TestReplay(t *testing.T) {
	for _, revision := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
		t.Run(revision, func(t *testing.T) {
			s, c := stepsStage(t, revision)
			at := "/connections/" + c.ID
			if before := must[offer](s, "GET", at+"/replay", nil); before.Why != noEvents || len(before.Events) != 0 {
				t.Errorf("before there is an event: %+v", before)
			}
			if e := s.refused("POST", at+"/replay", map[string]string{}); e.Code != "no_resume" || e.Status != http.StatusConflict {
				t.Errorf("before there is an event: %+v", e)
			}
			s.finished(at)
			events := must[offer](s, "GET", at+"/replay", nil)
			if len(events.Events) != stepsOfCall+1 || events.Why != "" {
				t.Fatalf("the events are %+v", events)
			}
			first := events.Events[stepsOfCall]
			got := must[begun](s, "POST", at+"/replay", map[string]string{"event": first.Event})
			if got.Status != http.StatusOK || got.Event != first.Event {
				t.Fatalf("the server answered %+v", got)
			}
			one := s.replayed(at, got.After)
			if one.Total != stepsOfCall || one.Again != stepsOfCall || one.LastEvent != first.Event || one.Of != first.Exchange {
				t.Errorf("after %+v: %+v", first, one)
			}
			s.sameAgain(at, first.Event, one, events.Events)
			s.nothingAfterTheLast(at, events.Events[0].Event)
			s.finished(at) // the session is as it was
		})
	}
}

// finished makes a call of the tool "steps", which must succeed.
func (s *stage) finished(at string) {
	s.Helper()
	id := must[shownCall](s, "POST", at+"/calls", map[string]any{"method": "tools/call", "params": map[string]any{"name": "steps", "arguments": map[string]any{}}}).ID
	for retry := time.NewTicker(10 * time.Millisecond); ; <-retry.C {
		switch now := must[shownCall](s, "GET", at+"/calls/"+id, nil); {
		case now.State == callDone:
			return
		case now.State != callRunning || s.Context().Err() != nil:
			s.Fatalf("the call became %+v", now)
		}
	}
}

// sameAgain checks that what was replayed is what came, and that it is no part of what
// the client did.
func (s *stage) sameAgain(at, event string, one resumption, came []record.Row) {
	s.Helper()
	for i, n := range one.Replayed {
		row := must[seenFrames](s, "GET", fmt.Sprintf("%s/frames?n=%d", at, n), nil).Frames[0]
		if want := came[stepsOfCall-1-i]; !row.Replayed || !row.Aside || row.Event != want.Event || row.Method != want.Method || row.Kind != want.Kind || row.Exchange != one.Exchange {
			s.Errorf("after event %s, came again %+v, want %+v", event, row, want)
		}
	}
	x := must[struct{ Exchanges []record.ExchangeRow }](s, "GET", fmt.Sprintf("%s/exchanges/%d", at, one.Exchange), nil).Exchanges
	if len(x) < 2 || x[0].Number != one.Of || x[0].State != record.Done || !x[len(x)-1].Aside || x[len(x)-1].Why != record.Resumed {
		s.Errorf("the exchanges are %+v", x)
	}
}

// nothingAfterTheLast asks after the last event of a stream that is over, and for one
// that there never was.
func (s *stage) nothingAfterTheLast(at, last string) {
	s.Helper()
	got := must[begun](s, "POST", at+"/replay", map[string]string{})
	if one := s.replayed(at, got.After); got.Event != last || one.LastEvent != last || one.Total != 0 || one.Status != http.StatusOK {
		s.Errorf("after the last event: %+v, %+v", got, one)
	}
	got = must[begun](s, "POST", at+"/replay", map[string]string{"event": "nowhere_7"})
	if one := s.replayed(at, got.After); got.Status/100 != 4 || got.Said == "" || one.Status != got.Status || one.Again != 0 {
		s.Errorf("after an event that there never was: %+v, %+v", got, one)
	}
}

// Where nothing can be resumed, the page says why.
func TestNothingToReplay(t *testing.T) {
	h, err := sse.New(newTestServer(), &sse.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(h)
	t.Cleanup(web.Close) // after the connections
	s, newest := stepsStage(t, "2026-07-28")
	pipes, old := s.open(itself(t)), s.open(map[string]any{"url": web.URL, "transport": "sse"})
	for id, want := range map[string]string{pipes.ID: overPipes, newest.ID: ofRequest, old.ID: overOld} {
		if got := must[offer](s, "GET", "/connections/"+id+"/replay", nil); got.Why != want {
			t.Errorf("%s: %+v", id, got)
		}
		if e := s.refused("POST", "/connections/"+id+"/replay", map[string]string{}); e.Code != "no_resume" || e.Message != want {
			t.Errorf("%s: %+v", id, e)
		}
	}
	must[said](s, "POST", "/connections/"+newest.ID+"/disconnect", nil)
	if e := s.refused("POST", "/connections/"+newest.ID+"/replay", map[string]string{}); e.Code != "no_resume" || e.Message == ofRequest {
		t.Errorf("of what is not connected: %+v", e)
	}
}

// A server that keeps the stream open is left after a while in which nothing comes.
func TestReplayOfAnOpenStream(t *testing.T) {
	s, c := stepsStage(t, "2025-11-25")
	at := "/connections/" + c.ID
	s.finished(at)
	s.patience().quiet = time.Millisecond
	got := must[begun](s, "POST", at+"/replay", map[string]string{})
	if one := s.replayed(at, got.After); one.Total != 0 {
		t.Errorf("%+v", one)
	}
}

// patience returns how long replays wait.
func (s *stage) patience() *patience {
	for _, p := range s.server.parts {
		if traffic, ok := p.(*traffic); ok {
			return &traffic.patience
		}
	}
	s.Fatal("there is no traffic")
	return nil
}

// odd answers requests for the rest of some streams in other ways than a server should.
func odd(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("Last-Event-ID") {
		case "taken":
			http.Error(w, "somebody else reads it", http.StatusConflict)
		case "page":
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<p>Hello</p>"))
		case "silent":
			<-r.Context().Done()
		case "away":
			panic(http.ErrAbortHandler)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// Whatever the server does instead of replaying is said.
func TestNoReplay(t *testing.T) {
	s, c := stepsStage(t, "2025-11-25")
	at := "/connections/" + c.ID
	s.finished(at)
	for event, want := range map[string]begun{
		"taken": {Status: http.StatusConflict, Said: "somebody else reads it\n"},
		"page":  {Status: http.StatusOK, Said: "<p>Hello</p>"},
	} {
		got := must[begun](s, "POST", at+"/replay", map[string]string{"event": event})
		if got.Status != want.Status || got.Said != want.Said {
			t.Errorf("%s: %+v", event, got)
		}
		if one := s.replayed(at, got.After); one.Total != 0 {
			t.Errorf("%s: %+v", event, one)
		}
	}
	if e := s.refused("POST", at+"/replay", map[string]string{"event": "away"}); e.Status/100 != 5 {
		t.Errorf("away: %+v", e)
	}
	s.patience().answer = time.Millisecond
	if e := s.refused("POST", at+"/replay", map[string]string{"event": "silent"}); e.Code != "timeout" || e.Hint == "" {
		t.Errorf("silent: %+v", e)
	}
	s.finished(at)
}

// Each connecting is a line, with its session and what was sent again on it.
func TestLines(t *testing.T) {
	s, c := stepsStage(t, "2025-11-25")
	at := "/connections/" + c.ID
	must[shownList](s, "GET", at+"/lists/tools", nil)
	s.finished(at)
	must[said](s, "POST", at+"/reconnect", nil)
	s.settled(c.ID)
	must[shownList](s, "GET", at+"/lists/tools", nil)
	s.finished(at)
	lines := must[struct{ Lines []shownLine }](s, "GET", at+"/lines", nil).Lines
	if len(lines) != 2 || lines[0].Session == "" || lines[0].Session == lines[1].Session || lines[0].Left == 0 || lines[0].Status/100 != 2 || lines[1].Left != 0 {
		t.Fatalf("the lines are %+v", lines)
	}
	if len(lines[0].Again) != 0 || lines[1].First <= lines[0].First {
		t.Errorf("the lines are %+v", lines)
	}
	methods := map[string]bool{}
	for _, n := range lines[1].Again {
		methods[must[seenFrames](s, "GET", fmt.Sprintf("%s/frames?n=%d", at, n), nil).Frames[0].Method] = true
	}
	if !methods[mcp.MethodInitialize] || !methods[mcp.NoteInitialized] || !methods[mcp.MethodListTools] || methods[mcp.MethodCallTool] {
		t.Errorf("sent again: %v", methods)
	}
}
