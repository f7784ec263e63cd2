package verdict

import (
	"context"
	"errors"
)

// Interrupted says why a check whose context has ended is partial.
func Interrupted(ctx context.Context) string {
	cause := context.Cause(ctx)
	if errors.Is(cause, context.Canceled) {
		return "it was interrupted"
	}
	return "it was interrupted: " + cause.Error()
}
