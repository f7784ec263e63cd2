package cli

import (
	"errors"
	"strings"

	"github.com/parley-mcp/parley/transport/streamable"
)

// mending returns what makes up for the rights that an error says are missing;
// nil when it is about something else. scopes are those the server has named
// earlier.
//
// Spec: 2026-07-28 basic/authorization#runtime-insufficient-scope-errors.
func mending(c code, err error, t target, scopes []string) *mend {
	if t.url == "" || c != codeLogin && c != codeScope {
		return nil
	}
	var refused *streamable.HTTPError
	if errors.As(err, &refused) {
		scopes = append(scopes, missingScopes(refused.Header)...)
	}
	m := &mend{scopes: scopes, run: []string{"parley", "login", t.url}}
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
		words = append(words, shellQuote(label(w, 2000)))
	}
	run := "run: " + strings.Join(words, " ")
	if len(m.scopes) == 0 {
		return run
	}
	return "missing: " + strings.Join(m.scopes, " ") + "; " + run
}
