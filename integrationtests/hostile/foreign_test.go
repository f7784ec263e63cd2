package hostile_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/internal/sse"
)

// A client can neither answer a question to another client, whatever IDs it
// tries, nor cancel another client's request.
func TestForeignAnswers(t *testing.T) {
	a := newArena(t, patience)
	r := route{transport: "http", era: "session"}
	victim, villain := newHTTPPeer(t, a.web, r, "2025-11-25", false), newHTTPPeer(t, a.web, r, "2025-11-25", false)
	defer victim.end()
	defer villain.end()
	_, _ = io.WriteString(victim.conn, victim.request(new(entry), question))
	resp, err := http.ReadResponse(victim.r, &http.Request{Method: http.MethodPost})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	events := sse.NewReader(resp.Body, 1<<20)
	var q string
	for q == "" {
		e, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		if len(e.Data) > 0 {
			q = questionID(t, string(e.Data))
		}
	}
	for _, evil := range evilAnswers(q) {
		if got := villain.exchange(villain.request(new(entry), evil)); got.status != http.StatusAccepted {
			t.Errorf("%s: %+v", evil, got)
		}
	}
	other := victim.another()
	defer other.end()
	other.exchange(other.request(new(entry), answerTo(q, "mine")))
	e, err := events.Next()
	var m message
	if err != nil || json.Unmarshal(e.Data, &m) != nil || !strings.Contains(string(e.Data), "mine") {
		t.Errorf("the call returned %s, %v", e.Data, err)
	}
}

// answerTo answers a question.
func answerTo(q, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"text":%q}}}`, q, text)
}

// evilAnswers are another client's attempts to answer that question, and to
// respond to the call that asked it.
func evilAnswers(q string) []string {
	return []string{
		answerTo(q, "evil"),
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + q + `}}`,
	}
}

// The same over HTTP+SSE, where the ID in the endpoint tells clients apart.
func TestForeignAnswersOverSSE(t *testing.T) {
	a := newArena(t, patience)
	r := route{"sse", "session", "http"}
	victim, villain := newSSEPeer(t, a.sse, r, "2025-06-18", false), newSSEPeer(t, a.sse, r, "2025-06-18", false)
	defer victim.end()
	defer villain.end()
	victim.post(question)
	q := questionID(t, victim.heard())
	for _, evil := range evilAnswers(q) {
		villain.post(evil)
	}
	villain.serves(t)
	victim.post(answerTo(q, "mine"))
	if got := victim.response(); !strings.Contains(got, "mine") {
		t.Errorf("the call returned %s", got)
	}
}

// No one can post for a client that has disconnected: its endpoint disappeared
// with its stream.
func TestPostAfterTheStream(t *testing.T) {
	a := newArena(t, patience)
	p := newSSEPeer(t, a.sse, route{"sse", "session", "http"}, "2025-06-18", false)
	defer p.end()
	p.post(question) // in flight when the stream ends
	_ = p.down.Close()
	for until := time.Now().Add(patience); ; { // it is up to the server when it notices
		got := p.exchange(p.request(new(entry), good("late", "session")))
		if got.status == http.StatusNotFound {
			break
		}
		if got.status != http.StatusAccepted || time.Now().After(until) {
			t.Fatalf("a POST after the stream: %+v", got)
		}
	}
	if got := p.exchange(p.request(new(entry), answerTo("1", "late"))); got.status != http.StatusNotFound {
		t.Errorf("an answer after the stream: %+v", got)
	}
}
