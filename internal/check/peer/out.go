package peer

import (
	"encoding/json"
	"net/http"
	"slices"
)

// Out is a message to be sent.
type Out struct {
	Raw []byte // as it goes out
	// Header replaces headers of an HTTP request; one without values is left out.
	Header http.Header
	// HTTPMethod is the method of the HTTP request; "" means POST.
	HTTPMethod string
	// Path replaces the URL of the endpoint, if set.
	URL string
	// Query is added to the URL.
	Query string
}

// Frame makes a message of a value.
func Frame(v any) *Out { return &Out{Raw: Encode(v)} }

// With returns a copy of the message with one more header, or without one if no
// value is given.
func (o *Out) With(name string, values ...string) *Out {
	c := *o
	c.Header = o.Header.Clone()
	if c.Header == nil {
		c.Header = http.Header{}
	}
	c.Header[http.CanonicalHeaderKey(name)] = slices.Clip(values)
	return &c
}

// id is the ID of a request, or nil.
func (o *Out) id() json.RawMessage {
	v, err := Decode(o.Raw)
	if err != nil {
		return nil
	}
	m := Message{Value: v}
	m.adopt(v)
	if !m.IsRequest() {
		return nil
	}
	return m.ID
}
