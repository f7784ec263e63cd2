package devauth

// What the tests look at by itself.
var (
	CheckRedirect = checkRedirect
	Registered    = registered
	FormTarget    = formTarget
	Plain         = plain
)
