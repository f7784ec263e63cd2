package catalogue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/catalogue"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/plain"
)

// keeper is a guard as policies are: a backend may not be there for a peer.
type keeper struct {
	hider

	dry bool
}

func (k keeper) Keeps() bool { return !k.dry }

// Who sees nothing of a backend is not told its name when it is down either. While nothing
// is known of it, guards that may keep all of it from somebody make the difference.
func TestMissingAreToldOfByWhatIsSeen(t *testing.T) {
	for name, c := range map[string]struct {
		guard guard.Guard
		peer  string
		want  string
	}{
		"sees nothing of b":      {hider{"b__y"}, "p", `a__x for 0s private without {"c":"down"}`},
		"sees all":               {hider{"b__y"}, "root", `a__x b__y for 0s private without {"b":"down","c":"down"}`},
		"policies":               {keeper{hider{"b__y"}, false}, "p", `a__x for 0s private`},
		"policies permit all":    {keeper{hider{"b__y"}, false}, "root", `a__x b__y for 0s private without {"b":"down"}`},
		"policies that only log": {keeper{hider{"nothing"}, true}, "p", `a__x b__y for 0s private without {"b":"down","c":"down"}`},
		"an error that is unfit": {hider{"nothing"}, "unfit", `a__x b__y for 0s private without {"b":"it cannot be listed","c":"it cannot be listed"}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				good, known, never := has("x"), has("y"), has("z")
				down := error(plain.New("down"))
				if c.peer == "unfit" {
					down = &secretError{}
				}
				never.err = down
				lists := made(t, func(o *catalogue.Options) { o.Guards = []guard.Guard{c.guard} }, good, known, never)
				page(t, lists, c.peer, all, nil)
				known.set(func(f *fake) { f.err = down })
				pass(2 * time.Minute)
				want(t, listed(t, lists, c.peer, all), c.want)
			})
		})
	}
}

// secretError says what is not for clients.
type secretError struct{}

func (*secretError) Error() string { return "cannot connect to http://x/?key=hunter2" }
