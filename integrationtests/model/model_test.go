package model_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-mcp/parley/mcp"
)

// step is one thing that happens.
type step struct {
	Do     string
	Client int
	N      int
}

func (s step) String() string { return fmt.Sprintf("%s client=%d n=%d", s.Do, s.Client, s.N) }

// deeds are what may happen; likelier ones appear more than once. The first one
// does nothing, so a program that breaks a property shrinks to it.
var deeds = []string{
	"settle", "call", "call", "call", "call", "again", "batch", "list", "cancel", "cancel", "release", "release", "answer",
	"listen", "watch", "unwatch", "change", "update", "leave", "nonsense", "settle", "cut", "cut", "cut", "resume",
}

// program is a random history.
type program struct {
	Over      string
	Revisions []string
	Steps     []step
}

func programs() *rapid.Generator[program] {
	return rapid.Custom(func(t *rapid.T) program {
		p := program{Over: rapid.SampledFrom(slices.Sorted(maps.Keys(ways))).Draw(t, "Over")}
		var revisions []string
		for _, r := range mcp.Revisions() {
			if ways[p.Over](r.String()) {
				revisions = append(revisions, r.String())
			}
		}
		p.Revisions = rapid.SliceOfN(rapid.SampledFrom(revisions), 1, 3).Draw(t, "Revisions")
		steps := rapid.Custom(func(t *rapid.T) step {
			return step{rapid.SampledFrom(deeds).Draw(t, "Do"), rapid.IntRange(0, 2).Draw(t, "Client"), rapid.IntRange(0, 9).Draw(t, "N")}
		})
		p.Steps = rapid.SliceOfN(steps, 20, 60).Draw(t, "Steps") // 40 on the average
		return p
	})
}

// Whatever clients do, and in whatever order, each gets what is its own.
func TestModel(t *testing.T) {
	until := time.Now().Add(soakTime(t))
	for n := 1; ; n++ { // of a hundred programs each
		rapid.Check(t, func(rt *rapid.T) {
			p := programs().Draw(rt, "program")
			if broken, history := run(t, p); len(broken) > 0 {
				rt.Fatalf("%s\n\n%s", strings.Join(broken, "\n"), history)
			}
		})
		if n >= 2 && time.Now().After(until) {
			t.Logf("%d rounds", n)
			return
		}
	}
}

// soakTime is how long to continue; zero without PARLEY_SOAK.
func soakTime(t *testing.T) time.Duration {
	value := os.Getenv("PARLEY_SOAK")
	if value == "" {
		return 0
	}
	d, err := time.ParseDuration(value)
	if err != nil {
		t.Fatalf("PARLEY_SOAK: %v", err)
	}
	return d
}

// run runs a program in its own bubble, and returns the properties that were
// broken and everything that was sent.
func run(t *testing.T, p program) (broken []string, history string) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrive(t, p)
		for _, s := range p.Steps {
			d.do(s)
		}
		broken = d.end()
		history = d.history(p)
	})
	return broken, history
}
