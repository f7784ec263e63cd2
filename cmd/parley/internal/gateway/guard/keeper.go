package guard

import "slices"

// Keeper is a guard that may keep all of a backend from a peer. Which one cannot be told
// before the backend has listed something.
type Keeper interface {
	Guard
	// Keeps reports whether it does so now.
	Keeps() bool
}

// Discreet reports whether one of some guards may keep a backend from a peer.
func Discreet(guards []Guard) bool { return slices.ContainsFunc(those[Keeper](guards), Keeper.Keeps) }
