package hostile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/sse"
	"github.com/parley-mcp/parley/transport/streamable"
)

// answered is a server's reaction to an input.
type answered struct {
	status  int // of HTTP; 0 on stdio
	frame   string
	closed  bool
	refused bool // HTTP+SSE: the POST was refused, and no answer follows
}

// message is the part of an answer that is examined.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result *struct {
		IsError bool `json:"isError"`
	} `json:"result"`
	Error *struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// outcome names the reaction in the words of the corpus.
func (a answered) outcome() string {
	var m message
	switch {
	case a.refused:
		return "refused"
	case strings.HasPrefix(a.frame, "/"):
		return endpoint(a.frame)
	case a.frame == "" && a.closed:
		return "closed"
	case a.frame == "":
		return "nothing"
	case strings.HasPrefix(a.frame, "["):
		return "batch"
	case json.Unmarshal([]byte(a.frame), &m) != nil:
		return "no JSON: " + a.frame
	case m.Error != nil:
		return strconv.FormatInt(m.Error.Code, 10)
	case m.Result == nil:
		return "no response: " + a.frame
	case m.Result.IsError:
		return "tool-error"
	}
	return "result"
}

// endpoint checks that the URL that a stream names is on the same server,
// however a client interprets it.
func endpoint(named string) string {
	u, err := url.Parse(named)
	if err != nil || u.Host != "" || u.User != nil || !strings.HasPrefix(u.RawQuery, "sessionId=") {
		return "no endpoint: " + named
	}
	return "endpoint"
}

// peer is a connection over which a corpus is sent.
type peer interface {
	// send sends the messages of a case, or its raw bytes, and returns the
	// reaction to the last.
	send(e *entry) answered
	// serves checks that the connection still works.
	serves(t *testing.T)
	// end closes the connection, and checks that nothing more was sent.
	end()
}

// arena is what cases share: the servers, and a peer of each kind that must
// not be affected.
type arena struct {
	web        *httptest.Server
	sse        *httptest.Server
	bystanders []peer
	turn       int
}

// newArena starts servers that wait this long for a request's body.
func newArena(t *testing.T, wait time.Duration) *arena {
	t.Helper()
	opts := mcp.ServeOptions{Logger: mcptest.Quiet(), MaxMessageBytes: maxBytes}
	h, err := streamable.New(target, &streamable.Options{ServeOptions: opts, ReadTimeout: wait, WriteTimeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	old, err := sse.New(target, &sse.Options{ServeOptions: opts, ReadTimeout: wait, WriteTimeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	a := &arena{web: start(t, h), sse: start(t, old)}
	for _, r := range toServers {
		a.bystanders = append(a.bystanders, a.peer(t, r, nil))
	}
	t.Cleanup(func() {
		for _, p := range a.bystanders {
			p.end()
		}
	})
	return a
}

// start serves a handler over the network, until the test ends.
func start(t *testing.T, h interface {
	http.Handler
	Close(ctx context.Context) error
},
) *httptest.Server {
	t.Helper()
	web := httptest.NewServer(h)
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
		web.Close()
	})
	return web
}

// peer connects, and opens a session if the revision has sessions, unless the
// case asks for none.
func (a *arena) peer(t *testing.T, r route, e *entry) peer {
	t.Helper()
	if e == nil {
		e = &entry{fields: map[string][]string{}}
	}
	revision := e.one("revision", r)
	if revision == "" {
		revision = "2025-11-25"
	}
	fresh := r.era == "stateless" || e.one("fresh", r) != ""
	switch r.transport {
	case "stdio":
		return newStdioPeer(t, r, revision, fresh)
	case "sse":
		return newSSEPeer(t, a.sse, r, revision, fresh)
	}
	return newHTTPPeer(t, a.web, r, revision, fresh)
}

// Every input to a server gets the answer that the specification requires, or a
// clear refusal, and affects no other client.
func TestServers(t *testing.T) {
	files := load(t, "server")
	files["fields"] = tables(t, files["fields"], "params")
	patient, hasty := newArena(t, patience), newArena(t, shortly)
	for _, class := range slices.Sorted(maps.Keys(files)) {
		t.Run(class, func(t *testing.T) {
			n := 0
			for _, e := range files[class] {
				for _, r := range toServers {
					if e.goes(r) {
						n++
						a := patient
						if e.one("expires", r) != "" {
							a = hasty
						}
						t.Run(r.String()+"/"+e.name, func(t *testing.T) { a.attack(t, r, e) })
					}
				}
			}
			t.Logf("%d inputs", n)
		})
	}
}

// attack sends one case over one route.
func (a *arena) attack(t *testing.T, r route, e *entry) {
	t.Helper()
	e.complete(r)
	p := a.peer(t, r, e)
	var got answered
	cost(t, func() { got = p.send(e) })
	e.judge(t, r, got)
	if r.transport == "sse" || e.one("dies", r) == "" && !got.closed { // a stream outlives its POSTs
		p.serves(t)
	}
	p.end()
	// One bystander each time, in turn: all clients of a transport share its
	// server.
	a.turn = (a.turn + 1) % len(a.bystanders)
	a.bystanders[a.turn].serves(t)
}

// complete completes the message of a case that was generated from a table.
func (e *entry) complete(r route) {
	params := e.one("params", r)
	if params == "" {
		return
	}
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(params), &members) == nil && members["_meta"] == nil {
		params = "{" + metaOf(r.era) + "," + strings.TrimPrefix(params, "{")
		params = strings.Replace(params, ",}", "}", 1)
	}
	id := `"id":1,`
	if e.one("want", r) == "nothing" {
		id = "" // a notification
	}
	e.fields["send/"+r.era] = []string{fmt.Sprintf(`{"jsonrpc":"2.0",%s"method":%q,"params":%s}`, id, e.one("method-name", r), params)}
}

// judge compares the reaction with the expected one.
func (e *entry) judge(t *testing.T, r route, got answered) {
	t.Helper()
	want, o := e.one("want", r), got.outcome()
	if want == "" {
		t.Fatal("the case does not say what to expect")
	}
	if !slices.Contains(strings.Split(want, "|"), o) && !(got.refused && refusal(want)) {
		t.Errorf("got %s, want %s: status %d, %.300s", o, want, got.status, got.frame)
	}
	e.judgeStatus(t, r, got)
	if id := e.one("id", r); id != "" && !got.refused {
		var m message
		_ = json.Unmarshal([]byte(got.frame), &m) // checked above
		if have := string(m.ID); have != id && !(have == "" && id == "none") {
			t.Errorf("the answer has the id %q, want %q: %.300s", have, id, got.frame)
		}
	}
}

// refusal reports whether an input that should be answered with an error may be
// refused by the status alone.
func refusal(want string) bool {
	for w := range strings.SplitSeq(want, "|") {
		if w == "closed" || strings.HasPrefix(w, "-") {
			return true
		}
	}
	return false
}

// judgeStatus compares the HTTP status. Accepting a POST that delivers a
// message for a stream says nothing about the message.
func (e *entry) judgeStatus(t *testing.T, r route, got answered) {
	t.Helper()
	want := e.one("status", r)
	switch {
	case r.transport == "stdio", r.transport == "sse" && got.status == http.StatusAccepted:
	case want == "" && got.refused:
		t.Errorf("refused with status %d, and the case does not say with which", got.status)
	case want != "" && want != strconv.Itoa(got.status):
		t.Errorf("got status %d, want %s: %.300s", got.status, want, got.frame)
	}
}
