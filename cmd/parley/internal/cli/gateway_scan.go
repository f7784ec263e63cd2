package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/scan"
	"github.com/parley-mcp/parley/internal/wire"
)

const gatewayScanLong = `Connect to all servers behind a gateway, and show what a scan finds in what they say of
their tools, prompts, resources and templates, and in their instructions: hidden
characters, sentences that give a model orders, tools that speak of those of other
servers or look like them, and secrets. Nothing is called.

For each finding, it says what the gateway does because of it. All kinds are looked for,
also where FILE has no section scan. The exit code is 1 if anything was found that the
section does not switch off.`

func (a *app) gatewayScan() *cobra.Command {
	return a.onInventory(&cobra.Command{
		Use:     "scan FILE",
		Short:   "Show what models should not read in what servers say of themselves",
		Long:    gatewayScanLong,
		Example: "  parley gateway scan gateway.yaml\n  parley gateway scan mcp.json --output json",
	}, func(all *inventory) error {
		found := all.findings()
		if err := a.showScan(all, found); err != nil {
			return err
		}
		for i := range found {
			if found[i].Action != scan.Off || all.config.Scan == nil {
				return &failure{code: codeScan}
			}
		}
		return nil
	})
}

// findings are what a scan finds in what the servers list.
func (i *inventory) findings() []scan.Finding {
	o := scan.Options{}
	if s := i.config.Scan; s != nil {
		o.Except = s.Except
		o.Definitions, o.Results = s.Actions()
	}
	var definitions []*guard.Definition
	var shown []json.RawMessage
	for _, e := range i.entries {
		definitions, shown = append(definitions, e.Definition), append(shown, e.Entry)
	}
	return scan.New(o).Definitions(definitions, shown, i.instructions)
}

func (a *app) showScan(all *inventory, found []scan.Finding) error {
	if a.flags.json() {
		raw, err := wire.Marshal(struct {
			Looked   int               `json:"definitions"`
			Findings []scan.Finding    `json:"findings"`
			Missing  map[string]string `json:"unavailable,omitzero"`
		}{len(all.entries), found, all.missing})
		a.out.json(raw)
		return err
	}
	last := ""
	for i := range found {
		f := &found[i]
		if at := label(f.Backend+"/"+or(f.Name, "(instructions)"), 300); at != last {
			a.out.printf("%s\n", a.out.bold(at))
			last = at
		}
		action := string(f.Action)
		if all.config.Scan == nil {
			action = "no scan"
		}
		a.lintLines(fmt.Sprintf("  %-8s", action), fmt.Sprintf("%s: %s%s%s", f.Kind, f.Text, when(f.Shows != "", ": "+f.Shows), when(f.Pointer != "", ", at "+f.Pointer+when(f.Places > 1, fmt.Sprintf(" and %d more", f.Places-1)))), false)
	}
	a.out.printf("%s\n", a.out.dim(fmt.Sprintf("%s in %s of %s", counted(len(found), "finding"), counted(len(all.entries), "definition"), counted(len(all.config.Backends), "server"))))
	return nil
}
