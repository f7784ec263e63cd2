// Package load is the generator: connections that send prepared requests, and
// the loop that drives them.
package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/parley-mcp/parley/bench/payload"
)

// Conn is a connection to a server.
type Conn interface {
	// Call sends a request under a new ID and returns its answer, which is
	// valid until the next call.
	Call(r *payload.Request) (Answer, error)
	Close() error
}

// Answer is what came back for a request.
type Answer struct {
	// Message is the response, and ID the ID it has to have.
	Message []byte
	ID      []byte
	// Notifications is how many notifications came before it.
	Notifications int
	// Took is the time from the first byte sent to the last byte received.
	Took time.Duration
}

// Op is one unit of work, which may take several requests. It returns how long
// the server took, without the generator's own checks.
type Op func() (time.Duration, error)

// Run is the outcome of a loop.
type Run struct {
	Ops     int
	Elapsed time.Duration
	// Latencies are sorted.
	Latencies []time.Duration
}

// Loop repeats each op, sequentially but concurrently with the other ops, until
// d has passed.
func Loop(d time.Duration, ops []Op) (Run, error) {
	start := time.Now()
	seen := make([][]time.Duration, len(ops))
	errs := make([]error, len(ops))
	var all sync.WaitGroup
	for i, op := range ops {
		all.Go(func() { seen[i], errs[i] = repeat(start.Add(d), op) }) // ends at the deadline
	}
	all.Wait()
	r := Run{Elapsed: time.Since(start), Latencies: slices.Concat(seen...)}
	r.Ops = len(r.Latencies)
	slices.Sort(r.Latencies)
	for _, err := range errs {
		if err != nil {
			return r, err
		}
	}
	return r, nil
}

// repeat runs op at least once.
func repeat(until time.Time, op Op) ([]time.Duration, error) {
	var seen []time.Duration
	for {
		took, err := op()
		if err != nil {
			return seen, err
		}
		seen = append(seen, took)
		if !time.Now().Before(until) {
			return seen, nil
		}
	}
}

// head has the members that distinguish the kinds of messages.
type head struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

// headSize is the number of bytes in which the members of a message other than
// its payload are found, whichever server wrote it: decoding a large message
// completely would cost the generator more than it costs the server.
const headSize = 256

// headOf returns the head of a message.
func headOf(msg []byte) (head, error) {
	var h head
	front := msg[:min(len(msg), headSize)]
	if i := bytes.Index(front, []byte(`"result":`)); i >= 0 && !bytes.Contains(front[:i], []byte(`"method":`)) {
		if id := numberAfter(front, `"id":`); id != nil {
			return head{ID: id}, nil
		}
	}
	if err := json.Unmarshal(msg, &h); err != nil {
		return h, fmt.Errorf("%w in %.200s", err, msg)
	}
	return h, nil
}

func numberAfter(b []byte, key string) []byte {
	i := bytes.Index(b, []byte(key))
	if i < 0 {
		return nil
	}
	b = bytes.TrimLeft(b[i+len(key):], " ")
	n := bytes.IndexFunc(b, func(r rune) bool { return r < '0' || r > '9' })
	if n <= 0 {
		return nil
	}
	return b[:n]
}
