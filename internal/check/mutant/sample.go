package mutant

// Sample returns the mutants to be tried: all of them, unless the race detector is
// on, which makes them ten times slower. "make test" tries all of them without it.
func Sample(all []*Mutant) []*Mutant {
	var some []*Mutant
	for n := 0; n < len(all); n += share {
		some = append(some, all[n])
	}
	return some
}
