package load

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/bench/payload"
)

func TestLoopCountsEveryOp(t *testing.T) {
	n := 0
	run, err := Loop(0, []Op{func() (time.Duration, error) { n++; return time.Duration(n), nil }})
	if err != nil || n != 1 || run.Ops != 1 {
		t.Errorf("a loop without time made %d ops and counted %d, %v; want 1 and 1", n, run.Ops, err)
	}
}

func TestLoopFailsWithItsOps(t *testing.T) {
	broken := errors.New("broken")
	ok := func() (time.Duration, error) { return 3, nil }
	_, err := Loop(0, []Op{ok, func() (time.Duration, error) { return 0, broken }})
	if !errors.Is(err, broken) {
		t.Errorf("err = %v, want the error of the op", err)
	}
}

func TestEvents(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	in := ": comment\n\nid: 1\ndata: one\n\nevent: message\r\ndata:two\r\n\r\nid: 3\ndata:\n\ndata: " + long + "\n\n"
	r := bufio.NewReaderSize(strings.NewReader(in), 16)
	var got []string
	for {
		b, err := event(r, nil)
		if errors.Is(err, io.EOF) {
			break
		}
		got = append(got, string(b))
	}
	if want := []string{"one", "two", long}; !slices.Equal(got, want) {
		t.Errorf("events = %.80q, want %.80q", got, want)
	}
}

func TestHeadOf(t *testing.T) {
	for _, tt := range []struct{ msg, id, method string }{
		{`{"jsonrpc":"2.0","id":1000000001,"result":{}}`, "1000000001", ""},
		{`{"jsonrpc":"2.0","id": 1000000001,"result":{"method":"x"}}`, "1000000001", ""},
		{`{"result":{},"id":5,"jsonrpc":"2.0"}`, "5", ""},
		{`{"jsonrpc":"2.0","method":"notifications/progress","params":{"result":1}}`, "", "notifications/progress"},
		{`{"jsonrpc":"2.0","id":"a","method":"elicitation/create"}`, `"a"`, "elicitation/create"},
	} {
		h, err := headOf([]byte(tt.msg))
		if err != nil || string(h.ID) != tt.id || h.Method != tt.method {
			t.Errorf("headOf(%s) = %s, %q, %v", tt.msg, h.ID, h.Method, err)
		}
	}
}

func TestChecker(t *testing.T) {
	decoded := 0
	c := NewChecker(func(r json.RawMessage) error {
		decoded++
		if string(r) != `{"ok":true}` {
			return errors.New("wrong")
		}
		return nil
	})
	answer := func(id int, result string) Answer {
		return Answer{ID: fmt.Appendf(nil, "%d", id), Message: fmt.Appendf(nil, `{"id":%d,"result":%s}`, id, result)}
	}
	for _, tt := range []struct {
		name    string
		a       Answer
		ok      bool
		decoded int
	}{
		{"the first is decoded", answer(1000000001, `{"ok":true}`), true, 1},
		{"the same is not", answer(1000000002, `{"ok":true}`), true, 1},
		{"another is", answer(1000000003, `{"ok":nope}`), false, 1},
		{"a wrong one is refused", answer(1000000004, `{"ok":false}`), false, 2},
		{"a foreign ID is refused", Answer{ID: []byte("1000000009"), Message: []byte(`{"id":1000000001,"result":{"ok":true}}`)}, false, 2},
	} {
		if err := c.Check(tt.a); (err == nil) != tt.ok || decoded != tt.decoded {
			t.Errorf("%s: %v after %d decodings, want %v after %d", tt.name, err, decoded, tt.ok, tt.decoded)
		}
	}
}

func TestWhatIsLeftOfATimeIsNotANewAnswer(t *testing.T) {
	checked := 0
	c := NewChecker(func(json.RawMessage) error { checked++; return nil })
	for i, tt := range []struct {
		msg  string
		want int
	}{
		{`{"id":7,"result":{"ttlMs":600000,"tools":[1]}}`, 1},
		{`{"id":7,"result":{"ttlMs":59999,"tools":[1]}}`, 1},
		{`{"id":7,"result":{"ttlMs":59999,"tools":[2]}}`, 2},
		{`{"id":7,"result":{"tools":[2]}}`, 3},
	} {
		if err := c.Check(Answer{Message: []byte(tt.msg), ID: []byte("7")}); err != nil || checked != tt.want {
			t.Errorf("answer %d: checked %d times, %v; want %d", i, checked, err, tt.want)
		}
	}
}

func TestIsEchoRefusesOthers(t *testing.T) {
	want := payload.Small()
	b, _ := json.Marshal(want)
	good := fmt.Sprintf(`{"content":[{"type":"text","text":%q}],"structuredContent":%s}`, b, b)
	if err := IsEcho(want)([]byte(good)); err != nil {
		t.Errorf("the right result is refused: %v", err)
	}
	for name, bad := range map[string]string{
		"an error":           strings.Replace(good, "{", `{"isError":true,`, 1),
		"another text":       strings.Replace(good, "alpha", "beta", 1),
		"another structure":  strings.Replace(good, `"count":7,`, `"count":8,`, 1),
		"nothing structured": `{"content":[{"type":"text","text":"x"}]}`,
	} {
		if IsEcho(want)([]byte(bad)) == nil {
			t.Errorf("%s is accepted: %s", name, bad)
		}
	}
}

func TestRequestIDs(t *testing.T) {
	r := payload.Call(payload.Stateless, "echo", payload.Small())
	r.SetID(payload.FirstID + 42)
	var m struct {
		ID     int
		Method string
		Params struct {
			Name string
			Meta map[string]any `json:"_meta"`
		}
	}
	if err := json.Unmarshal(r.Body, &m); err != nil || m.ID != payload.FirstID+42 || m.Method != "tools/call" || m.Params.Name != "echo" || len(m.Params.Meta) != 3 {
		t.Errorf("request = %s: %+v, %v", r.Body, m, err)
	}
}
