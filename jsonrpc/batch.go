package jsonrpc

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// IsBatch reports whether a frame is an array, and so a batch.
//
// Spec: 2025-03-26 basic#batching.
func IsBatch(frame []byte) bool {
	trimmed := bytes.TrimLeft(frame, " \t\r\n")
	return len(trimmed) > 0 && trimmed[0] == '['
}

// Entry is one element of a batch: what Decoder.Decode returns for it.
type Entry struct {
	Message *Message
	Err     error // nil, or an *Error to answer with
}

// DecodeBatch reads a frame that holds an array of messages. An element that is
// refused is an Entry with an error and leaves the others alone; the error of
// DecodeBatch, an *Error, says that the array as a whole is not JSON, empty, or
// over a limit.
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

// AppendBatch appends messages that are encoded already, by Append for example,
// as one array.
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
