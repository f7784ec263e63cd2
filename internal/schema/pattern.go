package schema

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
)

// maxPatternSize bounds the total compiled size, in instructions, of all
// regular expressions of one schema.
const maxPatternSize = 100_000

// maxPatternLen bounds the text of one regular expression.
const maxPatternLen = 4096

// ErrPattern says that a schema has a regular expression that this package cannot
// match. It may be a good one in the syntax of JavaScript, which JSON Schema
// recommends.
var ErrPattern = errors.New("not supported")

// pattern is a regular expression that knows what matching it costs.
type pattern struct {
	*regexp.Regexp
	size int
}

func newPattern(expr string, budget *int) (*pattern, error) {
	if len(expr) > maxPatternLen {
		return nil, fmt.Errorf("regular expression is longer than %d bytes", maxPatternLen)
	}
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("%w (RE2 syntax, without lookaround and backreferences): %w", ErrPattern, err)
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	if *budget -= len(prog.Inst); *budget < 0 {
		return nil, fmt.Errorf("regular expressions of the schema are too large")
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	return &pattern{re, len(prog.Inst)}, nil
}

// patterns compiles the regular expressions of a schema once, unless there are
// too many.
type patterns struct {
	budget int
	known  map[string]*pattern
}

// newPatterns returns a set with a tenth of the compiler's budget, because the
// compiler looks at an expression more than once.
func newPatterns() *patterns {
	return &patterns{maxPatternSize / 10, map[string]*pattern{}}
}

// get returns nil for an expression that must be left to the compiler.
func (p *patterns) get(expr string) *pattern {
	if known, ok := p.known[expr]; ok {
		return known
	}
	p.known[expr], _ = newPattern(expr, &p.budget)
	return p.known[expr]
}
