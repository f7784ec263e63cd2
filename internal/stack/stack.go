// Package stack spares new goroutines that serve a request most of the cost of
// growing their stack.
package stack

// served is what serving a request takes of a stack, in bytes, or a little more.
const served = 9 << 10

// Grow makes room for serving a request on the stack of a goroutine that has
// just begun. A stack begins with 2 KiB and doubles; each time, what is on it
// is copied and every pointer into it mended. It is nearly empty here, and
// grows once.
func Grow() { take(0) }

//go:noinline
func take(i int) byte {
	var room [served]byte
	return room[i]
}
