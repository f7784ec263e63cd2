package peer

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// How often, and after what time at least, a stream is resumed.
const (
	mostResumed = 20
	leastRetry  = 100 * time.Millisecond
)

// resume asks for the rest of a stream that ended before the answer came.
//
// Spec: 2025-11-25 basic/transports#sending-messages-to-the-server (6).
func (r *Reply) resume(ctx context.Context) bool {
	id, retry := "", time.Duration(0)
	r.conn.Log.Look(func() { id, retry = r.cursor() })
	if id == "" || len(r.resumed) == mostResumed {
		return false
	}
	pause := time.NewTimer(max(retry, leastRetry))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
		return false
	}
	again := r.conn.Get(ctx, http.Header{"Last-Event-Id": {id}})
	r.resumed = append(r.resumed, again)
	return again.Err == nil
}

// cursor is the ID to resume the stream of a request from, or "" if it can't be
// or need not be resumed, and how long to wait before. The log is locked.
func (r *Reply) cursor() (id string, retry time.Duration) {
	last := r.carrier()
	if !r.conn.Resumes || last == nil || r.Sent == nil || !r.Sent.IsRequest() || last.Aborted || !last.IsStream() || r.conn.Log.full() {
		return "", 0
	}
	for _, event := range last.Events {
		if event.HasID {
			id = event.ID
		}
		if ms, err := strconv.Atoi(event.Retry); err == nil {
			retry = time.Duration(ms) * time.Millisecond
		}
	}
	return id, retry
}

// carrier is the exchange that an answer may still come on.
func (r *Reply) carrier() *Exchange {
	if n := len(r.resumed); n > 0 {
		return r.resumed[n-1].Exchange
	}
	return r.Exchange
}
