package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/shellwords"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/stdio"
)

const tourLong = `Start the reference server and walk a client through it, once in each released
revision, showing the requests and the answers. Every answer is checked: the exit
code is 0 only when all of them are right.`

// tourLimit is far more than a tour takes.
const tourLimit = time.Minute

func (a *app) tour() *cobra.Command {
	return &cobra.Command{
		Use:     "tour",
		Short:   "See the protocol at work, in every revision",
		Long:    tourLong,
		Example: "  parley tour",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.failed(a.runTour(cmd.Context()), target.Target{}) },
	}
}

// chapter is what a tour says about a revision.
type chapter struct {
	revision mcp.Revision
	about    string
	elicits  bool // servers can ask the user
}

func chapters() []chapter {
	return []chapter{
		{mcp.Revision20241105, "a session: it begins with initialize, and both sides send requests", false},
		{mcp.Revision20250326, "a session; new are annotations of tools, audio, and batches", false},
		{mcp.Revision20250618, "a session; new are structured results, and questions to the user", true},
		{mcp.Revision20251125, "a session; new are icons, URLs to visit, and tools for sampled models", true},
		{mcp.Revision20260728, "no session: each request is complete in itself, and questions are results", true},
	}
}

func (a *app) runTour(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, tourLimit)
	defer cancel()
	program, err := a.io.Executable()
	if err != nil {
		return err
	}
	wrong := 0
	for _, c := range chapters() {
		a.out.printf("%s  %s\n", a.out.bold(c.revision.String()), a.out.dim(c.about))
		w := &walk{app: a, chapter: c, program: program}
		if err := w.run(ctx); err != nil {
			return fmt.Errorf("revision %s: %w", c.revision, err)
		}
		wrong += w.wrong
		a.out.printf("\n")
	}
	if wrong > 0 {
		return fmt.Errorf("the tour found %d wrong answers", wrong)
	}
	a.showNext(program)
	return nil
}

// walk is the tour through one revision.
type walk struct {
	app     *app
	chapter chapter
	program string
	c       *client.Client
	wrong   int
	opened  atomic.Bool // what follows is no longer the opening
	talk    conversation
}

func (w *walk) run(ctx context.Context) error {
	transport := &stdio.Command{Args: []string{w.program, "serve", "--stdio"}}
	c, err := client.Connect(ctx, transport, &client.Options{
		Info:      mcp.Implementation{Name: "parley-tour", Version: buildVersion()},
		Revisions: []mcp.Revision{w.chapter.revision},
		Logger:    w.app.logger(),
		Timeout:   10 * time.Second,
		Tap:       w.opening,
		Elicit:    w.talk.elicit,
		Sample:    w.talk.sample,
	})
	if err != nil {
		return err
	}
	defer c.Close()
	w.c = c
	w.opened.Store(true)
	for _, s := range steps() {
		w.step(ctx, s)
	}
	return nil
}

// opening shows the messages that open the conversation. They all pass before
// Connect returns, one after the other.
func (w *walk) opening(e mcp.TapEvent) {
	if w.opened.Load() || e.Dropped != 0 {
		return
	}
	m, err := new(jsonrpc.Decoder).Decode(e.Frame)
	if err != nil {
		return // the step reports it
	}
	arrow, text := "←", string(m.Result)
	if e.Direction == mcp.Sent {
		arrow, text = "→", strings.TrimSpace(m.Method+" "+string(m.Params))
	} else if m.Kind != jsonrpc.Response {
		text = m.Method
	}
	text = strings.ReplaceAll(text, "io.modelcontextprotocol/", "…/")
	w.app.out.printf("  %s %s\n", arrow, w.app.out.dim(oneLine(text, 110)))
}

func (w *walk) step(ctx context.Context, s step) {
	said, err := s.take(w, ctx)
	out := w.app.out
	mark := out.green("✓")
	if err != nil {
		w.wrong++
		mark = out.red("✗")
	}
	for i, line := range said {
		if i == 0 {
			out.printf("  %s %-11s %s\n", mark, s.name, oneLine(line, 110))
			continue
		}
		out.printf("                  %s\n", oneLine(line, 104))
	}
	if err != nil {
		out.printf("  %s %-11s %s\n", mark, when(len(said) == 0, s.name), out.red(oneLine(err.Error(), 300)))
	}
}

// showNext ends the tour with what to do next.
func (a *app) showNext(program string) {
	command := shellwords.Quote(program)
	config := struct {
		Servers map[string]any `json:"mcpServers"`
	}{map[string]any{"parley": struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}{program, []string{"serve", "--stdio"}}}}
	raw, err := wire.Marshal(config)
	if err != nil {
		raw = json.RawMessage("{}")
	}
	a.out.printf("%s\n\n  %s serve --stdio\n  %s call calculate expression='2 + 3 * 4' -- %s serve --stdio\n\n%s\n\n%s\n",
		a.out.bold("To go on:"), command, command, command,
		"and in the configuration of a client:", indent(pretty(raw), "  "))
}
