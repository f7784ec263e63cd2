package guard

import (
	"context"
	"slices"
	"sync"
)

// Remarks are what guards have to say of an operation that goes on.
type Remarks struct {
	mu   sync.Mutex
	list []string
}

// maxRemarks bounds the remarks on one operation.
const maxRemarks = 20

type remarksKey struct{}

// WithRemarks returns a context in which guards make remarks, for who stands before them.
func WithRemarks(ctx context.Context) (context.Context, *Remarks) {
	r := new(Remarks)
	return context.WithValue(ctx, remarksKey{}, r), r
}

// Remark says something of the operation that ctx is for, if somebody wants to know. What was
// said already is not said again, by a guard that is asked once more, for example.
func Remark(ctx context.Context, text string) {
	r, ok := ctx.Value(remarksKey{}).(*Remarks)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.list) < maxRemarks && !slices.Contains(r.list, text) {
		r.list = append(r.list, text)
	}
}

// List returns what was said so far.
func (r *Remarks) List() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.list
}
