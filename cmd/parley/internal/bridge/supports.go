package bridge

import (
	"context"
	"sync"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// supports is what the tools of a session say about tasks.
type supports struct {
	mu     sync.Mutex
	asked  time.Time
	only   map[string]bool // those that can be called in no other way
	asking chan struct{}   // closed when the server has answered; nil if it is not asked
}

// rely is how long that is relied on.
const rely = time.Minute

// known returns the tools that can be called as tasks only, as far as that can be relied
// on; otherwise what to wait for, or neither, where the caller has to ask.
func (s *supports) known() (only map[string]bool, asked <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.only != nil && time.Since(s.asked) < rely:
		return s.only, nil
	case s.asking != nil:
		return nil, s.asking
	}
	s.asking = make(chan struct{})
	return nil, nil
}

// learned ends the asking; only is nil if the server has not answered.
func (s *supports) learned(only map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if only != nil {
		s.only, s.asked = only, time.Now()
	}
	close(s.asking)
	s.asking = nil
}

// onlyTask reports whether a tool of a session can be called as a task only. The server is
// asked once for all who want to know; who gives up keeps nobody else waiting.
//
// Spec: 2025-11-25 basic/utilities/tasks#tool-level-negotiation.
func (l *link) onlyTask(ctx context.Context, tool string) (bool, error) {
	tasks := l.client.ServerCapabilities().Tasks
	if tasks == nil || tasks.Requests.Tools == nil || tasks.Requests.Tools.Call == nil {
		return false, nil
	}
	for {
		only, asked := l.supports.known()
		switch {
		case only != nil:
			return only[tool], nil
		case asked == nil:
			only, err := l.onlyTasks(ctx)
			return only[tool], err
		}
		select {
		case <-asked:
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// onlyTasks asks which tools can be called as tasks only, and says so to all who wait.
func (l *link) onlyTasks(ctx context.Context) (only map[string]bool, err error) {
	defer func() { l.supports.learned(only) }()
	all := map[string]bool{}
	for t, err := range l.client.Tools(ctx) {
		if err != nil {
			return nil, err
		}
		if t.Execution != nil && t.Execution.TaskSupport == mcp.TaskRequired {
			all[t.Name] = true
		}
	}
	return all, nil
}
