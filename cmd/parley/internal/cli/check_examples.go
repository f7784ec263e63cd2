package cli

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/check/sample"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

const checkExamplesLong = `Write the skeleton of a file for "parley check --examples": every tool, prompt and URI
template of a server, and the first of its resources, with made-up arguments that fit the
schemas. Replace them by ones that mean something to the server.

The lists of the server are read, and nothing is called. Where no arguments could be made
up, a comment says why.`

// mostExampleResources is how many resources a skeleton has: that of each name which
// is used.
const mostExampleResources = 10

func (a *app) checkExamples() *cobra.Command {
	var b bounds
	cmd := &cobra.Command{
		Use:     "examples [URL|@NAME] [-- COMMAND...]",
		Short:   "Write a file of arguments for a server, to fill in",
		Long:    checkExamplesLong,
		Example: "  parley check examples -- my-server >examples.yaml\n  parley check --examples examples.yaml -- my-server",
	}
	honours(cmd, a.flags.dial, a.flags.bounded)
	b.register(cmd)
	a.completes(cmd, nil)
	cmd.RunE = a.onServer(0, 0, func(ctx context.Context, t target.Target, _ []string) error {
		offer, err := a.offer(ctx, t, b)
		if err != nil {
			return err
		}
		a.out.printf("%s", sample.Skeleton(offer))
		return nil
	})
	return cmd
}

// offer asks a server for what needs arguments.
func (a *app) offer(ctx context.Context, t target.Target, b bounds) (sample.Offer, error) {
	var o sample.Offer
	c, err := a.connect(ctx, t)
	if err != nil {
		return o, err
	}
	defer a.leave(c)
	for _, l := range listings() {
		items, err := everything(ctx, c, l.List, b)
		if err != nil {
			return o, err
		}
		for _, raw := range items {
			if err := offered(&o, l.Method, raw); err != nil {
				return o, malformed(l.Method, err)
			}
		}
	}
	o.Resources = o.Resources[:min(mostExampleResources, len(o.Resources))]
	return o, nil
}

// offered adds an element of a list to an offer.
func offered(o *sample.Offer, method string, raw json.RawMessage) error {
	var one struct {
		Name        string          `json:"name"`
		InputSchema json.RawMessage `json:"inputSchema"`
		URI         string          `json:"uri"`
		URITemplate string          `json:"uriTemplate"`
		Arguments   []struct {
			Name     string `json:"name"`
			Required bool   `json:"required"`
		} `json:"arguments"`
	}
	if err := wire.Unmarshal(raw, &one); err != nil {
		return err
	}
	switch method {
	case mcp.MethodListTools:
		o.Tools = append(o.Tools, sample.Tool{Name: one.Name, Input: one.InputSchema})
	case mcp.MethodListPrompts:
		p := sample.Prompt{Name: one.Name}
		for _, argument := range one.Arguments {
			if argument.Required {
				p.Arguments = append(p.Arguments, argument.Name)
			}
		}
		o.Prompts = append(o.Prompts, p)
	case mcp.MethodListTemplates:
		o.Templates = append(o.Templates, sample.Template{URI: one.URITemplate, Variables: sample.Variables(one.URITemplate)})
	case mcp.MethodListResources:
		o.Resources = append(o.Resources, one.URI)
	}
	return nil
}
