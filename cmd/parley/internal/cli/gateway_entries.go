package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/catalogue"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/internal/redact"
	"github.com/parley-mcp/parley/mcp"
)

// inventory is what the servers behind a gateway list.
type inventory struct {
	config  *config.Config
	entries []catalogue.Entry
	// instructions are those of servers, and missing is why some could not be asked, by
	// their names.
	instructions, missing map[string]string
}

// miss remembers why servers could not be asked, as far as whoever has configured them may
// read it.
func (i *inventory) miss(missing map[string]error, secrets *redact.Redactor) {
	for name, err := range missing {
		if i.missing == nil {
			i.missing = map[string]string{}
		}
		if e, ok := errors.AsType[*backend.UnavailableError](err); ok {
			err = e.Err
		}
		i.missing[name] = secrets.Thorough(err.Error())
	}
}

// onInventory fills in what commands have that ask all servers of a configuration what they
// offer, and serve nobody.
func (a *app) onInventory(cmd *cobra.Command, do func(*inventory) error) *cobra.Command {
	honours(cmd, a.flags.format)
	completesFile(cmd)
	wait := cmd.Flags().Duration("timeout", time.Minute, "wait this `TIME` for servers to start and to list what they have")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.flags.check(); err != nil {
			return err
		}
		if len(args) != 1 {
			return usagef("name one file: %s", cmd.UseLine())
		}
		if *wait <= 0 {
			return usagef("--timeout %s is not positive", *wait)
		}
		all, err := a.inventory(cmd.Context(), args[0], *wait)
		if err != nil {
			return err
		}
		if err := do(all); err != nil {
			return err
		}
		return all.incomplete()
	}
	return cmd
}

// inventory asks all servers of a file.
func (a *app) inventory(ctx context.Context, file string, wait time.Duration) (_ *inventory, err error) {
	c, err := config.Read(file, a.environment(ctx))
	if err != nil {
		return nil, a.invalid(file, err)
	}
	all := &inventory{config: c}
	logger := slog.New(slog.DiscardHandler)
	r := &runningGateway{a: a, file: file, logger: logger, single: true, config: c, posts: new(posts), logins: logins{a: a}, hidden: new(redact.Changing)}
	defer r.logins.keep(nil)
	r.gateway = gateway.New(gateway.Options{Info: mcp.Implementation{Name: "parley-gateway", Version: buildVersion()}, Logger: logger})
	defer func() { err = errors.Join(err, r.gateway.Close()) }()
	setup := gateway.Setup{ListTimeout: wait}
	for _, b := range c.Backends {
		setup.Servers = append(setup.Servers, r.server(ctx, b))
	}
	if err := r.gateway.Load(setup); err != nil { //nolint:contextcheck // backends live until the gateway ends
		return nil, err
	}
	r.logins.keep(c)
	looking, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	r.gateway.Look(looking)
	var missing map[string]error
	all.entries, all.instructions, missing, err = r.gateway.Entries(ctx)
	all.miss(missing, r.hidden.Now())
	return all, err
}

// incomplete says which servers could not be asked.
func (i *inventory) incomplete() error {
	if len(i.missing) == 0 {
		return nil
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(i.missing)) {
		errs = append(errs, fmt.Errorf("%s: %s", name, oneLine(i.missing[name], 500)))
	}
	return &failure{code: codeUnreachable, err: fmt.Errorf("some servers could not be asked:\n%w", errors.Join(errs...))}
}
