package cli

import (
	"context"
	"strings"

	"github.com/parley-mcp/parley/client"
)

// goesOn reports whether more of the same word follows a completed value.
func goesOn(value string) bool { return strings.HasSuffix(value, "=") || strings.HasSuffix(value, "/") }

// completeTemplates completes URIs from templates: first what stands before the first
// variable, then, as the server completes it, the variable.
//
// Spec: 2026-07-28 server/utilities/completion#requesting-completions.
func completeTemplates(ctx context.Context, c *client.Client, prefix string) ([]string, error) {
	var values []string
	for t, err := range c.ResourceTemplates(ctx) {
		if err != nil {
			return values, err
		}
		fixed, rest, varies := strings.Cut(t.URITemplate, "{")
		variable, tail, _ := strings.Cut(rest, "}")
		if !varies {
			continue
		}
		if !strings.HasPrefix(prefix, fixed) || prefix == "" {
			values = append(values, candidate(fixed, t.URITemplate)...)
			continue
		}
		tail, _, _ = strings.Cut(tail, "{")
		completion, err := c.CompleteTemplate(ctx, t.URITemplate, strings.TrimLeft(variable, "+#./;?&"), strings.TrimPrefix(prefix, fixed), nil)
		if err != nil {
			continue // not every template can be completed
		}
		for _, v := range completion.Values {
			values = append(values, candidate(fixed+v+tail, t.Name)...)
		}
	}
	return values, nil
}
