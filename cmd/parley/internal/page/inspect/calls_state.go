package inspect

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// callState is what there is to say of a call in a word.
type callState string

// The states of calls. All but the first are final.
const (
	callRunning   callState = "running"
	callDone      callState = "done"      // the server has answered with a result
	callFailed    callState = "failed"    // there is no result
	callCancelled callState = "cancelled" // by the user
	callLeft      callState = "left"      // its task goes on, and nobody waits for it
)

// Bounds of what a call hears while it runs. The last ones are kept.
const (
	maxProgress = 200
	maxHeard    = 500
	maxPause    = 100 * time.Millisecond // between two events of one call
)

// call is a request with what became of it. The members in capitals are what the API
// shows of it.
type call struct {
	connection *Connection
	book       *callBook
	wanted     wantedCall
	cancel     context.CancelCauseFunc
	done       chan struct{} // closed when the call has ended

	// These do not change.
	ID      string
	Method  string
	Params  json.RawMessage
	Task    bool
	Started time.Time

	mu       sync.Mutex
	State    callState
	Ended    time.Time
	progress heard
	logs     heard
	notes    heard
	result   json.RawMessage
	err      *callError
	check    *outputCheck
	task     *mcp.Task // as it was seen last, if the call has become one
	taskKey  string    // that names it in the API
	sent     time.Time // when its request was seen on the wire
	exchange uint64
	leave    bool        // what was cancelled is to leave its task alone
	told     time.Time   // when the last event was published
	later    *time.Timer // publishes the next one; nil if there is none to publish
}

// heard is what came while a call was running, without the oldest if it was much.
type heard struct {
	items   []note
	dropped int
}

// note is a notification of a call.
type note struct {
	Time   time.Time       `json:"time"`
	Method string          `json:"method,omitzero"`
	Params json.RawMessage `json:"params,omitzero"`
}

func (h *heard) add(n note, most int) {
	h.items = append(h.items, n)
	if len(h.items) > most {
		h.dropped += len(h.items) - most
		h.items = append([]note{}, h.items[len(h.items)-most:]...)
	}
}

func (h *heard) size() int {
	size := 0
	for _, n := range h.items {
		size += len(n.Params)
	}
	return size
}

// shownCall is a call as the API shows it. Those of a list are without what can be long.
type shownCall struct {
	ID       string          `json:"id"`
	Method   string          `json:"method"`
	Subject  string          `json:"subject,omitzero"`
	Params   json.RawMessage `json:"params,omitzero"`
	Task     bool            `json:"task,omitzero"`
	State    callState       `json:"state"`
	Started  time.Time       `json:"started"`
	Ended    time.Time       `json:"ended,omitzero"`
	TookMs   float64         `json:"tookMs"`
	Progress *note           `json:"progress,omitzero"`
	TaskNow  *mcp.Task       `json:"taskNow,omitzero"`
	TaskKey  string          `json:"taskKey,omitzero"`
	Exchange uint64          `json:"exchange,omitzero"`
	IsError  bool            `json:"isError,omitzero"`
	Error    *callError      `json:"error,omitzero"`
	Check    *outputCheck    `json:"check,omitzero"`
	// These are only in a call that is asked for by itself.
	Heard   *shownHeard     `json:"heard,omitzero"`
	Result  json.RawMessage `json:"result,omitzero"`
	Timeout int64           `json:"timeout,omitzero"`
	Level   string          `json:"logLevel,omitzero"`
}

// shownHeard is what a call has heard. Dropped is how many of its notifications were
// forgotten.
type shownHeard struct {
	Progress []note `json:"progress"`
	Logs     []note `json:"logs"`
	Notes    []note `json:"notes"`
	Dropped  int    `json:"dropped"`
}

// brief returns the call as a list shows it.
func (k *call) brief() *shownCall {
	k.find()
	k.mu.Lock()
	defer k.mu.Unlock()
	s := &shownCall{
		ID: k.ID, Method: k.Method, Subject: subject(k.Params), Task: k.Task, State: k.State, Started: k.Started, Ended: k.Ended,
		TookMs: k.took().Seconds() * 1000, TaskNow: k.task, TaskKey: k.taskKey, Exchange: k.exchange, IsError: failedTool(k.result), Error: k.err, Check: k.check,
	}
	if n := len(k.progress.items); n > 0 {
		s.Progress = &k.progress.items[n-1]
	}
	return s
}

// shown returns all of the call.
func (k *call) shown() *shownCall {
	s := k.brief()
	k.mu.Lock()
	defer k.mu.Unlock()
	s.Params, s.Result, s.Timeout, s.Level = k.Params, k.result, k.wanted.Timeout, string(k.wanted.LogLevel)
	s.Heard = &shownHeard{
		Progress: copied(k.progress.items), Logs: copied(k.logs.items), Notes: copied(k.notes.items),
		Dropped: k.progress.dropped + k.logs.dropped + k.notes.dropped,
	}
	return s
}

func copied(notes []note) []note { return append([]note{}, notes...) }

func (k *call) took() time.Duration {
	if k.Ended.IsZero() {
		return time.Since(k.Started)
	}
	return k.Ended.Sub(k.Started)
}

func (k *call) running() bool {
	select {
	case <-k.done:
		return false
	default:
		return true
	}
}

func (k *call) size() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.Params) + len(k.result) + k.progress.size() + k.logs.size() + k.notes.size()
}

// stop cancels the call, and reports whether it was running.
func (k *call) stop(reason string, leave bool) bool {
	if !k.running() {
		return false
	}
	k.mu.Lock()
	k.leave = leave
	k.mu.Unlock()
	k.cancel(&stopped{reason})
	return true
}

// changed tells whoever watches, but not more often than anybody can look.
func (k *call) changed() {
	k.mu.Lock()
	defer k.mu.Unlock()
	wait := maxPause - time.Since(k.told)
	switch {
	case k.State != callRunning || wait <= 0:
		k.tell()
	case k.later == nil:
		k.later = time.AfterFunc(wait, func() {
			k.mu.Lock()
			defer k.mu.Unlock()
			if k.later != nil {
				k.tell()
			}
		})
	}
}

// tell publishes what has changed. Who calls it holds k.mu. What can be long is asked for
// by whoever shows it.
func (k *call) tell() {
	if k.later != nil {
		k.later.Stop()
		k.later = nil
	}
	k.told = time.Now()
	event := map[string]any{"id": k.ID, "method": k.Method, "state": k.State, "tookMs": k.took().Seconds() * 1000}
	if n := len(k.progress.items); n > 0 {
		event["progress"] = k.progress.items[n-1]
	}
	if k.task != nil {
		event["taskNow"] = *k.task
	}
	k.connection.publish("call", event)
}
