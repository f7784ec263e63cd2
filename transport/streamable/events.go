package streamable

import (
	"errors"
	"sync"
)

// EventStore keeps the messages of streams for clients that come back for them.
// Implementations must be safe for concurrent use, and should be bounded: they may
// forget old events.
//
// Spec: 2025-11-25 basic/transports#resumability-and-redelivery.
type EventStore interface {
	// Append stores event number seq of a stream; numbers count up from 1. It must
	// copy the data.
	Append(session, stream string, seq uint64, data []byte) error
	// After returns the events of a stream after number seq, in order. It fails
	// with ErrForgotten if one of them is no longer kept.
	After(session, stream string, seq uint64) ([][]byte, error)
	// DropStream forgets a stream that can no longer be resumed.
	DropStream(session, stream string)
	// Drop forgets all streams of a session.
	Drop(session string)
}

// ErrForgotten says that events were forgotten, so that a stream cannot be resumed
// without a gap.
var ErrForgotten = errors.New("the events are no longer kept")

// MemoryOptions bound NewMemoryEvents.
type MemoryOptions struct {
	// MaxStream bounds the events of one stream in bytes, and MaxTotal those of
	// all streams. 0 means 1 MiB and 256 MiB. Beyond either, the oldest events of
	// the stream that is being appended to are forgotten.
	MaxStream, MaxTotal int
}

// NewMemoryEvents returns a bounded store in memory. opts may be nil.
func NewMemoryEvents(opts *MemoryOptions) EventStore {
	m := &memoryEvents{sessions: map[string]map[string]*eventLog{}, maxStream: 1 << 20, maxTotal: 256 << 20}
	if opts != nil && opts.MaxStream > 0 {
		m.maxStream = opts.MaxStream
	}
	if opts != nil && opts.MaxTotal > 0 {
		m.maxTotal = opts.MaxTotal
	}
	return m
}

type memoryEvents struct {
	maxStream, maxTotal int

	mu       sync.Mutex
	total    int
	sessions map[string]map[string]*eventLog
}

// eventLog is a stream's events from number first on.
type eventLog struct {
	first uint64
	data  [][]byte
	size  int
}

func (m *memoryEvents) Append(session, stream string, seq uint64, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	streams := m.sessions[session]
	if streams == nil {
		streams = map[string]*eventLog{}
		m.sessions[session] = streams
	}
	log := streams[stream]
	if log == nil {
		log = &eventLog{first: seq}
		streams[stream] = log
	}
	log.data = append(log.data, append([]byte(nil), data...))
	log.size += len(data)
	m.total += len(data)
	for len(log.data) > 0 && (log.size > m.maxStream || m.total > m.maxTotal) {
		m.forgetOldest(log)
	}
	return nil
}

func (m *memoryEvents) forgetOldest(log *eventLog) {
	n := len(log.data[0])
	log.data[0] = nil
	log.data = log.data[1:]
	log.first++
	log.size -= n
	m.total -= n
}

func (m *memoryEvents) After(session, stream string, seq uint64) ([][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	log := m.sessions[session][stream]
	if log == nil {
		return nil, nil
	}
	if seq+1 < log.first {
		return nil, ErrForgotten
	}
	from := min(seq+1-log.first, uint64(len(log.data)))
	return append([][]byte(nil), log.data[from:]...), nil
}

func (m *memoryEvents) DropStream(session, stream string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if log := m.sessions[session][stream]; log != nil {
		m.total -= log.size
		delete(m.sessions[session], stream)
	}
}

func (m *memoryEvents) Drop(session string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, log := range m.sessions[session] {
		m.total -= log.size
	}
	delete(m.sessions, session)
}
