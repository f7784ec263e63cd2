package era

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// slow takes a second for each message.
type slow struct{ told int }

func (s *slow) Message(context.Context, []byte) error {
	<-time.NewTimer(time.Second).C
	s.told++
	return nil
}

func (*slow) Answer(context.Context, []byte, *Failure) error { return nil }

// A change that is due when the server goes away does not turn the subscription's
// end into an error. Which of the two is seen first is random, so the test tries
// often.
func TestEndWhileAChangeIsDue(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			ctx, end := context.WithCancelCause(t.Context())
			s := &Stateless{opts: mcp.ServeOptions{ChangeWindow: 50 * time.Millisecond}}
			sub := &subscription{due: time.NewTimer(time.Hour)}
			sub.queue.wake = func() { sub.due.Reset(s.opts.ChangeWindow) }
			out, ended := &slow{}, make(chan error)
			go func() { ended <- s.tell(ctx, &returnPath{ctx: ctx, out: out}, sub) }() // ends with ctx
			sub.queue.add(mcp.Change{Kind: mcp.ToolsChanged})
			<-time.NewTimer(100 * time.Millisecond).C // the first one is being sent
			sub.queue.add(mcp.Change{Kind: mcp.PromptsChanged})
			<-time.NewTimer(500 * time.Millisecond).C // the second one is due
			end(ErrShutdown)
			if err := <-ended; err != nil || out.told != 1 {
				t.Fatalf("the end is the error %v, after %d changes; want no error, after 1", err, out.told)
			}
		})
	}
}
