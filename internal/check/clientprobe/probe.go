package clientprobe

import (
	"slices"

	"github.com/parley-mcp/parley/internal/check/probe"
)

// Probe is a rule that clients are judged by: it looks at what was said in the
// scenarios that were played.
type Probe struct {
	probe.Info
	// Needs are what the conversation must have, or the rule does not apply: see
	// Stage.lacks.
	Needs []string
	// In are the scenarios that the probe looks at; nil means all. What other
	// scenarios show is not judged.
	In []string
	// Watch looks at all that was said in one scenario.
	Watch func(*X, *probe.Watch)
}

// All returns all probes.
func All() []*Probe {
	var all []*Probe
	for _, page := range pages {
		for n := range page {
			all = append(all, &page[n])
		}
	}
	return all
}

// looksAt reports whether the probe looks at a scenario.
func (p *Probe) looksAt(sc *Scenario) bool {
	return p.In == nil && sc.As == "" || slices.Contains(p.In, sc.Name)
}

// pages are the probes, file by file.
var pages = [][]Probe{
	basicMessages, basicResponses, basicMeta, basicOdd, iconProbes, lifecycle, transportsStdio, transportsProcess, transportsHTTP, transportsSessions, transportsSSE, transportsHeaders, transportsParams,
	versioning, utilitiesCancellation, utilitiesPing, utilitiesProgress,
	basicMRTR, basicSubscriptions, clientElicitation, clientElicitationURLs, clientRoots, clientSampling, clientSamplingRefusals,
	serverCaching, serverPagination, tasksReceiver, tasksRequestor, tasksLife, basicSchemas, basicExtensions, serverCompletion,
	authDiscovery, authRequests, authResource, authClients, authAnswers, authTokens, authScopes,
	generalPage,
}
