package cli

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
)

// The time of --timeout is that of the whole command, without the time in which
// its user is thinking.
func TestTimeoutDoesNotCountThinking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := newTestApp("", true)
		a.flags.timeout = 10 * time.Second
		begin := time.Now()
		ctx, stop := a.limited(t.Context())
		defer stop()
		<-time.NewTimer(4 * time.Second).C
		end, inner := a.think(), a.think()
		<-time.NewTimer(time.Hour).C
		inner()
		end()
		<-ctx.Done()
		if took := time.Since(begin); took != time.Hour+10*time.Second {
			t.Errorf("the command ended after %s", took)
		}
		err := inTime(ctx, context.Canceled)
		if !errors.Is(err, client.ErrTimeout) || classify(err) != codeTimeout {
			t.Errorf("error = %v, code %s", err, classify(err))
		}
	})
}
