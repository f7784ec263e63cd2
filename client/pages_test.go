package client

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// circle is a server whose list of tools leads from page to page into a cycle,
// after some pages that are not part of it.
type circle struct {
	before, around int
	ends           int64 // the last page; 0 means that there is none
	takes          time.Duration
	pages          atomic.Int64
}

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
		<-time.NewTimer(c.takes).C
		next := ""
		if c.pages.Add(1) != c.ends {
			next = fmt.Sprintf(`"nextCursor":"%d",`, at)
		}
		result = fmt.Sprintf(`{"resultType":"complete","tools":[],%s"ttlMs":0,"cacheScope":"private"}`, next)
	}
	return &jsonrpc.Message{Kind: jsonrpc.Response, ID: m.ID, Result: json.RawMessage(result)}, nil
}

func (c *circle) Send(context.Context, *jsonrpc.Message) error { return nil }
func (c *circle) Done() <-chan struct{}                        { return nil }
func (c *circle) Err() error                                   { return nil }
func (c *circle) Close() error                                 { return nil }

// A list whose pages lead back to an earlier one does not end by itself. Cursors are
// not compared, so it ends at the bounds, whose errors say how to move them.
//
// Spec: 2026-07-28 server/utilities/pagination#implementation-guidelines (3).
func TestListsThatDoNotEnd(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		opts       Options
		pages      int64
	}{
		{"pages", "after 7 pages, which is the bound of Options.MaxListPages", Options{MaxListPages: 7}, 7},
		{"pages by default", "after 1000 pages", Options{}, 1000},
		{"bytes", "longer than 1000 bytes, which is the bound of Options.MaxListBytes", Options{MaxListBytes: 1000}, 12},
		{"time", "after 1m0s of waiting for its pages, which is the bound of Options.MaxTimeout", Options{MaxTimeout: time.Minute}, 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &circle{before: 3, around: 2}
				if tt.opts.MaxTimeout > 0 {
					s.takes = 10 * time.Second
				}
				tt.opts.NoCache = true
				c, err := Connect(t.Context(), s, &tt.opts)
				if err != nil {
					t.Fatal(err)
				}
				_, err = Collect(c.Tools(t.Context()))
				if err == nil || !strings.Contains(err.Error(), tt.want) || s.pages.Load() != tt.pages {
					t.Errorf("%d pages, %v; want %d and %q", s.pages.Load(), err, tt.pages, tt.want)
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// The same cursor twice is not the same page twice.
//
// Spec: 2026-07-28 server/utilities/pagination#implementation-guidelines (3).
func TestCursorsAreNotCompared(t *testing.T) {
	c, err := Connect(t.Context(), &circle{around: 1, ends: 9}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Collect(c.Tools(t.Context())); err != nil {
		t.Errorf("nine pages with the same cursor: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
