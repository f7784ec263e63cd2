package texts

import (
	"slices"
	"strings"
)

// automaton finds all of some words in one pass over a text, whatever the text is: the
// algorithm of Aho and Corasick, without regard to the case of ASCII letters.
type automaton struct {
	classes [256]uint8 // of bytes; all that are in no word are of class 0
	next    []uint16   // by state and class
	ends    [][]int    // the words that end in a state
	width   int        // number of classes
}

// newAutomaton returns one for words in lower case.
func newAutomaton(words []string) *automaton {
	a := &automaton{width: 1}
	for _, b := range []byte(strings.Join(words, "")) {
		if a.classes[b] == 0 {
			a.classes[b] = uint8(a.width) //nolint:gosec // there are fewer characters in lower case
			a.width++
		}
	}
	for b := byte('A'); b <= 'Z'; b++ {
		a.classes[b] = a.classes[b+'a'-'A']
	}
	a.grow()
	for i, word := range words {
		state := uint16(0)
		for _, b := range []byte(word) {
			to := &a.next[int(state)*a.width+int(a.classes[b])]
			if *to == 0 {
				made := a.grow()
				to = &a.next[int(state)*a.width+int(a.classes[b])]
				*to = made
			}
			state = *to
		}
		a.ends[state] = append(a.ends[state], i)
	}
	a.link()
	return a
}

// grow adds a state.
func (a *automaton) grow() uint16 {
	a.next = append(a.next, make([]uint16, a.width)...)
	a.ends = append(a.ends, nil)
	return uint16(len(a.ends) - 1) //nolint:gosec // a test sees that there are few
}

// link has each state go on where a shorter word may go on.
func (a *automaton) link() {
	fail := make([]uint16, len(a.ends))
	queue := []uint16{0}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		row := a.next[int(state)*a.width:][:a.width]
		back := a.next[int(fail[state])*a.width:][:a.width]
		for c, to := range row {
			if to == 0 {
				if state != 0 {
					row[c] = back[c]
				}
				continue
			}
			if state != 0 {
				fail[to] = back[c]
			}
			a.ends[to] = slices.Concat(a.ends[to], a.ends[fail[to]])
			queue = append(queue, to)
		}
	}
}

// each calls found with each word in a text, and where it ends.
func (a *automaton) each(text []byte, found func(word, end int)) {
	state := 0
	for i, b := range text {
		state = int(a.next[state*a.width+int(a.classes[b])])
		if state != 0 {
			for _, word := range a.ends[state] {
				found(word, i+1)
			}
		}
	}
}
