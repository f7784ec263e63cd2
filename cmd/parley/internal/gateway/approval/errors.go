package approval

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// methodError says that a rule can be about nothing.
type methodError struct{ method string }

func (e *methodError) Error() string {
	return fmt.Sprintf("no method that a human can be asked about fits %q; there are %s", e.method, strings.Join(Methods(), ", "))
}

var (
	// ErrUnknown says that there is nothing of an ID, or not any more.
	ErrUnknown = errors.New("there is nothing of this ID that waits or was given; it may have been answered, or its time is over")
	errWho     = errors.New("only the person at the client may approve it: the configuration says \"ask: client\"")
	errFull    = errors.New("as many calls wait for approval as may; try again when some have been answered")
	errToolFor = errors.New("an approval of a tool with any arguments needs a time for which it is given")
	errTool    = errors.New("approvals are for the same arguments only, unless the configuration says approval: {tool_wide: true}")
)

// tooLongError says that nobody may approve something for so long.
type tooLongError struct{ most time.Duration }

func (e *tooLongError) Error() string {
	if e.most == 0 {
		return "approvals are for one call only, unless the configuration has an approval.max_time"
	}
	return fmt.Sprintf("approvals are for %s at most, the approval.max_time of the configuration", e.most)
}
