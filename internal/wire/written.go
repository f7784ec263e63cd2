package wire

import "sync/atomic"

// Written is a value that appends itself to dst. It must append compact JSON on
// one line: Append uses it verbatim and does not check it again.
type Written func(dst []byte) ([]byte, error)

func appendWritten(dst []byte, w Written) ([]byte, error) {
	full, err := w(dst)
	if err != nil {
		return dst, err
	}
	return full, nil
}

// Entry is an entry of a list that does not change, with the encoded forms that
// it has had so far: one for each shape, of which there are few. It is safe for
// concurrent use.
type Entry struct {
	of       any
	original []byte
	forms    atomic.Pointer[form]
}

type form struct {
	shape any
	text  []byte
	next  *form
}

// NewEntry returns an entry without forms. of is a pointer to the value that
// the entry is for.
func NewEntry(of any) *Entry { return &Entry{of: of} }

// NewRawEntry returns an entry of a value that was decoded from original, which is
// compact JSON on one line. Its forms keep the members and numbers that the type of the
// value does not.
func NewRawEntry(of any, original []byte) *Entry { return &Entry{of: of, original: original} }

// Original returns what the value was decoded from, or nil.
func (e *Entry) Original() []byte { return e.original }

// Of reports whether e is the entry of this very value, not of a copy of it.
func (e *Entry) Of(v any) bool { return e.of == v }

// Form returns the encoded form for a shape, or nil if it is not known yet.
// The caller must not modify it.
func (e *Entry) Form(shape any) []byte {
	for f := e.forms.Load(); f != nil; f = f.next {
		if f.shape == shape {
			return f.text
		}
	}
	return nil
}

// Keep remembers the encoded form for a shape. Forms that are equal share
// their text.
func (e *Entry) Keep(shape any, text []byte) {
	for {
		first := e.forms.Load()
		for f := first; f != nil; f = f.next {
			if f.shape == shape {
				return
			}
			if string(f.text) == string(text) {
				text = f.text
			}
		}
		if e.forms.CompareAndSwap(first, &form{shape, text, first}) {
			return
		}
	}
}
