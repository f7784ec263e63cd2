//go:build !profile

package config

// profile does nothing: profiling would count in the size of the programs.
func profile() {}
