// Package coverage says which probes judge which requirements, and counts them.
package coverage

import (
	"slices"
	"sync"

	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/requirement"
)

// Probe is what is known of a probe without running it.
type Probe struct {
	probe.Info

	Role requirement.Role // of the peer that it judges
}

// index has the probes by the side and the row that they judge.
var index = sync.OnceValue(func() map[judged][]*Probe {
	m := map[judged][]*Probe{}
	all := Probes()
	for i := range all {
		for _, id := range all[i].Rows {
			key := judged{all[i].Role, id}
			m[key] = append(m[key], &all[i])
		}
	}
	return m
})

type judged struct {
	role requirement.Role
	row  string
}

// Of returns the probes that judge a row on a role.
func Of(r *requirement.Row, role requirement.Role) []*Probe { return index()[judged{role, r.ID}] }

// Named returns the probes of an ID, at most one for each role.
func Named(id string) []*Probe {
	var named []*Probe
	all := Probes()
	for i := range all {
		if all[i].ID == id {
			named = append(named, &all[i])
		}
	}
	return named
}

// Level is a class of keywords, to count rows by.
type Level string

// The levels. Each goes with its negation.
const (
	Must   Level = "MUST"
	Should Level = "SHOULD"
	May    Level = "MAY"
)

// Levels returns all levels, strictest first.
func Levels() []Level { return []Level{Must, Should, May} }

// LevelOf returns the level of a row.
func LevelOf(r *requirement.Row) Level {
	switch {
	case r.Must():
		return Must
	case r.Should():
		return Should
	default:
		return May
	}
}

// Count counts the rows of a role and a level.
type Count struct {
	Role   requirement.Role `json:"role"`
	Level  Level            `json:"level"`
	Rows   int              `json:"rows"`
	Seen   int              `json:"canBeSeen"`  // of the rows, those that can be seen on the role
	Probed int              `json:"withProbes"` // of these, those that have a probe
}

// Percent returns how much of what can be seen has probes, and 100 if nothing
// can.
func (c Count) Percent() float64 {
	if c.Seen == 0 {
		return 100
	}
	return 100 * float64(c.Probed) / float64(c.Seen)
}

// Counts counts the rows that hold in a revision, or all of them for "", by
// role and level. What binds several roles counts for each.
func Counts(revision string) []Count {
	var counts []Count
	for _, role := range requirement.Roles() {
		for _, level := range Levels() {
			if c := count(revision, role, level); c.Rows > 0 {
				counts = append(counts, c)
			}
		}
	}
	return counts
}

func count(revision string, role requirement.Role, level Level) Count {
	c := Count{Role: role, Level: level}
	for r := range requirement.All() {
		if !slices.Contains(r.Binds, role) || LevelOf(r) != level || revision != "" && !r.HoldsIn(revision) {
			continue
		}
		c.Rows++
		if r.IsSeenOn(role) {
			c.Seen++
			if len(Of(r, role)) > 0 {
				c.Probed++
			}
		}
	}
	return c
}
