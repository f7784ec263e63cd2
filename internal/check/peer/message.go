// Package peer is the wire below any client or server: frames and HTTP
// exchanges as the bytes they are, sent as somebody wrote them, right or wrong,
// and kept in a log. What the checker judges is in that log.
package peer

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/jsonptr"
)

// Message is one message, or what came in place of one. Its fields do not
// change once it is in a Log, except Request and Response.
type Message struct {
	Number int           // its place in the log, from 1
	At     time.Duration // since the log began
	Conn   int           // the number of its connection
	Sent   bool          // by the checker
	Raw    []byte        // as it was, up to the limit of the log
	Cut    int           // how many bytes are left out of Raw

	Exchange *Exchange // the HTTP exchange that carried it, or nil
	Event    *Event    // the event that it came in, or nil
	Replayed bool      // it came before, and again on a stream that was resumed

	// Bad says why it is not a JSON value. All below is unset then.
	Bad error
	// Value is the decoded text, with numbers as json.Number.
	Value  any
	ID     json.RawMessage // nil if there is no such member
	Method string

	// Items are the elements of a batch, which are in the log themselves, and
	// Batch is what an element came in.
	Items []*Message
	Batch *Message

	request  *Message // of a response: what it answers, if anything
	response *Message // of a request: the first answer
}

// Event is an event of an event stream.
type Event struct {
	Name string // "" if the stream named none
	ID   string
	// HasID is set if there was a line for the ID, even an empty one.
	HasID bool
	Retry string
	Data  []byte
	// HasData is set if there was a line of data, even an empty one.
	HasData bool
}

// Exchange is an HTTP request and what came of it.
type Exchange struct {
	Number int           // among the exchanges of the log, from 1
	At     time.Duration // since the log began
	Conn   int

	Method string
	URL    string
	Header http.Header // as sent
	Body   []byte

	// Status is 0 until the head of the response came.
	Status         int
	ResponseHeader http.Header
	// Text is a body that is no event stream, up to the limit of the log.
	Text []byte
	// Events are all events, also those without a message.
	Events []*Event
	// Messages came in the response.
	Messages []*Message
	// Secret are the names of headers that the user gave: their values are shown
	// to nobody.
	Secret []string
	// Message is what the request carried, or nil.
	Message *Message
	// Err is why the exchange failed, and Done is set once it has ended.
	Err  error
	Done bool
	// Ended is when it did.
	Ended time.Duration
	// Aborted is set if the checker ended it.
	Aborted bool
	// Incoming is set if the peer made the request and the checker answered it: then
	// "sent" and "came" are the other way round in the fields above.
	Incoming bool
	// Left is set if the peer of an incoming exchange did not wait for its end.
	Left bool
}

// IsStream reports whether the response is an event stream.
func (e *Exchange) IsStream() bool {
	return e.Status != 0 && MediaType(e.ResponseHeader) == "text/event-stream"
}

// MediaType returns the media type of a body, in lower case and without
// parameters.
func MediaType(h http.Header) string {
	t, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(t))
}

// parse decodes the text of a message.
func (m *Message) parse() {
	m.Value, m.Bad = Decode(m.Raw)
	if m.Cut > 0 {
		m.Bad = errors.New("the message is too long to be kept")
	}
	if m.Bad == nil {
		m.adopt(m.Value)
	}
}

// adopt takes the envelope out of a decoded value.
func (m *Message) adopt(v any) {
	object, ok := v.(map[string]any)
	if !ok {
		return
	}
	if id, ok := object["id"]; ok {
		m.ID = Encode(id)
	}
	m.Method, _ = object["method"].(string)
}

// Decode decodes one JSON value, with numbers as json.Number.
func Decode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if d.More() || len(bytes.TrimSpace(text[d.InputOffset():])) > 0 {
		return nil, errors.New("there is more than one JSON value")
	}
	return v, nil
}

// Encode is the JSON of a value that the checker made or has decoded.
func Encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("peer: encoding a value of the checker: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Has reports whether the message is an object with a member at the top.
func (m *Message) Has(name string) bool {
	object, ok := m.Value.(map[string]any)
	if !ok {
		return false
	}
	_, ok = object[name]
	return ok
}

// IsRequest reports whether it is a request: it has a method and an ID.
func (m *Message) IsRequest() bool { return m.Has("method") && m.Has("id") }

// IsNotification reports whether it has a method and no ID.
func (m *Message) IsNotification() bool { return m.Has("method") && !m.Has("id") }

// IsResponse reports whether it is an answer: a result or an error.
func (m *Message) IsResponse() bool { return !m.Has("method") && (m.Has("result") || m.Has("error")) }

// IsResult reports whether it is an answer with a result.
func (m *Message) IsResult() bool { return m.IsResponse() && m.Has("result") && !m.Has("error") }

// IsError reports whether it is an answer with an error.
func (m *Message) IsError() bool { return m.IsResponse() && m.Has("error") }

// Get returns the value at a JSON pointer without the slash in front, such as
// result/tools/0/name, and whether there is one.
func (m *Message) Get(path string) (any, bool) { return Get(m.Value, path) }

// Text returns the string at a path, or "".
func (m *Message) Text(path string) string {
	v, _ := m.Get(path)
	s, _ := v.(string)
	return s
}

// List returns the array at a path, or nil.
func (m *Message) List(path string) []any {
	v, _ := m.Get(path)
	list, _ := v.([]any)
	return list
}

// Object returns the object at a path, or nil.
func (m *Message) Object(path string) map[string]any {
	v, _ := m.Get(path)
	object, _ := v.(map[string]any)
	return object
}

// Same reports whether another message says the same, whatever the order of its
// members.
func (m *Message) Same(other *Message) bool {
	if m.Bad != nil || other.Bad != nil {
		return bytes.Equal(m.Raw, other.Raw)
	}
	return reflect.DeepEqual(m.Value, other.Value)
}

// Code returns the code of an error, and whether it has one that is an integer.
func (m *Message) Code() (int, bool) {
	v, _ := m.Get("error/code")
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	code, err := strconv.Atoi(n.String())
	return code, err == nil
}

// Get returns the value at a JSON pointer without the slash in front, below a
// decoded value, and whether there is one.
func Get(v any, path string) (any, bool) {
	if path == "" {
		return v, true
	}
	for name := range strings.SplitSeq(path, "/") {
		name = jsonptr.Unescape(name)
		switch at := v.(type) {
		case map[string]any:
			next, ok := at[name]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			n, err := strconv.Atoi(name)
			if err != nil || n < 0 || n >= len(at) {
				return nil, false
			}
			v = at[n]
		default:
			return nil, false
		}
	}
	return v, true
}
