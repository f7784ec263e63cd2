package serverprobe

import "slices"

// patterns are the probes of how the sides speak with each other: what servers
// ask, report, cancel and announce, and what they work on apart. Those that answer
// otherwise than a friend does come last.
var patterns = slices.Concat(
	elicitationProbes, visitProbes, formProbes, samplingProbes, samplingRepeats,
	mrtrProbes, taskCreation, taskState, taskMessages, taskRequests, taskProgress, progressProbes, cancellationProbes, subscriptionProbes, subscriptionEnds, changeProbes,
	requiredProbes, answerProbes, limitedProbes, samplingAnswers, rootsProbes,
)
