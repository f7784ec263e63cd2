package main

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// answering returns the options of a client whose user answers so.
func answering(action, content string) func() *client.Options {
	return func() *client.Options {
		return &client.Options{Elicit: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: action, Content: json.RawMessage(content)}, nil
		}}
	}
}

// The answer reaches the handler in every revision that can ask; in those that
// cannot, nothing is booked.
func TestBook(t *testing.T) {
	tests := []struct{ name, action, content, want string }{
		{"accepted", mcp.ActionAccept, `{"date":"2026-12-24","people":4}`, "Booking 1: Luigi, inside, 2026-12-24, for 4."},
		{"declined", mcp.ActionDecline, "", "The user does not want a table."},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			mcptest.RunModes(t, mcptest.AllModes(), func() mcp.Handler { return newServer() }, answering(test.action, test.content), func(t *testing.T, c *client.Client) {
				asks := !slices.Contains([]mcp.Revision{mcp.Revision20241105, mcp.Revision20250326}, c.Revision())
				got, err := client.Call[string](t.Context(), c, "book", wish{"Luigi"})
				if asks && (err != nil || got != test.want) || !asks && err == nil {
					t.Errorf("got %q, %v", got, err)
				}
			})
		})
	}
}
