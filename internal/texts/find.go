package texts

import (
	"cmp"
	"slices"
	"sync"
)

// Set is a set of kinds.
type Set uint8

// SetOf returns the set of some kinds.
func SetOf(list ...Kind) (s Set) {
	for _, k := range list {
		s |= 1 << k
	}
	return s
}

// Has reports whether a kind is in the set.
func (s Set) Has(k Kind) bool { return s&(1<<k) != 0 }

// Without returns the set without a kind.
func (s Set) Without(k Kind) Set { return s &^ (1 << k) }

// trigger is a word that may be a part of something.
type trigger struct {
	length  int
	pattern int // or -1
	secret  *Secret
}

// index is what one pass over a text finds.
type index struct {
	automaton *automaton
	triggers  []trigger
	patterns  []*Pattern
}

var indexes = sync.OnceValue(func() [2]*index {
	return [2]*index{newIndex(func(*Pattern) bool { return true }), newIndex(func(p *Pattern) bool { return p.Anywhere })}
})

func newIndex(wanted func(*Pattern) bool) *index {
	x := new(index)
	var words []string
	for _, p := range Patterns() {
		if !wanted(p) {
			continue
		}
		for _, word := range p.triggers {
			words = append(words, word)
			x.triggers = append(x.triggers, trigger{len(word), len(x.patterns), nil})
		}
		x.patterns = append(x.patterns, p)
	}
	for _, s := range SecretForms() {
		for _, word := range s.triggers {
			words = append(words, word)
			x.triggers = append(x.triggers, trigger{len(word), -1, s})
		}
	}
	x.automaton = newAutomaton(words)
	return x
}

// Place is what a text belongs to.
type Place uint8

// The places.
const (
	// Definition is what a server says of its tools, prompts and resources.
	Definition Place = iota
	// Result is what they return, where other sentences are common.
	Result
)

// MaxFound is how many findings there are of a text at most. What comes after as many is
// not looked at.
const MaxFound = 50_000

// Find appends what a text should not have, of some kinds, in order. Of secrets that
// overlap, the first is found, and of the sentences of a pattern the first.
func Find(text []byte, place Place, what Set, found []Finding) []Finding {
	begin := len(found)
	if what.Has(Hidden) {
		Characters(text, func(at int, r rune, kind Character) bool {
			found = append(found, Finding{Hidden, string(kind), at, at + max(runeLen(r), 1)})
			return len(found)-begin < MaxFound
		})
	}
	if what.Without(Hidden) != 0 {
		found = indexes()[place].find(text, what, found)
	}
	if len(found)-begin > 1 {
		slices.SortStableFunc(found[begin:], func(a, b Finding) int { return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(b.End, a.End)) })
	}
	return found
}

const (
	// maxPatterns bounds the table of patterns.
	maxPatterns = 32
	// maxLooked bounds how much of a text a pattern looks at, in bytes: a text can be made
	// of nothing but the words that patterns are about.
	maxLooked = 1 << 20
)

// search is one pass over a text.
type search struct {
	*index

	text  []byte
	what  Set
	found []Finding
	begin int // of what was found
	// windows are what patterns have to look at, unless they have found something.
	windows [maxPatterns]window
	done    [maxPatterns]bool
	looked  [maxPatterns]int // bytes
	secrets int              // up to where they were found
}

func (x *index) find(text []byte, what Set, found []Finding) []Finding {
	s := search{index: x, text: text, what: what, found: found, begin: len(found)}
	x.automaton.each(text, s.word)
	for i := range x.patterns {
		s.look(i, s.windows[i])
	}
	return s.found
}

// word is called with each trigger.
func (s *search) word(word, end int) {
	switch t := &s.triggers[word]; {
	case t.secret == nil && s.what.Has(Instructions) && !s.done[t.pattern]:
		s.look(t.pattern, s.windows[t.pattern].near(end, s.patterns[t.pattern].reach, len(s.text)))
	case t.secret != nil && s.what.Has(Secrets) && end-t.length >= s.secrets && len(s.found)-s.begin < MaxFound:
		if f, ok := t.secret.at(s.text, end-t.length); ok && f.Begin >= s.secrets {
			s.secret(f, t.secret)
		}
	}
}

// secret adds a secret. One that is only known by its name gives way to one that is known
// by its form.
func (s *search) secret(f Finding, form *Secret) {
	if last := len(s.found) - 1; last >= s.begin && s.found[last].Kind == Secrets && f.Begin < s.found[last].End {
		f.Begin, f.End = min(f.Begin, s.found[last].Begin), max(f.End, s.found[last].End)
		s.found = s.found[:last]
	}
	s.found = append(s.found, f)
	s.secrets = f.End
	if form.ID == named {
		s.secrets = f.Begin
	}
}

// look has a pattern look at a window.
func (s *search) look(pattern int, w window) {
	if w.end == 0 || s.done[pattern] || s.looked[pattern] > maxLooked {
		return
	}
	s.looked[pattern] += w.end - w.begin
	if f, ok := s.patterns[pattern].search(s.text, w); ok {
		s.found = append(s.found, f)
		s.done[pattern] = true
	}
}
