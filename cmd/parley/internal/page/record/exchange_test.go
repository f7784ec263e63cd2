package record

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// script is traffic over HTTP, a line for each event: the number of the HTTP request, and
//
//	> POST          the beginning of a request, or > GET E7 with the last event
//	< 200           the beginning of a response
//	>{…} <{…} <E7{…} a frame, with the ID of its event
//	x given-up M    a dropped message of a method
func script(r *Recorder, lines ...string) {
	methods := map[uint64]string{}
	for i, line := range lines {
		number, what, _ := strings.Cut(line, " ")
		call := uint64(number[0] - '0')
		e := mcp.TapEvent{Time: epoch.Add(time.Duration(i) * time.Millisecond), Side: mcp.ClientSide, Direction: mcp.Sent, Connection: 1, HTTP: &mcp.TapHTTP{Request: call}}
		if what[0] == '<' {
			e.Direction, e.HTTP.Status = mcp.Received, http.StatusOK
		}
		at := strings.IndexByte(what, '{')
		switch {
		case what[0] == 'x':
			e.Dropped, e.HTTP, e.Method = mcp.DropGivenUp, nil, strings.Fields(what)[2]
		case at >= 0:
			e.HTTP.EventID, e.Frame = what[1:at], []byte(what[at:])
		case what[0] == '<':
			_, status, _ := strings.Cut(what, " ")
			e.HTTP.Status = map[string]int{"200": 200, "202": 202, "400": 400, "404": 404}[status]
		default:
			words := strings.Fields(what)
			methods[call] = words[1]
			if len(words) > 2 {
				e.HTTP.EventID = words[2]
			}
		}
		if e.HTTP != nil {
			e.HTTP.Method = methods[call]
		}
		r.Tap(e)
	}
}

func TestExchangesOverHTTP(t *testing.T) {
	const (
		ask    = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p"}}}`
		answer = `{"jsonrpc":"2.0","id":1,"result":{}}`
	)
	for name, tt := range map[string]struct {
		lines []string
		want  string
	}{
		"resumed by the event's ID": {
			[]string{"1 > POST", "1 >" + ask, "1 < 200", `1 <E1{"jsonrpc":"2.0","method":"notifications/message","params":{}}`, "2 > GET E1", "2 < 200", "2 <E2" + answer},
			"tools/call done; GET resumed 1 open",
		},
		"resumed, as the answer tells": {
			[]string{"1 > POST", "1 >" + ask, "1 < 200", "2 > GET", "2 < 200", "2 <E2" + answer},
			"tools/call done; GET resumed 1 open",
		},
		"a question on the call's stream": {
			[]string{"1 > POST", "1 >" + ask, "1 < 200", `1 <{"jsonrpc":"2.0","id":1,"method":"roots/list"}`, "2 > POST", `2 >{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`, "2 < 202", "1 <" + answer},
			"tools/call done; roots/list question 1 done",
		},
		"a question on no stream, with one call open": {
			[]string{"1 > POST", "1 >" + ask, "2 > GET", "2 < 200", `2 <{"jsonrpc":"2.0","id":9,"method":"roots/list"}`},
			"tools/call open; GET open; roots/list question 1 open inferred",
		},
		"repeated with other headers": {
			[]string{"1 > POST", "1 >" + ask, "1 < 400", `1 <{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"no"}}`, "2 > POST", "2 >" + strings.Replace(ask, `"id":1`, `"id":"again"`, 1), "2 < 200", `2 <{"jsonrpc":"2.0","id":"again","result":{}}`},
			"tools/call error; tools/call repeat 1 done",
		},
		"refused by the status": {
			[]string{"1 > POST", "1 >" + ask, "1 < 404"},
			"tools/call refused",
		},
		"given up": {
			[]string{"1 > POST", "1 >" + ask, "1 x given-up tools/call"},
			"tools/call given-up",
		},
		"cancelled": {
			[]string{"1 > POST", "1 >" + ask, "1 < 200", "2 > POST", `2 >{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, "2 < 202"},
			"tools/call cancelled",
		},
		"about a task": {
			[]string{"1 > POST", "1 >" + ask, "1 < 200", `1 <{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"T"}}`, "2 > POST", `2 >{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":"T"}}`, "2 < 200", `2 <{"jsonrpc":"2.0","id":2,"result":{}}`},
			"tools/call done; tasks/get task 1 done",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecorder(t, Options{})
			script(r, tt.lines...)
			if got := summary(r); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// summary names the exchanges.
func summary(r *Recorder) string {
	var all []string
	for _, x := range r.Since(0) {
		words := []string{x.Method}
		if x.Parent != 0 {
			words = append(words, string(x.Why), string(rune('0'+x.Parent)))
		}
		words = append(words, string(x.State))
		if x.Inferred {
			words = append(words, "inferred")
		}
		all = append(all, strings.Join(words, " "))
	}
	return strings.Join(all, "; ")
}

// What was open when the client connected again is lost.
func TestLost(t *testing.T) {
	r := newRecorder(t, Options{})
	feed(r, `>{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	r.Tap(mcp.TapEvent{Time: epoch.Add(time.Second), Direction: mcp.Sent, Connection: 2, Frame: []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)})
	if got, want := summary(r), "ping lost; ping open"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Whatever travels is recorded, and nothing in it makes the recorder fail.
func FuzzFrames(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","requestState":"s","inputResponses":{},"_meta":{"progressToken":1}}}`), []byte(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s"}}`))
	f.Add([]byte(`[{"jsonrpc":"2.0","id":"a","method":"tasks/get","params":{"taskId":"T"}},7]`), []byte(`{"jsonrpc":"2.0","id":"a","result":{"task":{"taskId":"T"}}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`), []byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"x"}}`))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		r := newRecorder(t, Options{MaxFrames: 32})
		for range 3 {
			feed(r, ">"+string(one), "<"+string(two), ">"+string(two), "<"+string(one))
		}
		last := r.State().Last
		for n := r.State().First; n <= last; n++ {
			frame, err := r.Frame(n)
			if err != nil {
				t.Fatal(err)
			}
			if n%4 == 1 && string(frame.Raw) != string(one) {
				t.Errorf("frame %d is %q, want %q", n, frame.Raw, one)
			}
			r.Lens(false).Detail(frame)
		}
		for _, x := range r.Since(0) {
			if _, err := r.Family(x.Number); err != nil || x.Parent >= x.Number && x.Parent != 0 {
				t.Errorf("exchange %+v: %v", x, err)
			}
		}
	})
}
