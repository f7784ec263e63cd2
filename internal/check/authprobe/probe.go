package authprobe

import (
	"slices"

	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/requirement"
)

// Probe is a rule and how to see whether it is kept.
type Probe struct {
	probe.Info

	// Role is whose rule it is: requirement.Server for the endpoint, or
	// requirement.Authorization.
	Role requirement.Role
	// Needs are what must be there; see needs.go.
	Needs []string
	// Run looks at what the survey found, or asks more.
	Run func(*X) probe.Finding
}

// All returns the probes in the order in which they run: those that only look,
// then those that make something, then those that use it up.
func All() []*Probe {
	var all []*Probe
	for _, some := range [][]Probe{
		challengeProbes, credentialProbes, resourceProbes, scopeProbes, oldProbes,
		metadataProbes, authorizeProbes, tokenEndpointProbes, documentProbes,
		registerProbes, redirectProbes, loginProbes, grantProbes,
		tokenProbes, narrowProbes, sessionProbes,
	} {
		for i := range some {
			all = append(all, &some[i])
		}
	}
	return slices.Clone(all)
}
