package cli

import (
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

func (a *app) version() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Show the version and the supported revisions",
		Example: "  parley version",
		Args:    cobra.NoArgs,
	}
	honours(cmd, a.flags.format)
	cmd.RunE = func(*cobra.Command, []string) error {
		if err := a.flags.check(); err != nil {
			return err
		}
		if !a.flags.json() {
			a.out.printf("parley %s\nspeaks %s\n", buildVersion(), revisionNames())
			return nil
		}
		raw, err := wire.Marshal(struct {
			Version   string         `json:"version"`
			Revisions []mcp.Revision `json:"revisions"`
		}{buildVersion(), mcp.Revisions()})
		a.out.json(raw)
		return a.failed(err, target.Target{})
	}
	return cmd
}

// buildVersion returns the version this program was built as: a tag, or the
// commit it was built from.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "devel-" + s.Value[:min(12, len(s.Value))]
		}
	}
	return "devel"
}
