package backend

// Breakers returns how many failures in a row are being counted.
func (b *Backend) Breakers() int {
	b.breakers.mu.Lock()
	defer b.breakers.mu.Unlock()
	return len(b.breakers.all)
}
