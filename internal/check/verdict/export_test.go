package verdict

// For the tests outside of the package, which may import those that import it.
var (
	ReadProfiles = readProfiles
	Newest       = newest
)
