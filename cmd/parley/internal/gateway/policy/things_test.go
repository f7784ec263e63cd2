package policy

import (
	"strings"
	"testing"

	"github.com/parley-mcp/parley/mcp"
)

// What clients make up is not remembered if it is long, and decided about all the same.
func TestLongThings(t *testing.T) {
	p, err := New([]Source{{Name: "rules.cedar", Text: `permit(principal, action, resource) when { resource.name like "file:///pub/*" };`}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for uri, want := range map[string]bool{
		"file:///pub/a": true, "file:///etc/a": false,
		"file:///pub/" + strings.Repeat("a", 1<<20): true, "file:///etc/" + strings.Repeat("a", 1<<20): false,
	} {
		q := &Question{Peer: &mcp.Peer{}, Method: mcp.MethodReadResource, Backend: "files", Kind: mcp.ResourceFeature, Name: uri, Shown: "mcp:files:" + uri}
		if d := p.Decide(q); d.Allowed != want {
			t.Errorf("%.20s… of %d bytes: allowed %t, want %t", uri, len(uri), d.Allowed, want)
		}
	}
	size := 0
	for remembered, e := range p.things.all {
		size += len(remembered.name) + len(remembered.shown) + len(e.UID.ID)
	}
	if n := len(p.things.all); n != 2 || size > 2*2*maxThing {
		t.Errorf("%d are remembered, with %d bytes", n, size)
	}
}
