package record

import (
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// stream is a client's call with two events and its answer, as TestReplayed needs it.
var stream = []string{
	"1 > POST", `1 >{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`, "1 < 200",
	`1 <E1{"jsonrpc":"2.0","method":"notifications/message","params":{}}`, `1 <E2{"jsonrpc":"2.0","id":1,"result":{}}`,
}

// An event that comes again on a stream that was resumed is replayed; the same ID on
// another stream is another event.
func TestReplayed(t *testing.T) {
	r := newRecorder(t, Options{})
	script(r, stream...)
	script(r, "2 > GET E1", "2 < 200", `2 <E2{"jsonrpc":"2.0","id":1,"result":{}}`, `2 <E3{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
	script(r, "3 > POST", `3 >{"jsonrpc":"2.0","id":2,"method":"ping"}`, "3 < 200", `3 <E1{"jsonrpc":"2.0","id":2,"result":{}}`)
	if got, want := replayedOf(r), []uint64{8}; !reflect.DeepEqual(got, want) {
		t.Errorf("replayed: %v, want %v", got, want)
	}
	if h := r.Heads([]uint64{8})[0]; h.Method != mcp.MethodCallTool || h.Subject != "t" {
		t.Errorf("what was replayed is %+v, and does not say what it answers", h)
	}
	if got, want := summary(r), "tools/call done; GET resumed 1 open; ping done"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if newest := r.Events("", 2); len(newest) != 2 || newest[0].Event != "E1" || newest[1].Event != "E3" {
		t.Errorf("the newest events are %+v", newest)
	}
}

func replayedOf(r *Recorder) (numbers []uint64) {
	for n := r.State().First; n <= r.State().Last; n++ {
		for _, h := range r.Heads([]uint64{n}) {
			if h.Replayed {
				numbers = append(numbers, n)
			}
		}
	}
	return numbers
}

// What travels beside the client is recorded, and changes nothing of what the client does.
func TestAside(t *testing.T) {
	r := newRecorder(t, Options{})
	script(r, stream[:4]...)
	events := []mcp.TapEvent{
		{Direction: mcp.Sent, HTTP: &mcp.TapHTTP{Request: 2, Method: http.MethodGet, EventID: "E1"}},
		{Direction: mcp.Received, HTTP: &mcp.TapHTTP{Request: 2, Method: http.MethodGet, Status: http.StatusOK}},
		{Direction: mcp.Received, HTTP: &mcp.TapHTTP{Request: 2, Method: http.MethodGet, Status: http.StatusOK, EventID: "E2"}, Frame: []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)},
	}
	for _, e := range events {
		e.Time, e.Connection = epoch, 1
		if x := r.Aside(e); x != 2 {
			t.Errorf("%+v is part of exchange %d", e, x)
		}
	}
	if got, want := summary(r), "tools/call open; GET resumed 1 open"; got != want {
		t.Errorf("the answer that the client has not got ends its call: got %s, want %s", got, want)
	}
	r.End(2, Done, epoch.Add(time.Second))
	script(r, stream[4])
	if got, want := summary(r), "tools/call done; GET resumed 1 done"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if x, err := r.Exchange(2); err != nil || !x.Aside || x.Took() != time.Second {
		t.Errorf("the exchange of the page is %+v: %v", x, err)
	}
}

// Each connection of the client is a line, until its frames are gone.
func TestLines(t *testing.T) {
	r := newRecorder(t, Options{})
	say := func(connection uint64, session, frame string) {
		r.Tap(mcp.TapEvent{Time: epoch.Add(time.Duration(connection) * time.Second), Direction: mcp.Sent, Connection: connection, Session: session, Frame: []byte(frame)})
	}
	const (
		initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`
		subscribe  = `{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"a:b"}}`
		elsewhere  = `{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"a:c"}}`
		call       = `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"t"}}`
	)
	for _, frame := range []string{initialize, subscribe, call} {
		say(3, "one", frame)
	}
	for _, frame := range []string{initialize, subscribe, elsewhere, call} {
		say(7, "two", frame)
	}
	say(9, "", initialize)
	want := []Line{
		{Connection: 3, First: 1, At: epoch.Add(3 * time.Second), Session: "one"},
		{Connection: 7, First: 4, At: epoch.Add(7 * time.Second), Session: "two", Again: []uint64{4, 5}},
		{Connection: 9, First: 8, At: epoch.Add(9 * time.Second), Again: []uint64{8}},
	}
	if got := r.Lines(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	r.Clear()
	if got := r.Lines(); len(got) != 1 || got[0].Connection != 9 || len(got[0].Again) != 0 {
		t.Errorf("after clearing: %+v", got)
	}
}
