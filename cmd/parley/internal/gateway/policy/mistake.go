package policy

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/cedar-policy/cedar-go"
)

// Mistake is what is wrong with a text of policies, and where.
type Mistake struct {
	// Source is the name of the text.
	Source string
	// Line and Column count from 1.
	Line, Column int
	Err          error
}

// Error returns "SOURCE:LINE:COLUMN: what is wrong".
func (m *Mistake) Error() string {
	return fmt.Sprintf("%s:%d:%d: %v", m.Source, m.Line, m.Column, m.Err)
}

// Unwrap returns Err.
func (m *Mistake) Unwrap() error { return m.Err }

// mistake returns one about a policy.
func mistake(of *cedar.Policy, format string, args ...any) *Mistake {
	at := of.Position()
	return &Mistake{at.Filename, at.Line, at.Column, fmt.Errorf(format, args...)}
}

// unparsed is where the parser says that it has stopped. It knows no name of a file.
var unparsed = regexp.MustCompile(`^(?:parser error: )?(?:parse error at )?<input>:(\d+):(\d+):? (.*)`)

// syntax returns the mistake that the parser has found.
func syntax(source string, err error) *Mistake {
	m := &Mistake{source, 1, 1, err}
	if at := unparsed.FindStringSubmatch(err.Error()); at != nil {
		m.Line, _ = strconv.Atoi(at[1])   // digits
		m.Column, _ = strconv.Atoi(at[2]) // digits
		m.Err = errors.New(at[3])
	}
	m.Err = fmt.Errorf("this is no list of Cedar policies: %w", m.Err)
	return m
}

// inFull is how the parser writes a user, or a program, who is named together with an issuer.
var inFull = regexp.MustCompile(`"type":"User","id":"([a-z]+://[^" ]+) (user|client) ([^"]*)"`)

// named refuses a policy that can be about nobody: in Cedar, the issuer stands apart.
func named(policy *cedar.Policy) error {
	text, err := policy.MarshalJSON()
	if err != nil {
		return err
	}
	found := inFull.FindSubmatch(text)
	if found == nil {
		return nil
	}
	kind := "User"
	if string(found[2]) == "client" {
		kind = "Program"
	}
	return mistake(policy, "nobody is User::\"%s %s %s\"; write %s::\"%[3]s\"; principal.issuer is %[1]q", found[1], found[2], found[3], kind)
}
