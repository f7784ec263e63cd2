package record

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"slices"

	"github.com/parley-mcp/parley/mcp"
)

// Filter says which frames are wanted. The zero value wants all.
type Filter struct {
	// After and Before bound the numbers; 0 is no bound.
	After, Before uint64
	// Text must be in the frame, or in the header of an HTTP request or response;
	// letters from A to Z match in both cases.
	Text      string
	Kinds     []Kind
	Methods   []string
	Direction mcp.Direction
	// Exchange is one that the frame must belong to, together with all that belong
	// to it.
	Exchange uint64
	// HTTP is the HTTP request that the frame must be part of.
	HTTP uint64
}

// Run is a run of numbers, both included.
type Run [2]uint64

// candidate is a frame that fits but for its text.
type candidate struct {
	number uint64
	offset int64
	length int
}

// Find returns the numbers of the frames that fit, in order, and the number up to which
// it has looked: those that come later are found by asking for what is after it.
func (r *Recorder) Find(ctx context.Context, f Filter) (found []Run, through uint64, err error) {
	err = r.each(ctx, f, func(c candidate) {
		if n := len(found); n > 0 && found[n-1][1]+1 == c.number {
			found[n-1][1]++
		} else {
			found = append(found, Run{c.number, c.number})
		}
	}, &through)
	return found, through, err
}

// each calls do with each frame that fits.
func (r *Recorder) each(ctx context.Context, f Filter, do func(candidate), through *uint64) error {
	members := r.members(f.Exchange)
	text := lower([]byte(f.Text))
	for at := f.After + 1; ; {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		name, candidates, next := r.candidates(at, f, members)
		if next == 0 {
			return nil
		}
		*through = next - 1
		if err := eachOf(ctx, name, candidates, text, do); err != nil {
			return err
		}
		at = next
	}
}

func (r *Recorder) members(exchange uint64) map[uint64]bool {
	if exchange == 0 {
		return nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.links.below(exchange)
}

// candidates looks through the segment that has a frame, or the first one after it. next
// is the number after the segment, or 0 if there is no more.
func (r *Recorder) candidates(at uint64, f Filter, members map[uint64]bool) (name string, found []candidate, next uint64) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	at = max(at, r.first)
	s, from := r.find(at)
	if s == nil {
		return "", nil, 0
	}
	for i := from; i < len(s.entries); i++ {
		if e := &s.entries[i]; f.fits(&e.Head, members) {
			found = append(found, candidate{e.Number, e.offset, e.Size + e.extra})
		}
	}
	return s.name, found, s.first + uint64(len(s.entries))
}

func (f *Filter) fits(h *Head, members map[uint64]bool) bool {
	return h.Number > f.After && (f.Before == 0 || h.Number < f.Before) &&
		(len(f.Kinds) == 0 || slices.Contains(f.Kinds, h.Kind)) &&
		(len(f.Methods) == 0 || slices.Contains(f.Methods, h.Method)) &&
		(f.Direction == 0 || f.Direction == h.Direction) &&
		(f.HTTP == 0 || f.HTTP == h.HTTP) &&
		(members == nil || members[h.Exchange])
}

// source reads the texts of the frames of a segment, in order.
type source struct {
	file *os.File
	in   *bufio.Reader
	at   int64
	text []byte
}

// read returns what the file has of a frame. It is valid until the next call.
func (s *source) read(c candidate) ([]byte, error) {
	if s.file == nil {
		return nil, ErrGone
	}
	if c.offset != s.at {
		if _, err := s.file.Seek(c.offset, io.SeekStart); err != nil {
			return nil, err
		}
		s.in.Reset(s.file)
	}
	s.text = slices.Grow(s.text[:0], c.length)[:c.length]
	n, err := io.ReadFull(s.in, s.text)
	s.at = c.offset + int64(n)
	return s.text, err
}

// eachOf calls do with the frames of one segment that have the text. A segment that was
// dropped in the meantime has none.
func eachOf(ctx context.Context, name string, all []candidate, text []byte, do func(candidate)) error {
	s := &source{}
	if in, err := os.Open(name); err == nil { //nolint:gosec // the folder is this package's own
		defer func() { _ = in.Close() }() // it was only read
		s.file, s.in = in, bufio.NewReaderSize(in, 256<<10)
	} else if len(text) > 0 {
		return nil //nolint:nilerr // it was dropped
	}
	for i, c := range all {
		if i%256 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if len(text) > 0 {
			have, err := s.read(c)
			if err != nil {
				return err
			}
			if !bytes.Contains(lower(have), text) {
				continue
			}
		}
		do(c)
	}
	return nil
}

// lower changes the letters from A to Z, in place.
func lower(b []byte) []byte {
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return b
}

// Numbers returns the numbers of runs, but at most a number of them.
func Numbers(runs []Run, most int) []uint64 {
	var all []uint64
	for _, run := range runs {
		for n := run[0]; n <= run[1]; n++ {
			if len(all) == most {
				return all
			}
			all = append(all, n)
		}
	}
	return all
}

// Count returns how many numbers runs have.
func Count(runs []Run) int {
	n := uint64(0)
	for _, run := range runs {
		n += run[1] - run[0] + 1
	}
	return int(n)
}
