package catalogue_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/catalogue"
	"github.com/parley-mcp/parley/mcp"
)

// Whatever backends do, nobody sees what they have shown to somebody else alone.
func TestNothingCrosses(t *testing.T) {
	const principals, rounds = 50, 40
	synctest.Test(t, func(t *testing.T) {
		fakes := []*fake{has(), has(), has()}
		mark := func(p int) string { return fmt.Sprintf("of-%d-", p) }
		for _, f := range fakes {
			for p := range principals {
				f.pages[fmt.Sprint(p)] = []string{tools(mark(p)+"x", mark(p)+"y")}
			}
		}
		c := made(t, func(o *catalogue.Options) {
			o.PageSize = 4
			o.Sources[2].Notifies = func(mcp.ChangeKind) bool { return true }
		}, fakes...)
		var work sync.WaitGroup
		for p := range principals {
			r := rand.New(rand.NewPCG(uint64(p), 1))
			work.Go(func() {
				var cursor *string
				for range rounds {
					pass(time.Duration(r.IntN(5000)) * time.Millisecond)
					list := page(t, c, fmt.Sprint(p), all, cursor)
					cursor = list.NextCursor
					for _, tool := range list.Tools {
						if !strings.Contains(tool.Name, "__"+mark(p)) {
							t.Errorf("%d sees %s", p, tool.Name)
						}
					}
					other := r.IntN(principals)
					name := "b__" + mark(other) + "x"
					if d := c.Find(t.Context(), &mcp.Peer{Principal: fmt.Sprint(p)}, "b", mcp.ToolFeature, name, false); d != nil && other != p {
						t.Errorf("%d finds %s", p, name)
					}
				}
			})
		}
		work.Go(func() {
			r := rand.New(rand.NewPCG(7, 7))
			hints := []string{"", `,"ttlMs":0`, `,"ttlMs":3000`, `,"ttlMs":60000,"cacheScope":"private"`, `,"cacheScope":"shared"`}
			for range rounds * 5 {
				pass(time.Duration(r.IntN(1000)) * time.Millisecond)
				f := r.IntN(len(fakes))
				fakes[f].set(func(f *fake) {
					f.takes = time.Duration(r.IntN(6)) * time.Second
					f.hints = hints[r.IntN(len(hints))]
					if f.err = nil; r.IntN(5) == 0 {
						f.err = fmt.Errorf("broken")
					}
				})
				peer := &mcp.Peer{Principal: fmt.Sprint(r.IntN(principals))}
				if r.IntN(4) == 0 {
					peer = nil
				}
				c.Changed(string(rune('a'+f)), peer, mcp.ToolsChanged)
			}
		})
		work.Wait()
	})
}
