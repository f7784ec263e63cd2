package gateway

// What tests outside of the package see of whose tasks are known.
const (
	MaxOwners     = maxOwners
	MaxOwnedTasks = maxOwnedTasks
)

// Owners knows whose tasks are.
type Owners struct{ owners }

// Add remembers whose a task is.
func (o *Owners) Add(id, principal string) { o.add(id, principal) }

// Admits reports whether a task is a principal's, as far as is known.
func (o *Owners) Admits(id, principal string) bool { return o.admits(id, principal) }

// Following and Waiting bound how subscriptions follow to another setup.
const (
	Following = following
	Waiting   = waiting
)
