package wire_test

import (
	"errors"
	"strconv"
	"sync"
	"testing"

	"github.com/parley-mcp/parley/internal/wire"
)

func TestWrittenIsTakenAsItIs(t *testing.T) {
	got, err := wire.Append([]byte("["), wire.Written(func(dst []byte) ([]byte, error) { return append(dst, "1 "...), nil }))
	if err != nil || string(got) != "[1 " {
		t.Errorf("got %q (%v)", got, err)
	}
	bad := errors.New("bad")
	got, err = wire.Append([]byte("["), wire.Written(func(dst []byte) ([]byte, error) { return append(dst, "1"...), bad }))
	if !errors.Is(err, bad) || string(got) != "[" {
		t.Errorf("after an error got %q (%v)", got, err)
	}
}

// Many goroutines may find a form missing at the same time; all of them then
// see the same text.
func TestEntryKeepsFormsOfAll(t *testing.T) {
	of := new(int)
	e := wire.NewEntry(of)
	if !e.Of(of) || e.Of(new(int)) {
		t.Error("the entry does not recognize its value, or accepts another")
	}
	const shapes = 5
	var wg sync.WaitGroup
	for range 4 {
		for shape := range shapes {
			wg.Go(func() { // ends when it has kept its form
				if e.Form(shape) == nil {
					e.Keep(shape, []byte(strconv.Itoa(shape/2)))
				}
			})
		}
	}
	wg.Wait()
	for shape := range shapes {
		if got := string(e.Form(shape)); got != strconv.Itoa(shape/2) {
			t.Errorf("form %d is %q", shape, got)
		}
	}
	if a, b := e.Form(0), e.Form(1); &a[0] != &b[0] {
		t.Error("equal forms do not share their text")
	}
	if e.Form(shapes) != nil {
		t.Error("there is a form that nobody kept")
	}
}
