package jsonrpc

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// IsBatch reports whether the frame is an array, the form of a batch.
//
// Spec: 2025-03-26 basic#batching.
func IsBatch(frame []byte) bool {
	trimmed := bytes.TrimLeft(frame, " \t\r\n")
	return len(trimmed) > 0 && trimmed[0] == '['
}

// Entry is one element of a batch: a message, or the error to answer it with
// (then Message carries the ID, if there was one).
type Entry struct {
	Message *Message
	Err     error
}

// DecodeBatch reads a frame that holds an array of messages. A bad element does
// not affect the others; the error is about the array as a whole: not JSON,
// empty, or over a limit.
func (d *Decoder) DecodeBatch(frame []byte) ([]Entry, error) {
	if err := d.check(frame); err != nil {
		return nil, err
	}
	if !jsontext.Value(frame).IsValid(jsontext.AllowDuplicateNames(true)) {
		return nil, Errorf(CodeParseError, "parse error: the batch is not valid JSON")
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(frame), jsontext.AllowDuplicateNames(true))
	if _, err := dec.ReadToken(); err != nil {
		return nil, syntax(err)
	}
	var entries []Entry
	for dec.PeekKind() != ']' {
		value, err := dec.ReadValue()
		if err != nil {
			return nil, syntax(err)
		}
		if limit := or(d.MaxBatch, DefaultMaxBatch); len(entries) == limit {
			return nil, Errorf(CodeInvalidRequest, "batch has more than %d messages", limit)
		}
		m, err := d.Decode(bytes.Clone(value))
		entries = append(entries, Entry{m, err})
	}
	if len(entries) == 0 {
		return nil, Errorf(CodeInvalidRequest, "batch is empty")
	}
	return entries, nil
}

// AppendBatch appends already encoded messages as one array.
func AppendBatch(dst []byte, messages [][]byte) []byte {
	dst = append(dst, '[')
	for i, m := range messages {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, m...)
	}
	return append(dst, ']')
}
