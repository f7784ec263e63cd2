package catalogue

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/plain"
)

var (
	errNoName    = errors.New("it has no name")
	errClosed    = plain.New("the gateway is closed, or has another configuration by now")
	errForgotten = plain.New("who had asked for it has left")
	// errSlow says that a backend did not answer in time.
	errSlow = plain.New("no answer in time")
)

// reason is what clients are told of why a backend has not listed something.
func reason(err error) string { return cmp.Or(plain.Words(err), "it cannot be listed") }

type twiceError struct{ name string }

func (e *twiceError) Error() string { return fmt.Sprintf("there is another %.100q", e.name) }
