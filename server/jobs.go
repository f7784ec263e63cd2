package server

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"sync"

	"github.com/parley-mcp/parley/mcp"
)

// Job is what a job knows of the request that started it. It may be kept.
type Job struct {
	name  string
	peer  mcp.Peer
	trace mcp.Trace
	log   *slog.Logger
}

// Name returns the name that StartJob got.
func (j *Job) Name() string { return j.name }

// Peer returns who sent the request. Its credentials may have expired meanwhile.
func (j *Job) Peer() mcp.Peer { return j.peer }

// Principal returns who the transport authenticated, or "" for nobody.
func (j *Job) Principal() string { return j.peer.Principal }

// Trace returns the trace context of the request.
func (j *Job) Trace() mcp.Trace { return j.trace }

// Logger returns the server's Options.Logger, with the name of the job as attribute "job".
func (j *Job) Logger() *slog.Logger { return j.log }

// jobs are the jobs of a server. Server.Close waits for them, as for tasks.
type jobs struct {
	ctx  context.Context //nolint:containedctx // ends with Server.Close
	stop context.CancelCauseFunc

	mu    sync.Mutex
	going int
	most  int
}

func newJobs(most int) *jobs {
	j := &jobs{most: most}
	j.ctx, j.stop = context.WithCancelCause(context.Background())
	return j
}

func (j *jobs) add() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.most >= 0 && j.going >= j.most {
		return false
	}
	j.going++
	return true
}

func (j *jobs) done() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.going--
}

// The reasons for which a job is not started, and for which its context ends.
var (
	// ErrTooManyJobs says that Options.MaxJobs are running.
	ErrTooManyJobs = errors.New("too many jobs are running; try again later")
	// ErrServerClosed says that Server.Close was called.
	ErrServerClosed = errors.New("the server is shutting down")
)

// StartJob runs f on a goroutine of its own and returns at once: f goes on when the request
// that the call serves has been answered. This is the plain way to send a mail or to warm a cache; what
// the client is to follow, cancel or get a result of is a task, see TaskOptions.
//
// The context of f keeps the values of ctx: the span of a trace, the authorization, whatever
// middleware has put there. The Job has who sent the request, its trace context, and a logger.
// What does not go on is the cancellation and the deadline of ctx, and the way back to the
// client: call, its progress, its log messages and its questions must not be used in f, nor its session.
//
// The context ends when Server.Close is called, with the cause ErrServerClosed; Close
// then waits for f. For steps that must not be interrupted, f can take context.WithoutCancel.
// An error or a panic of f is logged; with CrashOnPanic, a panic ends the process.
//
// The error is ErrServerClosed, or ErrTooManyJobs; f is not run then.
func (c *Call) StartJob(ctx context.Context, name string, f func(ctx context.Context, job *Job) error) error {
	s := c.s
	if !s.tasks.enter() {
		return ErrServerClosed
	}
	if !s.jobs.add() {
		s.tasks.going.Done()
		return ErrTooManyJobs
	}
	job := &Job{name: name, peer: c.x.Peer, trace: c.x.Trace, log: s.log.With("job", name)}
	go func() { // ends with f, which Server.Close tells to end, and waits for
		defer s.tasks.going.Done()
		defer s.jobs.done()
		s.runJob(ctx, job, f)
	}()
	return nil
}

// runJob runs f in the context of the job.
func (s *Server) runJob(values context.Context, job *Job, f func(context.Context, *Job) error) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(values))
	defer cancel(nil)
	defer context.AfterFunc(s.jobs.ctx, func() { cancel(ErrServerClosed) })() //nolint:contextcheck // the job ends with both
	if a := job.peer.Authorization; a != nil {                                // which not every transport puts there
		ctx = mcp.WithAuthorization(ctx, a)
	}
	defer func() {
		if s.opts.Panic == CrashOnPanic {
			return
		}
		if p := recover(); p != nil {
			job.log.ErrorContext(ctx, "panic in a job", "panic", p, "stack", string(debug.Stack()))
		}
	}()
	if err := f(ctx, job); err != nil {
		job.log.ErrorContext(ctx, "a job failed", "error", err)
	}
}
