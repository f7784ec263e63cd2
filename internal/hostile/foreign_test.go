package hostile_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/sse"
)

// A client cannot answer what another was asked, whatever IDs it tries, nor
// withdraw what another has asked.
func TestForeignAnswers(t *testing.T) {
	a := newArena(t)
	r := route{"http", "session"}
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
	answer := `{"jsonrpc":"2.0","id":` + q + `,"result":{"action":"accept","content":{"text":"whose"}}}`
	for _, evil := range []string{
		strings.Replace(answer, "whose", "evil", 1),
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + q + `}}`,
	} {
		if got := villain.exchange(villain.request(new(entry), evil)); got.status != http.StatusAccepted {
			t.Errorf("%s: %+v", evil, got)
		}
	}
	other := &httpPeer{t: t, route: r, web: a.web, session: victim.session, version: victim.version}
	other.dial()
	defer other.end()
	other.exchange(other.request(new(entry), strings.Replace(answer, "whose", "mine", 1)))
	e, err := events.Next()
	var m message
	if err != nil || json.Unmarshal(e.Data, &m) != nil || !strings.Contains(string(e.Data), "mine") {
		t.Errorf("the call returned %s, %v", e.Data, err)
	}
}
