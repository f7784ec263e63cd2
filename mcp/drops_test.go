package mcp_test

import (
	"maps"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/parley-mcp/parley/mcp"
)

func TestDropsCountByReason(t *testing.T) {
	drops := new(mcp.Drops)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			drops.Add(mcp.DropThrottled, 1)
			drops.Add(mcp.DropClosed, 2)
		})
	}
	wg.Wait()
	if got, want := drops.Snapshot(), (map[mcp.DropReason]uint64{mcp.DropThrottled: 8, mcp.DropClosed: 16}); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if n := drops.Count(mcp.DropThrottled); n != 8 {
		t.Errorf("Count = %d, want 8", n)
	}
	drops.Add(200, 1) // no reason
	if n := drops.Count(200); n != 0 {
		t.Errorf("what is no reason is counted %d times", n)
	}
}

// Every reason has a name of its own and an explanation, and a row in the page
// that says where to look.
func TestEveryDropReasonIsExplained(t *testing.T) {
	page, err := os.ReadFile("../docs/troubleshooting-notifications.md")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, r := range mcp.DropReasons() {
		name, err := r.MarshalText()
		if err != nil || names[string(name)] || r.Explain() == "" {
			t.Errorf("reason %d: the name %q (%v), explained by %q", r, name, err, r.Explain())
		}
		names[string(name)] = true
		if !strings.Contains(string(page), "\n| `"+r.String()+"` |") {
			t.Errorf("docs/troubleshooting-notifications.md has no row for %q", r)
		}
	}
	if mcp.DropReason(0).Explain() != "" || mcp.DropReason(200).String() != "DropReason(200)" {
		t.Error("what is no reason is explained")
	}
}
