package coverage

// Probes returns the probes of all judges.
func Probes() []Probe { return nil }
