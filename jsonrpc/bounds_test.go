package jsonrpc

import (
	"fmt"
	"strings"
	"testing"
)

// plainly counts as bounded does, one byte after the other: the deepest nesting, and
// the most members that are open at a time.
func plainly(frame []byte) (deepest, most int) {
	open, inString := []int{0}, false
	for i := 0; i < len(frame); i++ {
		switch c := frame[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			open = append(open, 0)
			deepest = max(deepest, len(open)-1)
		case c == ':':
			open[len(open)-1]++
			total := 0
			for _, n := range open {
				total += n
			}
			most = max(most, total)
		case (c == '}' || c == ']') && len(open) > 1:
			open = open[:len(open)-1]
		}
	}
	return deepest, most
}

// Skipping strings changes nothing, whatever the frame is.
func FuzzBounded(f *testing.F) {
	for _, s := range []string{`[[[]]]`, `["[[[","\"[[[","\\",[[]]]`, `"\\\"[`, `"\`, `[[["`, `{"a":{"b":[1,"]",{}]}}`, `\"[[["`, `}}[[[`, `{"a":1,"b":":::"}`, `{"a":{"b":1},"c":{"d":2}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		deepest, most := plainly(frame)
		if err := bounded(frame, 2, 2); (err != nil) != (deepest > 2 || most > 2) {
			t.Errorf("%q has %d levels and %d members open: %v", frame, deepest, most, err)
		}
	})
}

// Many objects may follow each other, as the rows of a table do; one alone may not
// have so many members that remembering their names takes a lot of memory.
func TestMembers(t *testing.T) {
	rows := strings.TrimSuffix(strings.Repeat(`{"a":1,"b":2},`, maxMembers), ",")
	if _, err := new(Decoder).Decode(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"m","params":{"rows":[%s]}}`, rows)); err != nil {
		t.Errorf("rows: %v", err)
	}
	var members strings.Builder
	for i := range maxMembers {
		fmt.Fprintf(&members, `"%d":0,`, i)
	}
	m, err := new(Decoder).Decode(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"m","params":{%s"last":0}}`, members.String()))
	if err == nil || !strings.Contains(err.Error(), "more than 100000 members") || m.ID.String() != "1" {
		t.Errorf("members: %v, %v", m, err)
	}
}
