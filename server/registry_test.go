package server

import (
	"strconv"
	"testing"

	"github.com/parley-mcp/parley/mcp"
)

func resources(n int) *registry[mcp.Resource, *resource] {
	r := &registry[mcp.Resource, *resource]{}
	for i := range n {
		r.put(&resource{resource: mcp.Resource{URI: "x:" + strconv.Itoa(i)}})
	}
	return r
}

// The first lookups after a change do without a snapshot; after many of them,
// one is made.
func TestLookupsAfterChange(t *testing.T) {
	const size, locked = 4 * entriesPerLookup, 3
	r := resources(size)
	r.load()
	r.put(&resource{resource: mcp.Resource{URI: "x:7", Name: "new"}})
	r.remove("x:8")
	for i := range 2 * locked {
		if found, ok := r.get("x:7"); !ok || found.resource.Name != "new" {
			t.Fatalf("lookup %d finds %v", i, found)
		}
		if made, want := r.snap.Load() != nil, i >= locked; made != want {
			t.Fatalf("after lookup %d there is a snapshot: %t, want %t", i, made, want)
		}
	}
	for _, gone := range []string{"x:8", "x:" + strconv.Itoa(size)} {
		if _, ok := r.get(gone); ok {
			t.Errorf("%s is found", gone)
		}
	}
	r.remove("x:7")
	if _, ok := r.get("x:7"); ok {
		t.Error("a removed entry is found without a snapshot")
	}
}
