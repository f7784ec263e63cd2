package cli

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
)

// review shows the answers to a form until the user sends them, which they can
// change before, or declines or cancels.
//
// Spec: 2026-07-28 client/elicitation#user-interaction-model.
// Spec: 2026-07-28 client/elicitation#response-actions.
func (s *answers) review(ctx context.Context, p *mcp.ElicitParams, fields []property, typed []json.RawMessage) (*mcp.ElicitResult, error) {
	for {
		s.showAnswers(fields, typed)
		text, err := s.lines.ask(ctx, "\nSend this? [y]es, [n]o, [c]ancel"+when(len(fields) > 0, ", or a number to change an answer")+" > ")
		if err != nil {
			return cancelled(err)
		}
		switch strings.ToLower(text) {
		case "y", "yes", "s", "send":
			if result := s.fits(p, fields, typed); result != nil {
				return result, nil
			}
		case "n", "no", "d", "decline":
			return &mcp.ElicitResult{Action: mcp.ActionDecline}, nil
		case "c", "cancel":
			return &mcp.ElicitResult{Action: mcp.ActionCancel}, nil
		default:
			if err := s.change(ctx, fields, typed, text); err != nil {
				return cancelled(err)
			}
		}
	}
}

// change asks for one answer again.
func (s *answers) change(ctx context.Context, fields []property, typed []json.RawMessage, number string) error {
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(fields) {
		return nil // the answers are shown again
	}
	f := fields[n-1]
	typed[n-1], err = s.askField(ctx, f, f.shown(typed[n-1]))
	return err
}

// showAnswers shows what would be sent.
func (s *answers) showAnswers(fields []property, typed []json.RawMessage) {
	e := s.app.err
	e.printf("\n%s\n", e.bold("Your answers to "+s.server.typed+":"))
	for i, f := range fields {
		value := e.dim("none")
		switch {
		case typed[i] != nil:
			value = painted(label(f.shown(typed[i]), 500))
		case f.Default != nil:
			value = e.dim("the default, " + label(f.shown(f.Default), 500))
		}
		e.printf("  %d) %s  %s\n", i+1, label(or(f.Title, f.Name), 200), value)
	}
}

// fits returns the result that accepts a form, or shows why it cannot be sent.
func (s *answers) fits(p *mcp.ElicitParams, fields []property, typed []json.RawMessage) *mcp.ElicitResult {
	var content form
	for i, f := range fields {
		if typed[i] != nil {
			content.set(f.Name, typed[i])
		}
	}
	result := &mcp.ElicitResult{Action: mcp.ActionAccept, Content: content.json()}
	if _, err := client.CheckForm(p, result); err != nil {
		s.app.err.printf("%s\n", s.app.err.red("The form cannot be sent: "+oneLine(err.Error(), 1000)))
		return nil
	}
	return result
}
