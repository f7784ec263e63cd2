package hostile_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/stdio"
)

// shortly is the timeout in tests that let one expire.
const shortly = 200 * time.Millisecond

// stdioPeer is a client of a server over lines.
type stdioPeer struct {
	t      *testing.T
	route  route
	w      io.WriteCloser
	lines  chan string // closed at the end of the server's output
	served chan error
	fresh  string // the revision of a session that is still to be opened
}

func newStdioPeer(t *testing.T, r route, revision string, fresh bool) *stdioPeer {
	t.Helper()
	in, w := io.Pipe()
	out, answers := io.Pipe()
	p := &stdioPeer{t: t, route: r, w: w, lines: make(chan string, 4096), served: make(chan error, 1)}
	go func() { // ends when w is closed; end waits for it
		err := stdio.ServeOn(context.Background(), target, in, answers, &mcp.ServeOptions{Logger: mcptest.Quiet(), MaxMessageBytes: maxBytes})
		_ = answers.Close() // ends the reader
		_ = in.Close()      // further writes have no reader
		p.served <- err
	}()
	go func() { // ends with the server
		defer close(p.lines)
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			p.lines <- strings.TrimSuffix(line, "\n")
		}
	}()
	p.fresh = revision
	if !fresh {
		p.open()
	}
	return p
}

// open opens the session, unless it is open or there is none.
func (p *stdioPeer) open() {
	p.t.Helper()
	if p.fresh != "" && p.route.era == "session" {
		p.write(initialize(p.fresh))
		p.response()
		p.write(initialized)
	}
	p.fresh = ""
}

func (p *stdioPeer) write(line string) {
	_, _ = io.WriteString(p.w, line+"\n") // if the server is gone, the next read shows it
}

// next returns the server's next line, or "" at the end.
func (p *stdioPeer) next() string {
	p.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case line := <-p.lines:
		return line
	case <-timer.C:
		p.t.Fatal("the server did not answer")
		return ""
	}
}

// response returns the next line that is neither a request nor a notification.
func (p *stdioPeer) response() string {
	p.t.Helper()
	for {
		line := p.next()
		var m message
		if json.Unmarshal([]byte(line), &m) != nil || m.Method == "" {
			return line
		}
	}
}

func (p *stdioPeer) send(e *entry) answered {
	p.t.Helper()
	names := moment(p.route)
	for _, m := range e.all("before", p.route) {
		p.write(expand(p.t, m, names))
		if strings.Contains(m, `"id"`) {
			names["state"] = stateIn(p.next())
		}
	}
	if e.one("asks", p.route) != "" {
		p.write(question)
		names["q"] = questionID(p.t, p.next())
	}
	for _, m := range e.all("send", p.route) {
		p.write(expand(p.t, m, names))
	}
	if part := e.one("endless", p.route); part != "" {
		return p.flood(expand(p.t, part, names))
	}
	if method := e.one("tells", p.route); method != "" {
		told(p.t, p.next(), method)
	}
	if e.one("want", p.route) == "nothing" {
		return answered{} // serves and end check that nothing comes
	}
	line := p.response()
	return answered{frame: line, closed: line == ""}
}

// question is a call whose handler asks its client something.
const question = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{}}}`

// questionID returns the ID of the server's question.
func questionID(t *testing.T, frame string) string {
	t.Helper()
	var m message
	if err := json.Unmarshal([]byte(frame), &m); err != nil || m.Method != mcp.MethodElicit {
		t.Fatalf("the server did not ask: %.300s (%v)", frame, err)
	}
	return string(m.ID)
}

// stateIn returns the state that an answer asks its client to send back.
func stateIn(frame string) string {
	var m struct {
		Result struct {
			RequestState string `json:"requestState"`
		} `json:"result"`
	}
	_ = json.Unmarshal([]byte(frame), &m) // an answer without a state has none
	return m.Result.RequestState
}

// told checks that a frame is a notification with a method.
func told(t *testing.T, frame, method string) {
	t.Helper()
	var m message
	if err := json.Unmarshal([]byte(frame), &m); err != nil || m.Method != method || m.ID != nil {
		t.Errorf("the server did not send %s but %.300s (%v)", method, frame, err)
	}
}

// flood writes a line without an end, until the client has written enough and
// disconnects.
func (p *stdioPeer) flood(part string) answered {
	p.t.Helper()
	for range 128 * maxBytes / len(part) {
		if _, err := io.WriteString(p.w, part); err != nil {
			break
		}
	}
	_ = p.w.Close()
	p.response() // the refusal of the long line
	line := p.response()
	return answered{frame: line, closed: line == ""}
}

// serves calls a tool. The response must be the next frame that the server
// sends.
func (p *stdioPeer) serves(t *testing.T) {
	t.Helper()
	p.t = t // a bystander is used by one test after the other
	p.open()
	p.write(good("good", p.route.era))
	if line := p.response(); !strings.Contains(line, `"id":"good"`) || !strings.Contains(line, "fine") {
		p.t.Errorf("%v: a good request was answered by %.300s", p.route, line)
	}
}

func (p *stdioPeer) end() {
	p.t.Helper()
	_ = p.w.Close()
	select {
	case <-p.served:
	case <-p.t.Context().Done():
		<-p.served // a bystander ends in a cleanup
	}
	for line := range p.lines {
		p.t.Errorf("%v: the server sent more: %.300s", p.route, line)
	}
}
