package texts

import (
	_ "embed" // for the table
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/parley-mcp/parley/internal/tsv"
)

// Pattern finds sentences of one kind that give a model orders.
type Pattern struct {
	ID string
	// Says is what such a text does, as in "tells the model to …".
	Says string
	// Source is who says that this is done, and Date when.
	Source, Date string
	// Anywhere says that such a sentence is out of place in what tools return, too. Others
	// are only where tools are described.
	Anywhere bool

	form     *regexp.Regexp
	triggers []string // one of them is in each match
	reach    int      // how far from a trigger a match begins and ends at most
}

// Find returns the first sentence in a text, or "".
func (p *Pattern) Find(text string) string { return p.form.FindString(text) }

//go:embed instructions.tsv
var instructionsTable string

// Patterns returns all patterns. They must not be changed.
var Patterns = sync.OnceValue(func() []*Pattern {
	all, err := readPatterns()
	if err != nil {
		panic("texts: " + err.Error()) // a test reads them
	}
	return all
})

func readPatterns() ([]*Pattern, error) {
	const width = 8
	rows, err := tsv.Read("instructions.tsv", instructionsTable, width)
	if err != nil {
		return nil, err
	}
	var all []*Pattern
	for _, r := range rows {
		p := &Pattern{ID: r[0], Anywhere: r[1] == "all", triggers: strings.Split(r[3], ","), Says: r[5], Source: r[6], Date: r[7]}
		if p.reach, err = strconv.Atoi(r[2]); err == nil {
			p.form, err = regexp.Compile(r[4])
		}
		if err != nil {
			return nil, fmt.Errorf("instructions.tsv: %s: %w", p.ID, err)
		}
		all = append(all, p)
	}
	return all, nil
}

// window is a part of a text that a pattern has to look at; the zero value is none.
type window struct{ begin, end int }

// near adds what is around a trigger, whose end is at, to a window. It returns the window
// before that if the two do not touch.
func (w *window) near(at, reach, length int) (done window) {
	begin, end := max(at-reach, 0), min(at+reach, length)
	const most = 64 << 10 // windows that overlap are looked at one by one from here on
	if w.end == 0 || begin > w.end || w.end-w.begin > most {
		done = *w
		w.begin = begin
	}
	w.end = end
	return done
}

// search returns the first sentence in a window of a text.
func (p *Pattern) search(text []byte, w window) (f Finding, ok bool) {
	for at := w.begin; at < w.end; {
		m := p.form.FindIndex(text[at:w.end])
		if m == nil {
			break
		}
		begin, end := at+m[0], at+max(m[1], m[0]+1)
		if m[0] > 0 || at == 0 { // otherwise it may only be the window that begins here
			return Finding{Instructions, p.ID, begin, end}, true
		}
		at = end
	}
	return f, false
}
