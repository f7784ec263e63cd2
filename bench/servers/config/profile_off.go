//go:build !profile

package config

// profile does nothing: profiling would add to the size of the programs.
func profile() {}
