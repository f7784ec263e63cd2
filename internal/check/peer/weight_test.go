package peer

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// A log that is full takes about as much memory as its limit says, whatever it was
// filled with: also where values take many times what their text does.
func TestFullLogIsAsLargeAsItsLimit(t *testing.T) {
	const limit = 16 << 20
	for name, text := range map[string]string{
		"tiny":    `{}`,
		"numbers": `{"jsonrpc":"2.0","method":"x","params":[` + strings.Repeat("1,", 500) + `2]}`,
		"lists":   `{"jsonrpc":"2.0","method":"x","params":[` + strings.Repeat("[],", 500) + `[]]}`,
		"objects": `{"jsonrpc":"2.0","method":"x","params":[` + strings.Repeat("{},", 500) + `{}]}`,
		"members": `{"jsonrpc":"2.0","method":"x","params":{` + members(500) + `}}`,
		"deep":    strings.Repeat(`[`, 500) + strings.Repeat(`]`, 500),
		"text":    `{"jsonrpc":"2.0","method":"x","params":"` + strings.Repeat("a", 5000) + `"}`,
		"batch":   `[` + strings.Repeat(`{"jsonrpc":"2.0","method":"x"},`, 500) + `{"jsonrpc":"2.0","method":"y"}]`,
		"bad":     strings.Repeat(`[1,`, 500),
	} {
		t.Run(name, func(t *testing.T) {
			before := heap()
			l := NewLog(Limits{Total: limit, Messages: 1 << 30})
			for !l.Full() {
				l.Add(&Message{Raw: []byte(text)})
			}
			took := heap() - before
			t.Logf("%d messages take %d KiB", l.Len(), took>>10)
			if took > 3*limit/2 {
				t.Errorf("a log of at most %d bytes takes %d", limit, took)
			}
			if took < limit/4 {
				t.Errorf("a log of at most %d bytes is full with %d", limit, took)
			}
			runtime.KeepAlive(l)
		})
	}
}

func members(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"member-%d":null`, i))
	}
	return strings.Join(all, ",")
}

// heap is how much memory is in use.
func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
