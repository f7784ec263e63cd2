package pins_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/pins"
	"github.com/parley-mcp/parley/mcp"
)

// Who removes the file of a gateway that runs does not make it trust what it has withheld:
// the file is written again, with all that it has said.
func TestGone(t *testing.T) {
	for name, wait := range map[string]time.Duration{"noticed by looking": 3 * time.Second, "noticed by writing": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "pins.json")
				p := open(t, pins.Options{File: pins.Open(path)})
				if !sees(p, first) || sees(p, second) {
					t.Fatal("the first sight is not what is trusted")
				}
				<-time.NewTimer(time.Second).C
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
				<-time.NewTimer(wait).C
				other := &guard.Definition{Kind: mcp.ToolFeature, Backend: "shop", Name: "look", Shown: "shop__look", Raw: json.RawMessage(`{"name":"look"}`)}
				if !p.Sees(t.Context(), nil, other) {
					t.Error("what is new is not trusted any more")
				}
				<-time.NewTimer(3 * time.Second).C
				if sees(p, second) || !sees(p, first) {
					t.Error("what was withheld is trusted")
				}
				shut(t, p)
				again := open(t, pins.Options{File: pins.Open(path), Known: true})
				if sees(again, second) || !sees(again, first) || !again.Sees(t.Context(), nil, other) {
					t.Error("the file does not say again what it said")
				}
				shut(t, again)
			})
		})
	}
}

// A backend that makes names up cannot make the file grow without end.
func TestTooMany(t *testing.T) {
	const most = 20_000
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "pins.json")
		p := open(t, pins.Options{File: pins.Open(path)})
		named := func(backend string, i int) *guard.Definition {
			name := fmt.Sprint("t", i)
			return &guard.Definition{Kind: mcp.ToolFeature, Backend: backend, Name: name, Shown: name, Raw: json.RawMessage(`{"name":"` + name + `"}`)}
		}
		for i := range most + 10 {
			if seen := p.Sees(t.Context(), nil, named("liar", i)); seen != (i < most) {
				t.Fatalf("definition %d is trusted: %t", i, seen)
			}
		}
		if !p.Sees(t.Context(), nil, named("other", 0)) || !p.Sees(t.Context(), nil, named("liar", 0)) {
			t.Error("others are not trusted any more")
		}
		shut(t, p)
		list, err := pins.Open(path).Read()
		if err != nil || len(list) != most+1 {
			t.Errorf("%d pins, %v", len(list), err)
		}
	})
}
