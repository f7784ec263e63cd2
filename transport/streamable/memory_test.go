//go:build !race

package streamable_test

import (
	"fmt"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/streamable"
)

// What is refused is not decoded: everything that a request allocates, of which its
// memory is a part, is at most three times its size.
func TestRefusedArgumentsTakeLittle(t *testing.T) {
	const size = 4 << 20
	h, err := streamable.New(testServer(nil), &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close(t.Context())
	many := func(unit string) string { return strings.TrimSuffix(strings.Repeat(unit, size/len(unit)), ",") }
	var members strings.Builder
	for i := 0; members.Len() < size; i++ {
		fmt.Fprintf(&members, `"%x":0,`, i)
	}
	for name, args := range map[string]string{
		"unknown text":      `{"text":"x","other":"` + strings.Repeat("a", size) + `"}`,
		"unknown numbers":   `{"text":"x","other":[` + many("0,") + `]}`,
		"unknown arrays":    `{"text":"x","other":[` + many("[],") + `]}`,
		"unknown objects":   `{"text":"x","other":[` + many("{},") + `]}`,
		"unknown arguments": `{"text":"x",` + strings.TrimSuffix(members.String(), ",") + `}`,
		"members":           `{"text":"x","other":{` + strings.TrimSuffix(members.String(), ",") + `}}`,
		"another type":      `{"text":[` + many("[],") + `]}`,
	} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "http://127.0.0.1/", strings.NewReader(modern("tools/call", `"name":"echo","arguments":`+args)))
		for field, value := range map[string]string{"Content-Type": "application/json", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "echo"} {
			r.Header.Set(field, value)
		}
		w := httptest.NewRecorder()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		h.ServeHTTP(w, r)
		runtime.ReadMemStats(&after)
		if got := w.Body.String(); !strings.Contains(got, `"isError":true`) && w.Code != 400 {
			t.Errorf("%s: %d %.200s, want a refusal", name, w.Code, got)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 3*uint64(r.ContentLength) {
			t.Errorf("%s: %d bytes are allocated for %d bytes; want three times as much at most", name, took, r.ContentLength)
		}
	}
}
