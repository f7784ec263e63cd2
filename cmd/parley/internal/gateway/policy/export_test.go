package policy

// MaxAskers is the bound on Askers.
const MaxAskers = maxAskers

// Askers returns how many are remembered.
func (p *Policy) Askers() int {
	p.askers.mu.RLock()
	defer p.askers.mu.RUnlock()
	return len(p.askers.all)
}

// Number returns what a JSON number is in Cedar, as Cedar writes it.
func Number(text string) string { return string(number(text).MarshalCedar()) }
