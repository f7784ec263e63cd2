package client

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// circle is a server whose list of tools leads from page to page into a cycle,
// after some pages that are not part of it.
type circle struct{ before, around int }

func (c *circle) Name() string { return "circle" }

func (c *circle) Connect(context.Context, mcp.Receiver) (mcp.Conn, error) { return c, nil }

func (c *circle) RoundTrip(_ context.Context, m *jsonrpc.Message) (*jsonrpc.Message, error) {
	result := `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}`
	if m.Method == mcp.MethodListTools {
		var p struct {
			Cursor string `json:"cursor"`
		}
		if err := json.Unmarshal(m.Params, &p); err != nil {
			return nil, err
		}
		at := 0
		_, _ = fmt.Sscan(p.Cursor, &at) // the first has none
		if at++; at == c.before+c.around {
			at = c.before
		}
		result = fmt.Sprintf(`{"resultType":"complete","tools":[],"nextCursor":"%d","ttlMs":0,"cacheScope":"private"}`, at)
	}
	return &jsonrpc.Message{Kind: jsonrpc.Response, ID: m.ID, Result: json.RawMessage(result)}, nil
}

func (c *circle) Send(context.Context, *jsonrpc.Message) error { return nil }
func (c *circle) Done() <-chan struct{}                        { return nil }
func (c *circle) Err() error                                   { return nil }
func (c *circle) Close() error                                 { return nil }

// A list whose pages lead back to an earlier one ends in an error.
func TestListsThatGoInCircles(t *testing.T) {
	for _, s := range []*circle{{1, 1}, {1, 2}, {1, 7}, {20, 3}, {3, 100}} {
		c, err := Connect(t.Context(), s, &Options{NoCache: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Collect(c.Tools(t.Context())); err == nil || !strings.Contains(err.Error(), "again and again") {
			t.Errorf("%+v: %v", *s, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
