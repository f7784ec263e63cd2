package inspect

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/appframe"
)

// unruly are tools, most of which are not what the specification says.
const unruly = `[
	{"name": "bad-meta", "inputSchema": {"type": "object"}, "_meta": "ui"},
	{"name": "bad-title", "title": {"a": 1}, "inputSchema": [], "annotations": "none", "icons": 7},
	{"name": "bad-ui", "inputSchema": {"type": "object"}, "_meta": {"ui": {"visibility": "app"}}},
	{"name": 7},
	"a text",
	{"name": "good", "inputSchema": {"type": "object"}, "_meta": {"ui": {"visibility": ["app"]}}},
	{"name": "for-models", "inputSchema": {"type": "object"}, "_meta": {"ui": {"visibility": ["model"]}}}
]`

// serveUnruly is a server of 2025-11-25 that lists these tools.
func serveUnruly(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&asked) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if asked.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result, ok := map[string]string{
		"initialize":     `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{},"tasks":{"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"unruly","version":"1"}}`,
		"tools/list":     `{"tools":` + unruly + `}`,
		"tools/call":     `{"content":[{"type":"text","text":"called"}]}`,
		"resources/read": `{"contents":[{"uri":"ui://app","mimeType":"text/html;profile=mcp-app","text":"<p>app"}]}`,
	}[asked.Method]
	w.Header().Set("Content-Type", "application/json")
	if !ok {
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, asked.ID)
		return
	}
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, asked.ID, result)
}

// Malformed tools of the same list do not keep an app from calling one that is right, and
// a tool whose visibility cannot be read is for nobody.
func TestAppsOfUnrulyServer(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(serveUnruly))
	t.Cleanup(site.Close)
	s := newStage(t, Options{Frames: new(appframe.Frames)})
	if c := s.open(map[string]any{"url": site.URL, "revision": "2025-11-25"}); c.State != "up" {
		t.Fatalf("the connection is %s: %+v", c.State, c.Error)
	}
	app := must[readApp](s, "POST", "/connections/c1/apps", map[string]string{"uri": "ui://app"})
	calls := "/connections/c1/apps/" + app.ID + "/calls"
	if said := must[answer](s, "POST", calls, map[string]string{"name": "good"}); !strings.Contains(string(said.Result), "called") {
		t.Errorf("a tool that is right answers %s, %v", said.Result, said.Error)
	}
	for _, name := range []string{"for-models", "bad-meta", "bad-ui", "7", ""} {
		if err := s.refused("POST", calls, map[string]string{"name": name}); err.Code != "not_for_apps" {
			t.Errorf("%q: %s: %s", name, err.Code, err.Message)
		}
	}
}
