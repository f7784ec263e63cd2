package catalogue_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/catalogue"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/streamable"
)

// shown serves the lists of a catalogue.
type shown struct{ c *catalogue.Catalogue }

func (s shown) Describe(context.Context, *mcp.Peer) *mcp.Description {
	return &mcp.Description{Info: mcp.Implementation{Name: "g", Version: "1"}, Capabilities: mcp.ServerCapabilities{Tools: &mcp.ListCapability{}}}
}

func (s shown) Serve(ctx context.Context, x *mcp.Exchange) (any, error) {
	return s.c.List(ctx, &x.Peer, x.Method, all, nil)
}

// overHTTP makes a function that lists the tools of a catalogue in the newest revision.
func overHTTP(t testing.TB, c *catalogue.Catalogue) func() *httptest.ResponseRecorder {
	t.Helper()
	h, err := streamable.New(shown{c}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close(context.Background()) })
	const message = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"%[1]s",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	newest := mcp.Revision20260728.String()
	return func() *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/", strings.NewReader(fmt.Sprintf(message, newest)))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("MCP-Protocol-Version", newest)
		r.Header.Set("Mcp-Method", mcp.MethodListTools)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
}

// What the module does not know arrives as the backend sent it.
func TestEntriesKeepTheirText(t *testing.T) {
	f := &fake{pages: map[string][]string{"": {`{ "x-new" : {"n":1.50, "s":"\u0041"},
 "name":"t","inputSchema":{"type":"object","maximum":12345678901234567890,"default":1e2}}`}}}
	list := overHTTP(t, made(t, nil, f))
	for range 2 {
		got := list().Body.String()
		if !strings.Contains(got, `"tools":[{"x-new":{"n":1.50,"s":"\u0041"},"name":"a__t","inputSchema":{"type":"object","maximum":12345678901234567890,"default":1e2}}]`) {
			t.Errorf("it is listed as %s", got)
		}
	}
}

// many returns a catalogue of 500 backends with 20 tools each, whose lists are kept.
func many(b *testing.B) *catalogue.Catalogue {
	b.Helper()
	var rules []naming.Rules
	var fakes []*fake
	for i := range 500 {
		var entries []string
		for j := range 20 {
			entries = append(entries, fmt.Sprintf(`{"name":"tool_%d","title":"Tool %[1]d","description":"Reads a report, and says what is in it, page by page.",`+
				`"inputSchema":{"type":"object","properties":{"path":{"type":"string","description":"Where the report is"},"page":{"type":"integer","minimum":1}},"required":["path"]},`+
				`"annotations":{"readOnlyHint":true}}`, j))
		}
		rules = append(rules, naming.Rules{Backend: fmt.Sprintf("backend-%d", i)})
		fakes = append(fakes, &fake{pages: map[string][]string{"": {strings.Join(entries, ",")}}, hints: `,"ttlMs":86400000`})
	}
	return madeBy(b, nil, rules, fakes, nil)
}

func BenchmarkList500x20(b *testing.B) {
	list := overHTTP(b, many(b))
	size := list().Body.Len()
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		if w := list(); w.Code != http.StatusOK || w.Body.Len() != size {
			b.Fatalf("%d, %d bytes", w.Code, w.Body.Len())
		}
	}
}

func BenchmarkFind(b *testing.B) {
	c := many(b)
	peer := &mcp.Peer{}
	b.ReportAllocs()
	for b.Loop() {
		if c.Find(b.Context(), peer, "backend-77", mcp.ToolFeature, "backend-77__tool_7", false) == nil {
			b.Fatal("it is not known")
		}
	}
}
