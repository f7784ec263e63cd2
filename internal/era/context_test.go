package era

import (
	"context"
	"errors"
	"testing"
)

type contextKey struct{}

var errEnd = errors.New("the end")

// As long as nobody calls Done, no cancellable context is made.
func TestContextIsMadeForWhoAsks(t *testing.T) {
	c := NewContext(context.WithValue(t.Context(), contextKey{}, "v"))
	if c.Err() != nil || c.Value(contextKey{}) != "v" || context.Cause(c) != nil {
		t.Errorf("Err %v, Value %v, Cause %v", c.Err(), c.Value(contextKey{}), context.Cause(c))
	}
	if c.full != nil {
		t.Error("a cancellable context was made, though nobody called Done")
	}
	c.Release()
}

// However a context ends, its end and the cause are seen, whether Done was called
// before or after.
func TestContextEnds(t *testing.T) {
	for name, end := range map[string]func(c *Context, gone context.CancelCauseFunc){
		"when it is told to":     func(c *Context, _ context.CancelCauseFunc) { c.End(errEnd) },
		"with its parent":        func(_ *Context, gone context.CancelCauseFunc) { gone(errEnd) },
		"with both of these two": func(c *Context, gone context.CancelCauseFunc) { c.End(errEnd); gone(nil) },
	} {
		for _, asked := range []bool{false, true} {
			outer, gone := context.WithCancelCause(t.Context())
			c := NewContext(outer)
			var child context.Context
			if asked {
				var cancel context.CancelFunc
				child, cancel = context.WithCancel(c)
				defer cancel()
			}
			end(c, gone)
			if !errors.Is(c.Err(), context.Canceled) || !errors.Is(context.Cause(c), errEnd) {
				t.Errorf("%s, asked before %v: %v because of %v", name, asked, c.Err(), context.Cause(c))
			}
			<-c.Done()
			if asked {
				<-child.Done()
				if !errors.Is(context.Cause(child), errEnd) {
					t.Errorf("%s: the child ended because of %v", name, context.Cause(child))
				}
			}
			c.Release()
			gone(nil)
		}
	}
}

// Whoever keeps a context longer than its request finds it ended, even when
// asking for the first time.
func TestContextEndsWithItsRequest(t *testing.T) {
	c := NewContext(t.Context())
	c.Release()
	if !errors.Is(c.Err(), context.Canceled) || !errors.Is(context.Cause(c), context.Canceled) {
		t.Errorf("%v because of %v", c.Err(), context.Cause(c))
	}
	<-c.Done()
}
