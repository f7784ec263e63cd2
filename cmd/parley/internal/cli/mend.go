package cli

import (
	"errors"
	"strings"

	"github.com/parley-mcp/parley/cmd/parley/internal/shellwords"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/cmd/parley/internal/trouble"
	"github.com/parley-mcp/parley/transport/streamable"
)

// mending returns what makes up for the rights that an error says are missing;
// nil when it is about something else.
func mending(c code, err error, t target.Target) *mend {
	if t.URL == "" || c != codeLogin && c != codeScope {
		return nil
	}
	var scopes []string
	var refused *streamable.HTTPError
	if errors.As(err, &refused) {
		scopes = trouble.Scopes(refused.Header)
	}
	return newMend(t.URL, scopes)
}

// newMend returns what makes up for missing scopes at a URL; without any, for a
// missing login.
func newMend(url string, scopes []string) *mend {
	m := &mend{scopes: scopes, run: []string{"parley", "login", url}}
	for _, s := range scopes {
		m.run = append(m.run, "--scope", s)
	}
	return m
}

// hint names what is missing, and the command that asks for it. The words of
// the command are quoted, because the server chose the scopes.
func (m *mend) hint() string {
	words := make([]string, 0, len(m.run))
	for _, w := range m.run {
		words = append(words, shellwords.Quote(label(w, 2000)))
	}
	run := "run: " + strings.Join(words, " ")
	if len(m.scopes) == 0 {
		return run
	}
	return "needed: " + strings.Join(m.scopes, " ") + "; " + run
}
