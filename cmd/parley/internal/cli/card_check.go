package cli

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/card"
	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

const cardCheckLong = `Connect to the endpoints that a server card names, and compare what it says with what
the servers say: name, version, title, description, website, transport, revisions. A line
that differs begins with "!", and then the exit code is 1.

An endpoint at another origin than the URL that you name gets none of your credentials:
neither --token nor --header nor a login, and must be reached over https, and not be in
a private network.`

func (a *app) cardCheck() *cobra.Command {
	var given []string
	cmd := &cobra.Command{
		Use:     "check URL|@NAME",
		Short:   "Compare a server card with the server",
		Long:    cardCheckLong,
		Example: "  parley card check https://mcp.example.com/mcp\n  parley card check https://mcp.example.com/mcp --var tenant=acme",
	}
	honours(cmd, a.flags.reach, a.flags.format)
	cmd.Flags().StringArrayVar(&given, "var", nil, "set a variable or a header that the card describes, as `name=value` (repeatable)")
	a.completes(cmd, nil)
	cmd.RunE = a.onServer(0, 0, func(ctx context.Context, t target.Target, _ []string) error {
		values := map[string]string{}
		for _, kv := range given {
			name, value, ok := strings.Cut(kv, "=")
			if !ok || name == "" {
				return usagef("--var %q is not of the form name=value", kv)
			}
			values[name] = value
		}
		f, err := newFinder(t)
		if err != nil {
			return err
		}
		found, err := f.cards(ctx, a.note)
		if err != nil {
			return err
		}
		p, err := one(found)
		if err != nil {
			return err
		}
		return a.checkCard(ctx, &reality{app: a, target: t, finder: f, card: p.card, values: values}, p.url)
	})
	return cmd
}

// reality compares a card with what it describes.
type reality struct {
	app    *app
	target target.Target
	finder *finder
	card   *card.Card
	values map[string]string
}

// comparedRemote is an endpoint and how the card describes it, as --output json shows it.
type comparedRemote struct {
	Type  string `json:"type"`
	URL   string `json:"url"`
	Error string `json:"error,omitzero"`
	Rows  []row  `json:"rows"`

	err error
}

// row is one thing that the card and the server say.
type row struct {
	What   string `json:"what"`
	Card   string `json:"card"`
	Server string `json:"server"`
	Same   bool   `json:"same"`
}

func (a *app) checkCard(ctx context.Context, r *reality, at string) error {
	if len(r.card.Remotes) == 0 {
		return &failure{code: codeNotDeclared, err: errors.New("the card names no endpoint, so there is nothing to compare it with")}
	}
	compared := make([]comparedRemote, 0, len(r.card.Remotes))
	var fault error
	differs := false
	for i := range r.card.Remotes {
		c := r.remote(ctx, &r.card.Remotes[i])
		if c.err != nil {
			c.Error = c.err.Error()
			if fault == nil {
				fault = c.err
			}
		}
		differs = differs || slices.ContainsFunc(c.Rows, func(r row) bool { return !r.Same })
		compared = append(compared, c)
	}
	if a.flags.json() {
		raw, err := wire.Marshal(map[string]any{"card": at, "same": !differs && fault == nil, "remotes": compared})
		if err != nil {
			return err
		}
		a.out.json(raw)
	} else {
		for i := range compared {
			a.comparedText(&compared[i])
		}
	}
	if differs {
		return &failure{code: codeCard}
	}
	return fault
}

// remote connects to an endpoint, and compares.
func (r *reality) remote(ctx context.Context, remote *card.Remote) comparedRemote {
	c := comparedRemote{Type: remote.Type, URL: remote.URL, Rows: []row{}}
	endpoint, header, err := remote.Resolve(r.values)
	var missing *card.MissingError
	if errors.As(err, &missing) {
		c.err = &failure{code: codeUsage, err: err, hint: "--var " + missing.Name + "=… sets it"}
		return c
	}
	if c.err = err; err != nil {
		return c
	}
	c.URL = endpoint
	live, err := r.connect(ctx, remote.Type, endpoint, header, nil)
	if c.err = err; err != nil {
		return c
	}
	defer r.app.leave(live)
	c.Rows = r.described(live.ServerInfo())
	c.Rows = append(c.Rows, row{"transport", remote.Type, remote.Type, true}) // nothing else was tried
	if remote.SupportedProtocolVersions != nil {
		c.Rows = append(c.Rows, r.revisions(ctx, live, remote, endpoint, header))
	}
	return c
}

// described compares what the server says of itself. A server of an early revision says
// less; what it does not say is no difference.
//
// Spec: extensions/server-card docs/discovery#consistency-with-runtime-behavior.
func (r *reality) described(server mcp.Implementation) []row {
	_, name, _ := strings.Cut(r.card.Name, "/")
	rows := []row{
		{"name", r.card.Name, server.Name, server.Name == name || server.Name == r.card.Name},
		{"version", r.card.Version, server.Version, server.Version == r.card.Version},
	}
	for _, x := range []row{
		{What: "title", Card: r.card.Title, Server: server.Title},
		{What: "description", Card: r.card.Description, Server: server.Description},
		{What: "website", Card: r.card.WebsiteURL, Server: server.WebsiteURL},
	} {
		x.Same = x.Card == x.Server
		if x.Card != "" && x.Server != "" {
			rows = append(rows, x)
		}
	}
	return rows
}

// revisions compares the revisions. A server without sessions lists its own; of another one,
// each revision of the card is tried.
func (r *reality) revisions(ctx context.Context, live *client.Client, remote *card.Remote, endpoint string, header http.Header) row {
	claimed := slices.Clone(remote.SupportedProtocolVersions)
	spoken := slices.Clone(live.ServerRevisions())
	if len(spoken) <= 1 {
		spoken = r.tried(ctx, live, remote, endpoint, header)
	}
	slices.Sort(claimed)
	slices.Sort(spoken)
	claimed, spoken = slices.Compact(claimed), slices.Compact(spoken)
	return row{"revisions", strings.Join(claimed, ", "), strings.Join(spoken, ", "), slices.Equal(claimed, spoken)}
}

// tried returns the revisions of the card in which the server answers, and the one that it
// chose.
func (r *reality) tried(ctx context.Context, live *client.Client, remote *card.Remote, endpoint string, header http.Header) []string {
	spoken := []string{live.Revision().String()}
	for _, name := range remote.SupportedProtocolVersions {
		revision, known := mcp.ParseRevision(name)
		if !known || revision == live.Revision() {
			continue
		}
		c, err := r.connect(ctx, remote.Type, endpoint, header, []mcp.Revision{revision})
		if err != nil {
			continue
		}
		spoken = append(spoken, c.Revision().String())
		r.app.leave(c)
	}
	return spoken
}

// comparedText shows a table of what the card and the server say.
func (a *app) comparedText(c *comparedRemote) {
	a.out.printf("%s (%s)\n", a.out.bold(label(target.MaskURL(c.URL), 500)), label(c.Type, 40))
	if c.err != nil {
		a.out.printf("  %s %s\n", a.out.red("not compared:"), oneLine(c.Error, 1000))
		return
	}
	width := len("card")
	for _, r := range c.Rows {
		width = max(width, utf8.RuneCountInString(label(r.Card, 60)))
	}
	a.out.printf("  %-12s %-*s  %s\n", "", width, "card", "server")
	for _, r := range c.Rows {
		mark := painted(" ")
		if !r.Same {
			mark = a.out.red("!")
		}
		a.out.printf("%s %-12s %-*s  %s\n", mark, r.What, width, label(r.Card, 60), label(r.Server, 60))
	}
}
