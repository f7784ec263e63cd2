//go:build !race

package mutant

// share is how many mutants stand for each one that is tried.
const share = 1
