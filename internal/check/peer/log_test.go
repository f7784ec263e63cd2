package peer

import (
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestLogOfBatch(t *testing.T) {
	l := NewLog(Limits{})
	asked := &Message{Conn: 1, Sent: true, Raw: []byte(`[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"}]`)}
	l.Add(asked)
	answer := &Message{Conn: 1, Raw: []byte(`[{"jsonrpc":"2.0","id":1,"result":{}}]`)}
	l.Add(answer)
	if len(asked.Items) != 2 || !asked.Items[0].IsRequest() || !asked.Items[1].IsNotification() || asked.Items[0].Batch != asked {
		t.Errorf("%+v", asked.Items)
	}
	if l.ResponseTo(asked.Items[0]) != answer.Items[0] || l.RequestOf(answer.Items[0]) != asked.Items[0] {
		t.Error("elements of batches are not paired")
	}
	if l.Len() != 5 || len(l.Since(3)) != 2 || l.Since(3)[0] != answer {
		t.Errorf("%d messages", l.Len())
	}
}

// An answer is paired within its connection, by the very ID, and the first counts.
func TestLogPairs(t *testing.T) {
	l := NewLog(Limits{})
	add := func(conn int, sent bool, raw string) *Message {
		m := &Message{Conn: conn, Sent: sent, Raw: []byte(raw)}
		l.Add(m)
		return m
	}
	big := add(1, true, `{"jsonrpc":"2.0","id":9007199254740993,"method":"a"}`)
	for _, raw := range []string{`{"jsonrpc":"2.0","id":9007199254740992,"result":{}}`, `{"jsonrpc":"2.0","id":"9007199254740993","result":{}}`} {
		if m := add(1, false, raw); l.RequestOf(m) != nil {
			t.Errorf("%s was taken for an answer", raw)
		}
	}
	if m := add(2, false, `{"jsonrpc":"2.0","id":9007199254740993,"result":{}}`); l.RequestOf(m) != nil {
		t.Error("an answer on another connection was taken")
	}
	first := add(1, false, `{"jsonrpc":"2.0","id":9007199254740993,"result":{}}`)
	add(1, false, `{"jsonrpc":"2.0","id":9007199254740993,"result":{}}`)
	if l.ResponseTo(big) != first {
		t.Error("not the first answer was kept")
	}
}

func TestLogCuts(t *testing.T) {
	l := NewLog(Limits{Message: 10, Total: 5 * messageWeight / 2, Messages: 100})
	m := &Message{Raw: []byte(strings.Repeat("1", 30))}
	l.Add(m)
	if len(m.Raw) != 10 || m.Cut != 20 || m.Bad == nil || l.Full() {
		t.Errorf("%+v", m)
	}
	l.Add(&Message{Raw: []byte("1234567890")})
	if l.Full() {
		t.Error("the log is full before its total")
	}
	l.Add(&Message{Raw: []byte("1234567890")})
	if !l.Full() {
		t.Error("the log takes more than its total")
	}
	l = NewLog(Limits{Messages: 2})
	l.Add(&Message{Raw: []byte("1")})
	l.Add(&Message{Raw: []byte("2")})
	if !l.Full() {
		t.Error("the log takes more messages than its limit")
	}
}

func TestGet(t *testing.T) {
	v, err := Decode([]byte(`{"a":{"b/c":[{"~":1}]},"n":null}`))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"": `{"a":{"b/c":[{"~":1}]},"n":null}`, "a/b~1c/0/~0": "1", "n": "null"} {
		if got, ok := Get(v, path); !ok || string(Encode(got)) != want {
			t.Errorf("%q gives %s, %v", path, Encode(got), ok)
		}
	}
	for _, path := range []string{"x", "a/b~1c/1", "a/b~1c/-1", "a/b~1c/x", "n/x"} {
		if got, ok := Get(v, path); ok {
			t.Errorf("%q gives %v", path, got)
		}
	}
	for _, bad := range []string{"", "{", "1 2", "{} x"} {
		if _, err := Decode([]byte(bad)); err == nil {
			t.Errorf("%q is taken for one value", bad)
		}
	}
}
