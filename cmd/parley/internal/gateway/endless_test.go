package gateway_test

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// page answers a request for tools.
func page(m *heard, tools []string, next string) string {
	if next != "" {
		next = `,"nextCursor":"` + next + `"`
	}
	return answer(m, `{"resultType":"complete","tools":[`+strings.Join(tools, ",")+`]`+next+`,"ttlMs":60000,"cacheScope":"private"}`)
}

// behindVillain runs a test before a server that answers requests for tools.
func behindVillain(t *testing.T, tools func(m *heard) string, body func(t *testing.T, s *stage)) {
	t.Helper()
	for _, back := range modes {
		t.Run(back.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, modes[3], back, backend.Options{})
				s.via = newVillain(t, back, func(m *heard, send func(string)) bool {
					if m.Method != mcp.MethodListTools {
						return false
					}
					send(tools(m))
					return true
				})
				body(t, s)
			})
		})
	}
}

// A list that does not end is not fetched for ever, and nobody goes without the others.
func TestListsWithoutEnd(t *testing.T) {
	for name, cursors := range map[string]int64{"goes on after": 1 << 60, "again": 7} {
		t.Run(name, func(t *testing.T) {
			var pages atomic.Int64
			behindVillain(t, func(m *heard) string {
				n := pages.Add(1)
				return page(m, []string{tool(fmt.Sprint("t", n))}, fmt.Sprint("c", n%cursors))
			}, func(t *testing.T, s *stage) {
				pages.Store(0)
				names, lacks, _ := s.lists(t)
				if names != "good__work " || !strings.Contains(lacks["bad"], name) {
					t.Errorf("the list is %q, without %v", names, lacks)
				}
				if n := pages.Load(); n > min(cursors+2, 1001) {
					t.Errorf("%d pages were fetched", n)
				}
			})
		})
	}
}

// legal are the names that all models take.
var legal = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Names that nobody can show, and those that are there twice, cost nobody the others.
func TestNamesThatAreNone(t *testing.T) {
	names := []string{`\u0000`, `\u001b[31mred`, `a\nb`, `a/../b`, "", strings.Repeat("x", 10_000), `twice`, `twice`, `\u202eevil`, "é", " ", `bad__twice`, `good__work`}
	behindVillain(t, func(m *heard) string {
		var tools []string
		for _, n := range names {
			tools = append(tools, `{"name":"`+n+`","inputSchema":{"type":"object"}}`)
		}
		return page(m, append(tools, `null`, `7`, `{}`, `{"name":7}`, tool("last")), "")
	}, func(t *testing.T, s *stage) {
		text, lacks, _ := s.lists(t)
		if len(lacks) > 0 {
			t.Errorf("the list lacks %v", lacks)
		}
		seen := map[string]bool{}
		for name := range strings.FieldsSeq(text) {
			if !legal.MatchString(name) || seen[name] || !strings.HasPrefix(name, "bad__") && name != "good__work" {
				t.Errorf("the list has %q", name)
			}
			seen[name] = true
		}
		if !seen["bad__twice"] || !seen["bad__last"] || !seen["good__work"] {
			t.Errorf("the list is %q", text)
		}
		if n := s.logged.bytes.Load(); n > 10_000 {
			t.Errorf("%d bytes are logged", n)
		}
		for name := range strings.FieldsSeq(text) {
			if err := s.call(t, name); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// A hundred thousand tools are a list like any other, and take room once.
func TestManyTools(t *testing.T) {
	const pages, each = 50, 2000
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, modes[3], modes[2], backend.Options{})
		s.via = newVillain(t, modes[2], func(m *heard, send func(string)) bool {
			if m.Method != mcp.MethodListTools {
				return false
			}
			n, next := 0, ""
			if m.Params.Cursor != "" {
				if _, err := fmt.Sscan(m.Params.Cursor, &n); err != nil {
					t.Error(err)
				}
			}
			tools := make([]string, each)
			for i := range tools {
				tools[i] = tool(fmt.Sprint("tool-", n*each+i))
			}
			if n+1 < pages {
				next = fmt.Sprint(n + 1)
			}
			send(page(m, tools, next))
			return true
		})
		before := heap()
		x := &mcp.Exchange{ID: jsonrpc.IntID(1), Method: mcp.MethodListTools, Peer: mcp.Peer{Revision: mcp.Revision20260728}}
		result, err := s.g.View("").Serve(t.Context(), x) // a client would take longer than the gateway
		if list, ok := result.(*mcp.ListToolsResult); err != nil || !ok || len(list.Tools) != pages*each+1 {
			t.Fatalf("the list is a %T, error %v", result, err)
		}
		if _, err := s.c.Do(t.Context(), mcp.MethodCallTool, raw(`{"name":"bad__tool-%d"}`, pages*each-1)); err != nil {
			t.Error(err)
		}
		if took := heap() - before; took > 400<<20 {
			t.Errorf("%d tools take %d MiB", pages*each, took>>20)
		} else {
			t.Logf("%d tools take %d MiB", pages*each, took>>20)
		}
	})
}

// heap returns how many bytes are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
