package coverage

import (
	"github.com/parley-mcp/parley/internal/check/authprobe"
	"github.com/parley-mcp/parley/internal/check/clientprobe"
	"github.com/parley-mcp/parley/internal/check/gateway"
	"github.com/parley-mcp/parley/internal/check/requirement"
	"github.com/parley-mcp/parley/internal/check/serverprobe"
)

// Probes returns the probes of all judges.
func Probes() []Probe {
	var all []Probe
	for _, p := range serverprobe.All() {
		all = append(all, Probe{p.Info, requirement.Server})
	}
	for _, p := range clientprobe.All() {
		all = append(all, Probe{p.Info, requirement.Client})
	}
	for _, p := range authprobe.All() {
		all = append(all, Probe{p.Info, p.Role})
	}
	for _, info := range gateway.Probes() {
		all = append(all, Probe{info, requirement.Intermediary})
	}
	return all
}
