package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

const watchLong = `Show a line for each change that the server reports, until interrupted.

Without a flag that says what to watch, the three lists are watched. "gap" means
that the connection was lost in between: anything may have changed meanwhile.`

const watchExamples = `  parley watch -- parley serve --stdio --root .
  parley watch --uri file://$PWD/notes.md --count 1 -- parley serve --stdio --root .`

func (a *app) watch() *cobra.Command {
	var (
		filter mcp.SubscriptionFilter
		count  int
	)
	cmd := &cobra.Command{
		Use:     "watch [URL|@NAME] [-- COMMAND...]",
		Short:   "Watch for changes",
		Long:    watchLong,
		Example: watchExamples,
	}
	cmd.Flags().BoolVar(&filter.ToolsListChanged, "tools", false, "watch the list of tools")
	cmd.Flags().BoolVar(&filter.PromptsListChanged, "prompts", false, "watch the list of prompts")
	cmd.Flags().BoolVar(&filter.ResourcesListChanged, "resources", false, "watch the list of resources")
	cmd.Flags().StringArrayVar(&filter.ResourceSubscriptions, "uri", nil, "watch the resource `URI` (repeatable)")
	cmd.Flags().IntVar(&count, "count", 0, "end after this many events; 0 means never")
	honours(cmd, a.flags.reach, a.flags.format, a.flags.asked)
	a.completes(cmd, nil)
	cmd.RunE = a.onServer(0, 0, func(ctx context.Context, t target.Target, _ []string) error {
		if len(wanted(filter)) == 0 {
			filter.ToolsListChanged, filter.PromptsListChanged, filter.ResourcesListChanged = true, true, true
		}
		return a.runWatch(ctx, t, filter, count)
	})
	return cmd
}

func (a *app) runWatch(ctx context.Context, t target.Target, filter mcp.SubscriptionFilter, count int) error {
	c, err := a.connect(ctx, t)
	if err != nil {
		return err
	}
	defer a.leave(c)
	enough, events := make(chan struct{}), 0
	sub, err := c.Listen(ctx, filter, func(_ context.Context, e client.Event) {
		if count > 0 && events == count {
			return
		}
		a.showEvent(e)
		if events++; events == count {
			close(enough)
		}
	})
	if err != nil {
		return err
	}
	honoured := wanted(sub.Honoured())
	if len(honoured) == 0 {
		_ = sub.Close() // nothing will come
		return errors.New("the server reports none of these changes: " + strings.Join(wanted(filter), ", "))
	}
	a.note("%s", a.err.dim("watching "+label(strings.Join(honoured, ", "), 2000)))
	select {
	case <-ctx.Done():
		err := sub.Close()
		if count > 0 { // what was waited for has not happened
			err = context.Cause(ctx)
		}
		return err // otherwise this is how it is meant to end
	case <-enough:
		return sub.Close()
	case <-sub.Done():
		if err := c.Err(); err != nil {
			return err // the whole client has ended
		}
		return fmt.Errorf("the subscription ended: %w", orError(sub.Err(), errors.New("the server ended it")))
	case <-c.Done():
		return c.Err()
	}
}

func orError(err, other error) error {
	if err == nil {
		return other
	}
	return err
}

// wanted names what a filter asks for.
func wanted(f mcp.SubscriptionFilter) []string {
	var names []string
	if f.ToolsListChanged {
		names = append(names, "tools")
	}
	if f.PromptsListChanged {
		names = append(names, "prompts")
	}
	if f.ResourcesListChanged {
		names = append(names, "resources")
	}
	return append(names, f.ResourceSubscriptions...)
}

func (a *app) showEvent(e client.Event) { a.showEventAs(e, a.flags.json()) }

func (a *app) showEventAs(e client.Event, json bool) {
	now, what := time.Now(), eventName(e)
	if !json {
		line := what
		if e.Change.URI != "" {
			line += " " + label(e.Change.URI, 2000)
		}
		a.out.printf("%s %s\n", a.out.dim(now.Format("15:04:05")), line)
		return
	}
	raw, err := wire.Marshal(struct {
		Time  string `json:"time"`
		Event string `json:"event"`
		URI   string `json:"uri,omitzero"`
	}{now.Format(time.RFC3339Nano), what, e.Change.URI})
	if err == nil {
		a.out.line(raw) // one line each, on a terminal too
	}
}

func eventName(e client.Event) string {
	switch {
	case e.Gap:
		return "gap"
	case e.Change.Kind == mcp.ToolsChanged:
		return "tools changed"
	case e.Change.Kind == mcp.PromptsChanged:
		return "prompts changed"
	case e.Change.Kind == mcp.ResourcesChanged:
		return "resources changed"
	}
	return "resource updated"
}
