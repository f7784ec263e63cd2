package record

import (
	"fmt"
	"os"
	"slices"
	"sort"

	"github.com/parley-mcp/parley/internal/wire"
)

// Frame is a frame with all that was recorded of it.
type Frame struct {
	Head
	// Raw is the frame as it travelled, nil for the beginning of an HTTP request or
	// response.
	Raw []byte
	// Header is that of the HTTP request or response that begins here.
	Header map[string][]string
	// Error says more about a dropped message.
	Error string
}

// find returns the segment that has a frame and its place in it, or nil.
func (r *Recorder) find(number uint64) (*segment, int) {
	i := sort.Search(len(r.segments), func(i int) bool { return r.segments[i].first > number })
	if i == 0 {
		return nil, 0
	}
	s := r.segments[i-1]
	if at := number - s.first; at < uint64(len(s.entries)) {
		return s, int(at) //nolint:gosec // less than a length
	}
	return nil, 0
}

// head returns the head of a frame under the lock, or nil.
func (r *Recorder) head(number uint64) *Head {
	s, i := r.find(number)
	if s == nil {
		return nil
	}
	return &s.entries[i].Head
}

// Frame returns a frame, as it is: whoever shows it must mask it.
func (r *Recorder) Frame(number uint64) (*Frame, error) {
	r.mu.RLock()
	s, i := r.find(number)
	if s == nil {
		r.mu.RUnlock()
		return nil, fmt.Errorf("frame %d: %w", number, ErrGone)
	}
	e, name := s.entries[i], s.name
	r.mu.RUnlock()
	in, err := os.Open(name) //nolint:gosec // the folder is this package's own
	if err != nil {
		return nil, fmt.Errorf("frame %d: %w", number, ErrGone)
	}
	defer func() { _ = in.Close() }() // it was only read
	text := make([]byte, e.Size+e.extra)
	if _, err := in.ReadAt(text, e.offset); err != nil {
		return nil, fmt.Errorf("frame %d: %w", number, err)
	}
	return e.frame(text), nil
}

// frame puts together what the index and the file know.
func (e *entry) frame(text []byte) *Frame {
	f := &Frame{Head: e.Head}
	if e.Size > 0 {
		f.Raw = text[:e.Size:e.Size]
	}
	var x extra
	if e.extra > 0 && wire.Unmarshal(text[e.Size:], &x) == nil { // this package wrote it
		f.Header, f.Error = x.Header, x.Error
	}
	return f
}

// Heads returns the heads of the frames with the given numbers, without those that
// are gone.
func (r *Recorder) Heads(numbers []uint64) []Head {
	r.mu.RLock()
	defer r.mu.RUnlock()
	heads := make([]Head, 0, len(numbers))
	for _, n := range numbers {
		if h := r.head(n); h != nil {
			heads = append(heads, *h)
		}
	}
	return heads
}

// Exchange returns an exchange.
func (r *Recorder) Exchange(number uint64) (Exchange, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if x := r.links.get(number); x != nil {
		return *x, nil
	}
	return Exchange{}, fmt.Errorf("exchange %d: %w", number, ErrGone)
}

// Family returns the exchange that the given one belongs to in the end, and after it
// all that belong to that, in order.
func (r *Recorder) Family(number uint64) ([]Exchange, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	x := r.links.get(number)
	if x == nil {
		return nil, fmt.Errorf("exchange %d: %w", number, ErrGone)
	}
	root := r.links.root(x)
	family := []Exchange{*root}
	members := r.links.below(root.Number)
	for _, x := range r.links.exchanges {
		if x != root && members[x.Number] {
			family = append(family, *x)
		}
	}
	return family, nil
}

// below returns an exchange and all that belong to it. Parents are older than their
// children, so that one look at each is enough.
func (l *links) below(number uint64) map[uint64]bool {
	members := map[uint64]bool{number: true}
	for _, x := range l.exchanges {
		if members[x.Parent] {
			members[x.Number] = true
		}
	}
	return members
}

// Exchanges returns up to limit exchanges that are older than before (0 means the
// newest), the newest first, without those that are part of another one.
func (r *Recorder) Exchanges(before uint64, limit int) []Exchange {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var found []Exchange
	for _, x := range slices.Backward(r.links.exchanges) {
		if len(found) == limit {
			break
		}
		if (before == 0 || x.Number < before) && r.links.root(x) == x {
			found = append(found, *x)
		}
	}
	return found
}

// Since returns the exchanges that began after a frame, oldest first.
func (r *Recorder) Since(number uint64) []Exchange {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var found []Exchange
	for _, x := range r.links.exchanges {
		if x.First > number {
			found = append(found, *x)
		}
	}
	return found
}

// Counts returns how many frames there are of each method and of each kind.
func (r *Recorder) Counts() (methods map[string]int, kinds map[Kind]int) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	methods, kinds = map[string]int{}, map[Kind]int{}
	for _, s := range r.segments {
		for i := range s.entries {
			h := &s.entries[i].Head
			kinds[h.Kind]++
			if h.Method != "" {
				methods[h.Method]++
			}
		}
	}
	return methods, kinds
}
