package serverprobe

// scenes are what was played once for several probes of patterns.
type scenes struct {
	cancelled *cancelled
	tasks     *taskScene
}
