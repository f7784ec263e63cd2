package console

import (
	"slices"
	"sync"
	"time"
)

// Decided is what has become of an operation that waited, or of an approval for a time.
type Decided struct {
	// Decision is given, refused, expired, withdrawn or revoked.
	Decision  string    `json:"decision"`
	Time      time.Time `json:"time"`
	ID        string    `json:"id"`
	Principal string    `json:"principal,omitzero"`
	Client    string    `json:"client,omitzero"`
	Backend   string    `json:"backend"`
	Shown     string    `json:"shown"`
	By        string    `json:"by,omitzero"`
	Reason    string    `json:"reason,omitzero"`
	// Until is the end of an approval for a time; zero for one call.
	Until time.Time `json:"until,omitzero"`
}

// maxDecided is how many decisions are remembered.
const maxDecided = 100

// decided are the latest decisions, the newest first.
type decided struct {
	mu  sync.Mutex
	all []Decided
}

func (d *decided) add(one Decided) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = slices.Insert(d.all, 0, one)
	d.all = d.all[:min(len(d.all), maxDecided)]
}

func (d *decided) list() []Decided {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]Decided{}, d.all...)
}
