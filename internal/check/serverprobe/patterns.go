package serverprobe

import "slices"

// patterns are the probes of how the sides speak with each other: what servers
// ask, report, cancel and announce, and what they work on apart.
var patterns = slices.Concat(
	elicitationProbes, visitProbes, formProbes, samplingProbes,
	mrtrProbes, taskCreation, taskState, taskMessages, taskRequests, progressProbes, cancellationProbes, subscriptionProbes, changeProbes,
)
