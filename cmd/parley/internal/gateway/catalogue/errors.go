package catalogue

import (
	"errors"
	"fmt"
)

var (
	errNoName = errors.New("it has no name")
	errClosed = errors.New("the gateway is closed, or has another configuration by now")
	// errSlow says that a backend did not answer in time.
	errSlow = errors.New("no answer in time")
)

type twiceError struct{ name string }

func (e *twiceError) Error() string { return fmt.Sprintf("there is another %.100q", e.name) }
