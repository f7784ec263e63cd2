//go:build !race

package streamable_test

import (
	"fmt"
	"net/http"
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
		r := modernRequest(t, "tools/call", `"name":"echo","arguments":`+args)
		r.Header.Set("Mcp-Name", "echo")
		if got := answerThatTakesLittle(t, name, h, r); !strings.Contains(got.Body.String(), `"isError":true`) && got.Code != 400 {
			t.Errorf("%s: %d %.200s, want a refusal", name, got.Code, got.Body)
		}
	}
}

// Neither is what a client says about itself, which sessions would keep, or wants to
// watch, if that is more than the server has limits for.
func TestRefusedDeclarationsTakeLittle(t *testing.T) {
	const size = 4 << 20
	h, err := streamable.New(testServer(nil), &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close(t.Context())
	icons := `{"name":"c","version":"1","icons":[` + strings.TrimSuffix(strings.Repeat("{},", size/3), ",") + `]}`
	wide := `{"experimental":{"x":"` + strings.Repeat("a", size) + `"}}`
	opening := func(info, capabilities string) *http.Request {
		return httpRequest(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"clientInfo":`+info+`}}`, nil)
	}
	listing := func(info, capabilities string) *http.Request {
		meta := `"_meta":{"` + mcp.MetaProtocolVersion + `":"2026-07-28","` + mcp.MetaClientInfo + `":` + info + `,"` + mcp.MetaClientCapabilities + `":` + capabilities + `}`
		return httpRequest(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+meta+`}}`,
			map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"})
	}
	uris := `"notifications":{"resourceSubscriptions":[` + strings.TrimSuffix(strings.Repeat(`"a:b",`, size/6), ",") + `]}`
	const who = `{"name":"c","version":"1"}`
	for name, r := range map[string]*http.Request{
		"icons of a session":        opening(icons, `{}`),
		"capabilities of a session": opening(who, wide),
		"icons of a request":        listing(icons, `{}`),
		"capabilities of a request": listing(who, wide),
		"resources to watch":        modernRequest(t, "subscriptions/listen", uris),
	} {
		if got := answerThatTakesLittle(t, name, h, r); !strings.Contains(got.Body.String(), "the limit is") {
			t.Errorf("%s: %d %.200s, want a refusal that names the limit", name, got.Code, got.Body)
		}
	}
}

func modernRequest(t *testing.T, method, params string) *http.Request {
	return httpRequest(t, modern(method, params), map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method})
}

func httpRequest(t *testing.T, body string, header map[string]string) *http.Request {
	r := httptest.NewRequestWithContext(t.Context(), "POST", "http://127.0.0.1/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for field, value := range header {
		r.Header.Set(field, value)
	}
	return r
}

// answerThatTakesLittle serves a request, and fails the test if that allocates more
// than three times its size.
func answerThatTakesLittle(t *testing.T, name string, h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	h.ServeHTTP(w, r)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 3*uint64(r.ContentLength) {
		t.Errorf("%s: %d bytes are allocated for %d bytes; want three times as much at most", name, took, r.ContentLength)
	}
	return w
}
