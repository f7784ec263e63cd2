package bridge

// MaxGone is what bounds Gone.
const MaxGone = maxGone

// Gone returns how many sessions are remembered that have ended.
func (b *Bridge) Gone() int {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	return max(len(b.pool.gone.keys), len(b.pool.gone.order))
}
