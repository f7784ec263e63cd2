package clientprobe

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/revision"
)

type (
	object = map[string]any
	list   = []any
)

// Stage is the scripted server at work: one scenario, in one revision, over one
// transport. Its methods may be called concurrently.
type Stage struct {
	Scenario *Scenario
	Revision string
	Facts    *revision.Facts
	// Stateless is set for revisions without sessions.
	Stateless bool
	// Transport is stdio, http or http+sse.
	Transport string
	// Log is everything that was said; what the checker sent is what the server did.
	Log *peer.Log
	// Origin is where the server is, over HTTP, and Other another origin that the
	// checker listens at.
	Origin, Other string
	// Processes is set if the client starts the server as a process, and so shows
	// how it ends one.
	Processes bool

	path    string          // that the addresses of the stage begin with
	ctx     context.Context //nolint:containedctx // that of the stage, which ends with close
	end     context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	lines   []*Line
	all     *Line          // that of all requests of a stateless revision over HTTP
	counts  map[string]int // see Count
	marks   map[string]*peer.Message
	ids     int
	changed chan struct{}
}

func newStage(sc *Scenario, f *revision.Facts, transport string, o *Options) *Stage {
	s := &Stage{
		Scenario: sc, Revision: f.Revision.String(), Facts: f, Stateless: f.Stateless, Transport: transport,
		Processes: o.Processes, Log: peer.NewLog(o.Limits), counts: map[string]int{}, marks: map[string]*peer.Message{}, changed: make(chan struct{}),
	}
	s.ctx, s.end = context.WithCancel(context.Background())
	return s
}

// close ends all conversations, and waits until all that runs has ended.
func (s *Stage) close() {
	s.mu.Lock()
	s.closed = true
	lines := s.lines
	s.mu.Unlock()
	s.end()
	for _, l := range lines {
		if l.conn != nil {
			_ = l.conn.Close() // what matters has been said
		}
	}
	s.running.Wait()
}

// run runs a function that ends with the stage at the latest. It does nothing
// once the stage is closed.
func (s *Stage) run(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.running.Go(f)
	}
}

// Count returns how often it was called before with this name, for twists that
// come once.
func (s *Stage) Count(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[name]++
	return s.counts[name] - 1
}

// counted returns how often Count was called with a name.
func (s *Stage) counted(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[name]
}

// Mark remembers a message under a name, for the probes: the first one stays.
func (s *Stage) Mark(name string, m *peer.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.marks[name] == nil && m != nil {
		s.marks[name] = m
	}
}

// Marked returns the message that was marked with a name, or nil.
func (s *Stage) Marked(name string) *peer.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.marks[name]
}

// Pause waits, or returns false at once if the stage ends.
func (s *Stage) Pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.ctx.Done():
		return false
	}
}

// nextID is an ID for a request of the server.
func (s *Stage) nextID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids++
	return fmt.Sprintf("ask-%d", s.ids)
}

// lacks says what of a need the conversation does not have, or "".
func (s *Stage) lacks(need string) string {
	switch need {
	case needsSession, needsStateless:
		if s.Stateless != (need == needsStateless) {
			return "the revision is of the other era"
		}
	case needsWeb:
		if s.Transport == needsStdio {
			return "the client was spoken to over stdio"
		}
	case needsProcess:
		if !s.Processes {
			return "the client did not start the server as a process"
		}
	case needsHTTP, needsSSE, needsStdio:
		if s.Transport != need {
			return "the client was spoken to over " + s.Transport
		}
	default:
		if has := facts[need]; has == nil || !has(s.Facts) {
			return "the revision has no " + need
		}
	}
	return ""
}

// What scenarios and probes may need of the conversation. Besides these it may
// be a member of facts.
const (
	needsSession   = "session"   // a revision with sessions
	needsStateless = "stateless" // one without
	needsHTTP      = "http"      // Streamable HTTP
	needsSSE       = "http+sse"  // the transport of the first revision
	needsWeb       = "web"       // either of these two
	needsStdio     = "stdio"     // lines
	needsProcess   = "process"   // lines, of a process that the client has started
)

var facts = map[string]func(*revision.Facts) bool{
	"elicitation":         func(f *revision.Facts) bool { return f.Elicitation },
	"url elicitation":     func(f *revision.Facts) bool { return f.ElicitURL },
	"structured output":   func(f *revision.Facts) bool { return f.StructuredContent },
	"icons":               func(f *revision.Facts) bool { return f.Icons },
	"batches":             func(f *revision.Facts) bool { return f.Batches },
	"tasks":               func(f *revision.Facts) bool { return f.Tasks },
	"sampling with tools": func(f *revision.Facts) bool { return f.SamplingTools },
	"polling":             func(f *revision.Facts) bool { return f.Polling },
}

// Accept takes the server's end of a stream of lines: a client has started the
// server, or would have.
func (s *Stage) Accept(stream io.ReadWriteCloser) {
	l := &Line{Stage: s, waiting: map[string]chan *peer.Message{}, cancelled: map[string]chan struct{}{}}
	if p, ok := stream.(interface{ Process() *process }); ok {
		l.process = p.Process()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = stream.Close() // too late
		return
	}
	started := make(chan struct{})
	l.conn = peer.HearLines(s.Log, stream, func(m *peer.Message) {
		<-started
		l.hear(m)
	})
	l.Number = l.conn.Number
	close(started)
	s.lines = append(s.lines, l)
	s.running.Go(func() { // ends with the input of the client, or the stage
		l.conn.Await(s.ctx, 0, 24*time.Hour, func(*peer.Message) bool { return false })
		if s.Scenario.Stubborn {
			<-s.ctx.Done()
		}
		_ = l.conn.Close() // a server ends with its input
	})
}

// Lines returns the conversations until now, in order.
func (s *Stage) Lines() []*Line {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Line(nil), s.lines...)
}
