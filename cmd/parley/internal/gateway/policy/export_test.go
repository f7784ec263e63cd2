package policy

// MaxAskers is the bound on Askers.
const MaxAskers = maxAskers

// Askers returns how many are remembered.
func (p *Policy) Askers() int {
	p.askers.mu.RLock()
	defer p.askers.mu.RUnlock()
	return len(p.askers.all)
}
