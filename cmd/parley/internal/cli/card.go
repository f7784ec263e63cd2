package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/card"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/wire"
)

const cardLong = `A server card says what a server at a URL is and how to connect to it, before anybody
connects. It is public, and what it says is a claim.

A URL is that of the card, of the server, whose card is beside its endpoint, or of a
host, whose catalogue lists its cards. Cards are fetched without credentials.`

func (a *app) card() *cobra.Command {
	return family(&cobra.Command{
		Use:     "card show|lint|check",
		Short:   "Show, check and try the server cards of servers at a URL",
		Long:    cardLong,
		Example: "  parley card show https://mcp.example.com/mcp\n  parley card lint server-card.json\n  parley card check https://mcp.example.com/mcp",
	}, a.cardShow(), a.cardLint(), a.cardCheck())
}

func (a *app) cardShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show URL|@NAME",
		Short:   "Show the server card of a server, or those that a host lists",
		Long:    cardLong,
		Example: "  parley card show https://mcp.example.com/mcp\n  parley card show https://example.com --output json",
	}
	honours(cmd, a.flags.named, a.flags.bounded, a.flags.format, a.flags.verbatim)
	a.completes(cmd, nil)
	cmd.RunE = a.onServer(0, 0, func(ctx context.Context, t target.Target, _ []string) error {
		f, err := newFinder(t)
		if err != nil {
			return err
		}
		found, err := f.cards(ctx, a.note)
		if err != nil {
			return err
		}
		if a.flags.json() {
			return a.cardsJSON(found)
		}
		for i := range found {
			if i > 0 {
				a.out.printf("\n")
			}
			a.cardText(&found[i])
		}
		return nil
	})
	return cmd
}

func (a *app) cardsJSON(found []publishedCard) error {
	raw, err := cardsDocument(found)
	a.out.json(raw)
	return err
}

// cardsDocument returns cards, and why some cannot be had, as JSON.
func cardsDocument(found []publishedCard) (json.RawMessage, error) {
	type entry struct {
		URL   string          `json:"url"`
		Card  json.RawMessage `json:"card,omitzero"`
		Error string          `json:"error,omitzero"`
	}
	list := make([]entry, 0, len(found))
	for _, f := range found {
		e := entry{URL: f.url, Card: f.doc}
		if f.err != nil {
			e.Card, e.Error = nil, f.err.Error()
		}
		list = append(list, e)
	}
	return wire.Marshal(map[string]any{"cards": list})
}

func (a *app) cardText(f *publishedCard) {
	if f.err != nil {
		a.out.printf("%s %s\n", a.out.red("no card:"), oneLine(f.err.Error(), 1000))
		return
	}
	c := f.card
	title := c.Name
	if c.Title != "" {
		title = c.Title + " (" + c.Name + ")"
	}
	a.out.printf("%s %s\n", a.out.bold(label(title, 400)), label(c.Version, 80))
	line := func(name, text string) {
		if text != "" {
			a.out.printf("%-13s %s\n", name, label(text, 2000))
		}
	}
	line("card", f.url)
	line("description", c.Description)
	line("website", c.WebsiteURL)
	if c.Repository != nil {
		line("repository", strings.Join(strings.Fields(c.Repository.URL+" "+c.Repository.Subfolder), " "))
	}
	for i := range c.Remotes {
		remoteText(&c.Remotes[i], line)
	}
}

func remoteText(r *card.Remote, line func(name, text string)) {
	line("endpoint", r.URL+" ("+r.Type+")")
	line("  speaks", strings.Join(r.SupportedProtocolVersions, ", "))
	variablesText("  variable", r.Variables, line)
	for i := range r.Headers {
		h := &r.Headers[i]
		line("  header", inputText(h.Name, &h.Input))
		variablesText("    variable", h.Variables, line)
	}
}

func variablesText(what string, variables map[string]card.Input, line func(name, text string)) {
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		in := variables[name]
		line(what, inputText(name, &in))
	}
}

// inputText describes a value that users supply.
func inputText(name string, in *card.Input) string {
	var more []string
	add := func(yes bool, text string) {
		if yes {
			more = append(more, text)
		}
	}
	add(in.Required, "required")
	add(in.Secret, "secret")
	add(in.Value != "", "always "+in.Value)
	add(in.Default != "", "default "+in.Default)
	add(len(in.Choices) > 0, "one of "+strings.Join(in.Choices, ", "))
	if len(more) > 0 {
		name += " (" + strings.Join(more, "; ") + ")"
	}
	return strings.TrimSpace(name + "  " + in.Description)
}

// readCardFile reads a file with a card or a catalogue; "-" is standard input.
func (a *app) readCardFile(name string) ([]byte, error) {
	in := a.io.In
	if name != "-" {
		file, err := os.Open(name) //nolint:gosec // the user named it
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, &failure{code: codeUsage, err: fmt.Errorf("%s: there is no such file", name), hint: "a URL begins with http:// or https://, a server of a configuration file with @"}
		case err != nil:
			return nil, usagef("%v", err)
		}
		defer func() { _ = file.Close() }() // nothing was written
		in = file
	}
	doc, err := io.ReadAll(io.LimitReader(in, maxCard+1))
	if err != nil {
		return nil, usagef("%v", err)
	}
	return doc, nil
}
