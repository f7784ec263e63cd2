package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// errAgain says that an answer is not acceptable, and why.
type errAgain struct{ why string }

func (e *errAgain) Error() string { return e.why }

// askForm asks the user to fill in a form, field by field, and then to review
// the answers.
//
// Spec: 2026-07-28 client/elicitation#form-mode-elicitation-requests.
func (s *answers) askForm(ctx context.Context, p *mcp.ElicitParams, fields []property) (*mcp.ElicitResult, error) {
	s.app.takeScreen()
	defer s.app.screen.Unlock()
	s.app.clearBar()
	e := s.app.err
	e.printf("\n%s\n%s\n", e.bold(s.server.String()+" asks:"), indent(p.Message, "  "))
	e.printf("%s\n", e.dim("Ctrl-C cancels."))
	typed := make([]json.RawMessage, len(fields))
	for i, f := range fields {
		var err error
		if typed[i], err = s.askField(ctx, f, s.preset(f)); err != nil {
			return cancelled(err)
		}
	}
	return s.review(ctx, p, fields, typed)
}

// cancelled returns the answer to a form that the user has left, or any other
// error as it is.
func cancelled(err error) (*mcp.ElicitResult, error) {
	if errors.Is(err, io.EOF) {
		return &mcp.ElicitResult{Action: mcp.ActionCancel}, nil
	}
	return nil, err
}

// askField asks for one field until the answer is valid; an empty line stands
// for preset. A nil result leaves the field out.
func (s *answers) askField(ctx context.Context, f property, preset string) (json.RawMessage, error) {
	e := s.app.err
	e.printf("\n%s %s\n", e.bold(label(or(f.Title, f.Name), 200)), e.dim("("+f.about()+")"))
	if f.Description != "" {
		e.printf("%s\n", e.dim(indent(f.Description, "  ")))
	}
	for i, c := range f.Choices {
		e.printf("  %d) %s\n", i+1, label(or(c.Title, c.Value), 200))
	}
	prompt := "> "
	if preset != "" {
		prompt = "[" + label(preset, 200) + "] > "
	}
	for {
		text, err := s.lines.ask(ctx, prompt)
		if err != nil {
			return nil, err
		}
		value, err := f.typed(text, preset)
		var again *errAgain
		if !errors.As(err, &again) {
			return value, err
		}
		e.printf("%s\n", e.red(again.why))
	}
}

// preset is what an empty line stands for: the answer that was given as a
// flag, or the form's default.
func (s *answers) preset(f property) string {
	if text, ok := s.answersGiven()[f.Name]; ok {
		return text
	}
	return f.shown(f.Default)
}

// shown returns a value as it would be typed.
func (p *property) shown(value json.RawMessage) string {
	var text string
	var many []string
	switch {
	case value == nil:
		return ""
	case wire.Unmarshal(value, &text) == nil:
		return text
	case p.Multiple && wire.Unmarshal(value, &many) == nil:
		return strings.Join(many, ", ")
	case string(value) == "true":
		return "yes"
	case string(value) == "false":
		return "no"
	}
	return string(value)
}

// typed converts what the user typed into a value.
func (p *property) typed(text, preset string) (json.RawMessage, error) {
	if text == "" {
		text = preset
	}
	if text == "" {
		if p.Required {
			return nil, &errAgain{"An answer is needed here; Ctrl-C cancels."}
		}
		return nil, nil // no answer, which is allowed here
	}
	value, err := p.answer(p.numbered(text))
	if err != nil {
		return nil, &errAgain{"That does not fit: " + oneLine(err.Error(), 500)}
	}
	return value, nil
}

// numbered replaces the numbers of choices with the choices, unless a number is
// itself the value of one.
func (p *property) numbered(text string) string {
	if len(p.Choices) == 0 {
		return text
	}
	parts := []string{text}
	if p.Multiple {
		parts = strings.Split(text, ",")
	}
	for i, part := range parts {
		part = strings.TrimSpace(part)
		isValue := slices.ContainsFunc(p.Choices, func(c choice) bool { return c.Value == part })
		if n, err := strconv.Atoi(part); err == nil && !isValue && n >= 1 && n <= len(p.Choices) {
			part = p.Choices[n-1].Value
		}
		parts[i] = part
	}
	return strings.Join(parts, ",")
}

// about says which values a field takes.
func (p *property) about() string {
	kind := p.kind()
	switch {
	case p.Multiple:
		kind = "any of these, by number or name, separated by commas"
	case len(p.Choices) > 0:
		kind = "one of these, by number or name"
	case slices.Equal(p.Types, []string{"boolean"}):
		kind = "yes or no"
	}
	if p.Minimum != nil || p.Maximum != nil {
		kind += fmt.Sprintf(", %s to %s", or(string(p.Minimum), "any"), or(string(p.Maximum), "any"))
	}
	if !p.Required {
		kind += ", optional"
	}
	return label(kind, 500)
}
