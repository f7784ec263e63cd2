package card

import (
	_ "embed" // for the schema
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/parley-mcp/parley/internal/schema"
	"github.com/parley-mcp/parley/internal/wire"
)

// Problem is something wrong with a card, a catalogue, or how one is served.
type Problem struct {
	// Where is the member, such as "remotes[0].url"; "" is the document as a whole.
	Where string `json:"where,omitzero"`
	// Text says what is wrong and what to write instead.
	Text string `json:"text"`
	// Advice says that the document is valid nevertheless: it is what the
	// specification recommends, or what is known to go wrong.
	Advice bool `json:"advice,omitzero"`
}

// String returns the problem in one line.
func (p Problem) String() string {
	if p.Where == "" {
		return p.Text
	}
	return p.Where + ": " + p.Text
}

// InvalidError says why a card or a catalogue is not published.
type InvalidError struct {
	// Problems has at least one, and no advice.
	Problems []Problem
}

// Error names all problems.
func (e *InvalidError) Error() string {
	lines := make([]string, 0, len(e.Problems))
	for _, p := range e.Problems {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "; ")
}

// invalid returns an InvalidError with the problems that are not only advice, or nil.
func invalid(problems []Problem) error {
	var e InvalidError
	for _, p := range problems {
		if !p.Advice {
			e.Problems = append(e.Problems, p)
		}
	}
	if e.Problems == nil {
		return nil
	}
	return &e
}

//go:embed server-card.schema.json
var cardSchemaText []byte

var cardSchema = sync.OnceValues(func() (*schema.Schema, error) { return schema.Compile(cardSchemaText) })

// hints say what to write in place of what the schema refuses.
var hints = map[string]string{
	"$schema":     `it is always "` + SchemaURL + `"`,
	"name":        `it is a namespace in reverse DNS, a slash and a name, such as "com.example/weather"`,
	"description": "it says in 1 to 100 characters what the server is for",
	"title":       "it has 1 to 100 characters, or is left out",
	"version":     "it is the version of the server, at most 255 characters",
}

// Lint checks a card against the schema, the rules of the specification that the schema
// does not express, and what is known to go wrong. No problem means that the card is good.
//
// Spec: extensions/server-card docs/discovery#mcp-server-cards.
func Lint(doc []byte) []Problem {
	c := new(Card)
	var problems findings
	if problems = append(problems, againstSchema(doc)...); parse(doc, "card", c) == nil {
		problems.card(c)
	} else if len(problems) == 0 { // only the schema tolerates it
		problems.add("", "%v", parse(doc, "card", c))
	}
	return problems
}

// Check returns an *InvalidError if the card must not be published: one that violates the
// specification, or gives a secret away.
func (c *Card) Check() error {
	doc, err := wire.Marshal(c)
	if err != nil {
		return fmt.Errorf("the card has no JSON form: %w", err)
	}
	return invalid(Lint(doc))
}

// missing finds the name in what package schema says about a member that is missing.
var missing = regexp.MustCompile(`^missing required \w+ "([^"]+)"$`)

func againstSchema(doc []byte) []Problem {
	if err := parse(doc, "card", new(map[string]any)); err != nil {
		return []Problem{{Text: err.Error()}}
	}
	s, err := cardSchema()
	if err != nil {
		return []Problem{{Text: err.Error()}} // a test compiles it
	}
	var bad *schema.ValidationError
	if !errors.As(s.Validate(doc), &bad) {
		return nil
	}
	problems := make([]Problem, 0, len(bad.Problems))
	for _, p := range bad.Problems {
		where, text := p.Path, p.Message
		if m := missing.FindStringSubmatch(text); m != nil {
			where, text = strings.TrimPrefix(where+"."+m[1], "."), "it is missing"
		}
		if hint := hints[where]; hint != "" {
			text += "; " + hint
		}
		problems = append(problems, Problem{Where: where, Text: text})
	}
	if bad.More > 0 {
		problems = append(problems, Problem{Text: fmt.Sprintf("and %d more", bad.More)})
	}
	return problems
}

// findings collects problems.
type findings []Problem

func (f *findings) add(where, format string, args ...any) {
	*f = append(*f, Problem{Where: where, Text: fmt.Sprintf(format, args...)})
}

func (f *findings) advise(where, format string, args ...any) {
	*f = append(*f, Problem{Where: where, Text: fmt.Sprintf(format, args...), Advice: true})
}

// maxDepth bounds how deep a document may be nested; a card needs six levels, and what
// vendors add is seldom deep.
const maxDepth = 64

func checkDepth(doc []byte) error {
	depth := 0
	for at := 0; at < len(doc); at++ {
		switch doc[at] {
		case '"':
			at = wire.TextEnd(doc, at) - 1
		case '{', '[':
			if depth++; depth > maxDepth {
				return fmt.Errorf("is nested more than %d levels deep", maxDepth)
			}
		case '}', ']':
			depth--
		}
	}
	return nil
}
