package wire

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// ErrNotObject says that a JSON value is not an object.
var ErrNotObject = errors.New("not a JSON object")

// Members calls f for each member of the object doc, in order, with the
// decoded name and the raw value, until f returns an error.
func Members(doc []byte, f func(name string, value []byte) error) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(doc))
	if dec.PeekKind() != '{' {
		return ErrNotObject
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return err
		}
		if err := f(key, value); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// Without returns the object doc without the named members.
func Without(doc []byte, names ...string) ([]byte, error) {
	if err := Members(doc, func(string, []byte) error { return nil }); err != nil {
		return nil, err
	}
	return Except(doc, names...), nil
}

// Set returns the object doc with one member added or replaced; every other
// member keeps its place and its text.
func Set(doc []byte, name string, value []byte) ([]byte, error) {
	out, found := []byte{'{'}, false
	err := Members(doc, func(n string, v []byte) error {
		if n == name {
			v, found = value, true
		}
		var err error
		out, err = appendMember(out, n, v)
		return err
	})
	if err != nil {
		return nil, err
	}
	if !found {
		if out, err = appendMember(out, name, value); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

func appendMember(dst []byte, name string, value []byte) ([]byte, error) {
	if len(dst) > 1 {
		dst = append(dst, ',')
	}
	dst, err := jsontext.AppendQuote(dst, name)
	if err != nil {
		return dst, err
	}
	return append(append(dst, ':'), value...), nil
}
