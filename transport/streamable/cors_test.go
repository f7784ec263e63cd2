package streamable_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/transport/streamable"
)

// What a browser does for a page of another origin: it asks first, sends what it may,
// and shows the page the response with the headers that it may read.
func TestPageOfAnotherOrigin(t *testing.T) {
	const page = "https://app.example.com"
	ts, _ := start(t, testServer(nil), &streamable.Options{Origins: []string{page}})
	preflight := func(origin string) *http.Response {
		return ask(t, ts, "OPTIONS", "", "Origin", origin, "Access-Control-Request-Method", "POST",
			"Access-Control-Request-Headers", "authorization,content-type,mcp-method,mcp-name,mcp-param-region,mcp-protocol-version,mcp-session-id,x-other")
	}
	asked := preflight(page)
	if asked.StatusCode != http.StatusNoContent || asked.Header.Get("Access-Control-Allow-Origin") != page || !strings.Contains(asked.Header.Get("Vary"), "Origin") {
		t.Errorf("preflight: %d %v", asked.StatusCode, asked.Header)
	}
	may := strings.ToLower(asked.Header.Get("Access-Control-Allow-Headers"))
	for _, name := range []string{"authorization", "content-type", "last-event-id", "mcp-method", "mcp-name", "mcp-param-region", "mcp-protocol-version", "mcp-session-id", "dpop"} {
		if !strings.Contains(may, name) {
			t.Errorf("the page may not send %s: %s", name, may)
		}
	}
	if strings.Contains(may, "x-other") {
		t.Errorf("the page may send anything: %s", may)
	}
	for _, method := range []string{"GET", "POST", "DELETE"} {
		if !strings.Contains(asked.Header.Get("Access-Control-Allow-Methods"), method) {
			t.Errorf("the page may not use %s", method)
		}
	}
	readable := func(resp *http.Response) bool {
		return resp.Header.Get("Access-Control-Allow-Origin") == page && strings.Contains(resp.Header.Get("Access-Control-Expose-Headers"), "Mcp-Session-Id")
	}
	opened := ask(t, ts, "POST", hello, "Origin", page)
	id := opened.Header.Get("Mcp-Session-Id")
	if opened.StatusCode != http.StatusOK || id == "" || !readable(opened) {
		t.Errorf("initialize: %d %v", opened.StatusCode, opened.Header)
	}
	if resp := ask(t, ts, "POST", "{", "Origin", page); resp.StatusCode != http.StatusBadRequest || !readable(resp) {
		t.Errorf("an error: %d %v", resp.StatusCode, resp.Header)
	}
	if resp := ask(t, ts, "DELETE", "", "Origin", page, "Mcp-Session-Id", id); resp.StatusCode != http.StatusNoContent || !readable(resp) {
		t.Errorf("DELETE: %d %v", resp.StatusCode, resp.Header)
	}
	for _, foreign := range []string{"https://evil.example.com", "null", "http://localhost:3000"} {
		if resp := preflight(foreign); resp.StatusCode != http.StatusForbidden || resp.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("preflight of %s: %d %v", foreign, resp.StatusCode, resp.Header)
		}
		if resp := ask(t, ts, "POST", hello, "Origin", foreign); resp.StatusCode != http.StatusForbidden || resp.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("POST of %s: %d %v", foreign, resp.StatusCode, resp.Header)
		}
	}
	if resp := ask(t, ts, "POST", hello); resp.StatusCode != http.StatusOK || resp.Header.Get("Access-Control-Allow-Origin") != "" || !strings.Contains(resp.Header.Get("Vary"), "Origin") {
		t.Errorf("without an origin: %d %v", resp.StatusCode, resp.Header)
	}
	unasked := ask(t, ts, "OPTIONS", "", "Origin", page)
	if unasked.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("OPTIONS that is no preflight: %d", unasked.StatusCode)
	}
}

// Around a guard, CORS answers the preflight, which has no token, and lets the page read
// the challenge.
func TestCORSAroundAGuard(t *testing.T) {
	const page = "https://app.example.com"
	guarded := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.WriteHeader(http.StatusUnauthorized)
	})
	h, err := streamable.CORS([]string{page}, guarded)
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(h)
	defer ts.Close()
	if resp := ask(t, ts, "OPTIONS", "", "Origin", page, "Access-Control-Request-Method", "POST"); resp.StatusCode != http.StatusNoContent {
		t.Errorf("preflight: %d", resp.StatusCode)
	}
	resp := ask(t, ts, "POST", hello, "Origin", page)
	if resp.StatusCode != http.StatusUnauthorized || resp.Header.Get("Access-Control-Allow-Origin") != page || !strings.Contains(resp.Header.Get("Access-Control-Expose-Headers"), "WWW-Authenticate") {
		t.Errorf("%d %v", resp.StatusCode, resp.Header)
	}
	if resp := ask(t, ts, "OPTIONS", "", "Origin", "https://evil.example.com", "Access-Control-Request-Method", "POST"); resp.StatusCode != http.StatusUnauthorized || resp.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a foreign preflight: %d %v", resp.StatusCode, resp.Header)
	}
	if _, err := streamable.CORS([]string{"app.example.com"}, guarded); err == nil {
		t.Error("an origin without scheme is accepted")
	}
}
