package gateway_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
	"github.com/parley-mcp/parley/mcp"
)

// either is told where it depends on the transport whether an answer still comes.
const either = "-"

// lies are what a server sends in place of the answer to a call, and what the client is
// told; "" is that the call succeeds.
var lies = map[string]struct {
	frames func(m *heard) []string
	told   string
}{
	"too long":          {result(`{"content":[{"type":"text","text":"` + strings.Repeat("x", limit) + `"}]}`), `"bad"`},
	"too long and open": {text(strings.Repeat("x", 4*limit)), `"bad"`},
	"long":              {result(`{"resultType":"complete","content":[{"type":"text","text":"` + strings.Repeat("x", limit-1000) + `"}]}`), ""},
	"deep":              {result(`{"resultType":"complete","content":[],"structuredContent":{"a":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}}`), `"bad"`},
	"deep and open":     {result(strings.Repeat(`{"a":`, 40_000)), `"bad"`},
	"no UTF-8":          {result("{\"resultType\":\"complete\",\"content\":[{\"type\":\"text\",\"text\":\"\xff\xfe\"}]}"), `"bad"`},
	"a batch":           {func(m *heard) []string { return []string{`[` + fine(m) + `]`} }, ""},
	"nobody asked":      {func(m *heard) []string { return []string{`{"jsonrpc":"2.0","id":999999,"result":{}}`, fine(m)} }, ""},
	"twice": {func(m *heard) []string {
		return []string{fine(m), fine(m), answer(m, `{"content":[{"type":"text","text":"other"}]}`)}
	}, ""},
	"result and error": {func(m *heard) []string {
		return []string{strings.Replace(fine(m), `"result"`, `"error":{"code":1,"message":"m"},"result"`, 1)}
	}, `"bad"`},
	"neither":          {func(m *heard) []string { return []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%s}`, m.ID)} }, `"bad"`},
	"result is a list": {result(`[]`), `"bad"`},
	"result is a text": {result(`"x"`), `"bad"`},
	"result is null":   {result(`null`), `"bad"`},
	"error is a text":  {func(m *heard) []string { return []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":"no"}`, m.ID)} }, `"bad"`},
	"no JSON":          {text(`{"jsonrpc":"2.0","id":`), either},
	"another version":  {func(m *heard) []string { return []string{strings.Replace(fine(m), `"2.0"`, `"1.0"`, 1)} }, `"bad"`},
	"ID is a text": {func(m *heard) []string {
		return []string{strings.Replace(fine(m), `"id":`+string(m.ID), `"id":"`+string(m.ID)+`"`, 1)}
	}, ""},
	"somebody's token":   {note(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7777,"progress":1}}`), ""},
	"somebody's task":    {note(`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"somebody's","status":"completed","createdAt":"2026-01-01T00:00:00Z","ttl":1}}`), ""},
	"cancels a stranger": {note(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4242}}`), ""},
	"members twice":      {note(`{"jsonrpc":"2.0","jsonrpc":"2.0","method":"notifications/message","method":"ping","params":{}}`), ""},
}

func fine(m *heard) string {
	return answer(m, `{"resultType":"complete","content":[{"type":"text","text":"fine"}]}`)
}

func result(r string) func(*heard) []string {
	return func(m *heard) []string { return []string{answer(m, r)} }
}

func text(frame string) func(*heard) []string {
	return func(m *heard) []string { return []string{frame, fine(m)} }
}

func note(frame string) func(*heard) []string { return text(frame) }

// Whatever a server sends for an answer, its client gets the answer or a clear error, the
// others theirs, and the server can be used again.
func TestLies(t *testing.T) {
	cells(t, backend.Options{Timeout: 10 * time.Second}, func(t *testing.T, s *stage) {
		var lie atomic.Pointer[string]
		s.via = newVillain(t, s.back, func(m *heard, send func(string)) bool {
			name := lie.Load()
			if m.Method != mcp.MethodCallTool || name == nil {
				return false
			}
			for _, frame := range lies[*name].frames(m) {
				send(frame)
			}
			return true
		})
		if err := s.call(t, "bad__write"); err != nil {
			t.Fatal(err)
		}
		for name, l := range lies {
			begun := time.Now()
			lie.Store(&name)
			err := s.call(t, "bad__write")
			switch took := time.Since(begun); {
			case l.told == either:
			case l.told == "" && err != nil:
				t.Errorf("%s: %v", name, err)
			case l.told != "":
				fails(t, name, err, l.told)
			case took > 11*time.Second:
				t.Errorf("%s: it took %s", name, took)
			}
			s.answers(t)
			lie.Store(nil)
			if err := s.call(t, "bad__write"); err != nil {
				t.Errorf("after %s: %v", name, err)
			}
		}
		if n := s.logged.bytes.Load(); n > 200_000 {
			t.Errorf("%d bytes are logged", n)
		}
	})
}
