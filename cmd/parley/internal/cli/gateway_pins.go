package cli

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/pins"
	"github.com/parley-mcp/parley/internal/wire"
)

const gatewayPinsLong = `Pins are what servers said of themselves, and of their tools, prompts and resources, when
they were first seen or when it was approved. A gateway withholds what says something
else now. FILE is the configuration of the gateway, which names the file of pins.

PIN is BACKEND/KIND/NAME as list shows it, where * stands for any characters and ? for
one: 'shop/*/*' is everything of the backend shop, and shop/server/self what it says of
itself, with its instructions. A gateway that runs notices at once what was approved.`

func (a *app) gatewayPins() *cobra.Command {
	return family(&cobra.Command{
		Use:     "pins list|diff|approve|forget",
		Short:   "Show and approve what has changed in what servers say of themselves",
		Long:    gatewayPinsLong,
		Example: "  parley gateway pins list gateway.yaml\n  parley gateway pins diff gateway.yaml\n  parley gateway pins approve gateway.yaml 'shop/tool/*'",
	}, a.pinsList(), a.pinsDiff(), a.pinsApprove(), a.pinsForget())
}

// onPins is what a command does with the file of pins and the pins that were named.
type onPins func(file *pins.File, named func(pins.Key) bool) error

// pinsCommand fills in what all commands about pins have.
func (a *app) pinsCommand(cmd *cobra.Command, least int, do onPins) *cobra.Command {
	honours(cmd, a.flags.format)
	completesFile(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.flags.check(); err != nil {
			return err
		}
		if len(args) < 1+least {
			return usagef("too few arguments: %s", cmd.UseLine())
		}
		c, err := config.Read(args[0], a.environment(cmd.Context()))
		if err != nil {
			return a.invalid(args[0], err)
		}
		if c.Pins == nil {
			return usagef("%s has no pins; add\n\n  pins: {file: pins.json}", args[0])
		}
		file, err := c.Pins.Path()
		if err != nil {
			return err
		}
		named, err := namedPins(args[1:])
		if err != nil {
			return err
		}
		return do(pins.Open(file), named)
	}
	return cmd
}

// namedPins reports which pins some patterns are about; none are about all.
func namedPins(patterns []string) (func(pins.Key) bool, error) {
	var wanted [][3]naming.Selection
	for _, text := range patterns {
		parts := strings.SplitN(text, "/", 3)
		if len(parts) != 3 {
			return nil, usagef("%q names no pin; it must be BACKEND/KIND/NAME, such as shop/tool/pay or 'shop/*/*'", text)
		}
		var p [3]naming.Selection
		for i, part := range parts {
			p[i].Include = []string{part}
		}
		wanted = append(wanted, p)
	}
	return func(k pins.Key) bool {
		return len(wanted) == 0 || slices.ContainsFunc(wanted, func(p [3]naming.Selection) bool {
			return p[0].Has(k.Backend) && p[1].Has(k.Kind) && p[2].Has(k.Name)
		})
	}, nil
}

func (a *app) pinsList() *cobra.Command {
	return a.pinsCommand(&cobra.Command{
		Use: "list FILE [PIN...]", Short: "List the pins",
		Example: "  parley gateway pins list gateway.yaml",
	}, 0, func(file *pins.File, named func(pins.Key) bool) error {
		list, err := selectPins(file, named)
		if err != nil || a.flags.json() {
			return a.pinsJSON(list, err)
		}
		for i := range list {
			a.out.printf("%s  %s\n", label(list[i].String(), 300), pinState(&list[i]))
		}
		return nil
	})
}

// selectPins returns the pins that were named.
func selectPins(file *pins.File, named func(pins.Key) bool) ([]pins.Pin, error) {
	list, err := file.Read()
	var chosen []pins.Pin
	for i := range list {
		if named(list[i].Key) {
			chosen = append(chosen, list[i])
		}
	}
	return chosen, err
}

func (a *app) pinsJSON(list []pins.Pin, err error) error {
	if err != nil {
		return err
	}
	if list == nil {
		list = []pins.Pin{}
	}
	raw, err := wire.Marshal(list)
	a.out.json(raw)
	return err
}

func pinState(p *pins.Pin) string {
	switch {
	case p.Pending == nil && len(p.Also) > 0:
		return "approved " + p.Approved.Since.Format(time.DateOnly) + ", and " + strconv.Itoa(len(p.Also)) + " before"
	case p.Pending == nil:
		return "approved " + p.Approved.Since.Format(time.DateOnly)
	case p.Approved == nil:
		return "new, and waits for approval"
	}
	return "changed on " + p.Pending.Since.Format(time.DateOnly) + ", and waits for approval"
}

func (a *app) pinsDiff() *cobra.Command {
	return a.pinsCommand(&cobra.Command{
		Use: "diff FILE [PIN...]", Short: "Show what waits for approval",
		Long:    "Show how what waits for approval differs from what was approved. The exit code is 1 if something waits.",
		Example: "  parley gateway pins diff gateway.yaml",
	}, 0, func(file *pins.File, named func(pins.Key) bool) error {
		list, err := selectPins(file, named)
		if err != nil {
			return err
		}
		var waiting []pins.Pin
		for i := range list {
			if list[i].Pending != nil {
				waiting = append(waiting, list[i])
			}
		}
		if a.flags.json() {
			if err := a.pinsJSON(waiting, nil); err != nil {
				return err
			}
		} else {
			for i := range waiting {
				a.out.printf("%s  %s\n%s\n", a.out.bold(label(waiting[i].String(), 300)), pinState(&waiting[i]), indent(harmless(waiting[i].Diff()), "    "))
			}
		}
		if len(waiting) > 0 {
			return &failure{code: codePins}
		}
		return nil
	})
}

func (a *app) pinsApprove() *cobra.Command {
	return a.pinsCommand(&cobra.Command{
		Use: "approve FILE PIN...", Short: "Approve what has changed",
		Long:    "Approve what servers say now of the pins that are named. Look at the difference first.\n\nWhat was approved before may still be used: a server can show each of its users something of their own. Forget the pin to end that.",
		Example: "  parley gateway pins approve gateway.yaml shop/tool/pay\n  parley gateway pins approve gateway.yaml '*/*/*'",
	}, 1, func(file *pins.File, named func(pins.Key) bool) error {
		approved, err := file.Approve(named)
		if err != nil || a.flags.json() {
			return a.pinsJSON(approved, err)
		}
		for i := range approved {
			a.out.printf("approved %s\n", label(approved[i].String(), 300))
		}
		if len(approved) == 0 {
			a.out.printf("nothing of this name waits for approval\n")
		}
		return nil
	})
}

func (a *app) pinsForget() *cobra.Command {
	return a.pinsCommand(&cobra.Command{
		Use: "forget FILE PIN...", Short: "Forget pins, so that the next sight is the first",
		Long:    "Forget pins, with all that was approved of them, so that the next sight is the first.",
		Example: "  parley gateway pins forget gateway.yaml 'old-server/*/*'",
	}, 1, func(file *pins.File, named func(pins.Key) bool) error {
		n, err := file.Forget(named)
		if err != nil {
			return err
		}
		if a.flags.json() {
			a.out.json([]byte(`{"forgotten":` + strconv.Itoa(n) + `}`))
			return nil
		}
		a.out.printf("%d forgotten\n", n)
		return nil
	})
}
