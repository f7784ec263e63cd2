package era

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

func decode(t testing.TB, frame string) *jsonrpc.Message {
	t.Helper()
	m, err := Decoder(mcp.ServeOptions{}).Decode([]byte(frame))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func newTestSealer(t testing.TB, keys ...string) *sealer {
	t.Helper()
	var raw [][]byte
	for _, k := range keys {
		raw = append(raw, []byte(strings.Repeat(k, 32)))
	}
	s, err := newSealer(raw)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deploy","arguments":{"n":9007199254740993,"a":"x"}}}`

func TestStateIsBoundToItsRequest(t *testing.T) {
	now := time.Unix(1000, 0)
	request, err := digest(decode(t, call))
	if err != nil {
		t.Fatal(err)
	}
	s := newTestSealer(t, "k")
	text, err := s.seal(&state{Owner: "ann", Request: request, Expires: 1060, Answers: map[string]json.RawMessage{"q": json.RawMessage(`1`)}})
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(call, "deploy", "destroy", 1)
	bigger := strings.Replace(call, "9007199254740993", "9007199254740992", 1)
	reordered := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"requestState":"x","inputResponses":{},"arguments":{"a":"\u0078", "n":9007199254740993},"name":"deploy","_meta":{"t":1}}}`
	tests := []struct {
		name, principal, frame, text string
		now                          time.Time
		ok                           bool
	}{
		{"as it was", "ann", call, text, now, true},
		{"another order and id", "ann", reordered, text, now, true},
		{"another principal", "bob", call, text, now, false},
		{"another tool", "ann", other, text, now, false},
		{"another number", "ann", bigger, text, now, false},
		{"expired", "ann", call, text, now.Add(time.Minute), false},
		{"cut", "ann", call, text[:len(text)-4], now, false},
		{"empty", "ann", call, "", now, false},
		{"not base64", "ann", call, "!", now, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := digest(decode(t, tt.frame))
			if err != nil {
				t.Fatal(err)
			}
			st, err := s.open(tt.text, tt.principal, d, tt.now)
			if (err == nil) != tt.ok {
				t.Fatalf("open = %v, want ok %v", err, tt.ok)
			}
			if tt.ok && string(st.Answers["q"]) != "1" {
				t.Errorf("answers = %v", st.Answers)
			}
		})
	}
}

func TestStateKeysRotate(t *testing.T) {
	text, err := newTestSealer(t, "a").seal(&state{Expires: 10})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newTestSealer(t, "b", "a").open(text, "", nil, time.Unix(0, 0)); err != nil {
		t.Errorf("the older key no longer opens: %v", err)
	}
	if _, err := newTestSealer(t, "b").open(text, "", nil, time.Unix(0, 0)); err == nil {
		t.Error("a key that was taken away still opens")
	}
	if _, err := newSealer([][]byte{{1}}); err == nil {
		t.Error("a short key was accepted")
	}
}

func TestStateHidesWhatItHolds(t *testing.T) {
	text, err := newTestSealer(t, "a").seal(&state{Owner: "secret-name"})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, "secret") {
		t.Error("the state can be read")
	}
}

func FuzzOpenState(f *testing.F) {
	s := newTestSealer(f, "k")
	good, err := s.seal(&state{Expires: 1 << 40})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add("AAAA")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		// Whatever opens was sealed here, and only one state was: its text
		// differs from one process of the fuzzer to the next.
		st, err := s.open(text, "", nil, time.Unix(0, 0))
		if err == nil && (st.Expires != 1<<40 || st.Answers != nil) {
			t.Errorf("a forged state was opened: %q holds %+v", text, st)
		}
	})
}

func FuzzMeta(f *testing.F) {
	for _, seed := range []string{
		`{"progressToken":1}`, `{"progressToken":1.5}`, `{"traceparent":5,"io.modelcontextprotocol/logLevel":"x"}`,
		`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{},"sampling":null,"extensions":{"a/b":1}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, meta []byte) {
		frame := append(append([]byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":`), meta...), `}}`...)
		m, err := new(jsonrpc.Decoder).Decode(frame)
		if err != nil {
			return
		}
		got := readMeta(m)
		if x := newExchange(m, nil); got.fill(x) == nil && string(x.Meta) != string(m.Meta) {
			t.Errorf("_meta changed: %s, then %s", m.Meta, x.Meta)
		}
		IsStateless(m)
	})
}
