package record

import (
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"
)

// Row is a frame in a list. Times that something took are milliseconds.
type Row struct {
	Number     uint64    `json:"n"`
	Time       time.Time `json:"time"`
	Direction  string    `json:"direction"`
	Kind       Kind      `json:"kind"`
	Method     string    `json:"method,omitzero"`
	ID         string    `json:"id,omitzero"`
	Subject    string    `json:"subject,omitzero"`
	Size       int       `json:"size"`
	Took       *float64  `json:"took,omitzero"`
	Status     int       `json:"status,omitzero"`
	HTTP       uint64    `json:"http,omitzero"`
	Event      string    `json:"event,omitzero"`
	Exchange   uint64    `json:"exchange,omitzero"`
	Replayed   bool      `json:"replayed,omitzero"`
	Aside      bool      `json:"aside,omitzero"`
	Connection uint64    `json:"connection"`
	Session    string    `json:"session,omitzero"`
	Messages   int       `json:"messages,omitzero"`
	Dropped    string    `json:"dropped,omitzero"`
}

// Row returns what a list shows of a frame.
func (l Lens) Row(h Head) Row {
	row := Row{
		Number: h.Number, Time: h.Time, Direction: h.Direction.String(), Kind: h.Kind, Method: l.Text(h.Method), ID: l.Text(h.ID), Subject: l.Text(h.Subject), Size: h.Size,
		Status: h.Status, HTTP: h.HTTP, Event: h.Event, Exchange: h.Exchange, Connection: h.Connection, Messages: h.Messages,
		Replayed: h.Replayed, Aside: h.Aside, Session: l.Session(h.Session),
	}
	if h.Took > 0 {
		took := milliseconds(h.Took)
		row.Took = &took
	}
	if h.Dropped != 0 {
		row.Dropped = h.Dropped.String()
	}
	return row
}

// Session returns the ID of a session as it may be shown.
func (l Lens) Session(id string) string {
	if id == "" {
		return ""
	}
	return l.Header(map[string][]string{"Mcp-Session-Id": {id}})["Mcp-Session-Id"][0]
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Detail is a frame with its content. Exactly one of Message, Text and Base64 has it,
// unless there is none.
type Detail struct {
	Row
	Header  map[string][]string `json:"header,omitzero"`
	Message json.RawMessage     `json:"message,omitzero"`
	Text    string              `json:"text,omitzero"`
	Base64  []byte              `json:"base64,omitzero"`
	Error   string              `json:"error,omitzero"`
	// Explain says what the reason means for which the message was dropped.
	Explain string `json:"explain,omitzero"`
}

// Detail returns a frame with its content.
func (l Lens) Detail(f *Frame) Detail {
	d := Detail{Row: l.Row(f.Head), Header: l.Header(f.Header), Error: l.Text(f.Error)}
	if f.Dropped != 0 {
		d.Explain = f.Dropped.Explain()
	}
	content := l.Frame(f.Raw)
	malformed := slices.ContainsFunc(notesOf(content), func(n note) bool { return n.kind == Malformed })
	switch {
	case len(content) == 0:
	case !malformed:
		d.Message = content
	case utf8.Valid(content):
		d.Text = string(content)
	default:
		d.Base64 = content
	}
	return d
}

// ExchangeRow is an exchange as it is shown.
type ExchangeRow struct {
	Number     uint64        `json:"n"`
	Parent     uint64        `json:"parent,omitzero"`
	Why        Why           `json:"why,omitzero"`
	Inferred   bool          `json:"inferred,omitzero"`
	Method     string        `json:"method"`
	Subject    string        `json:"subject,omitzero"`
	ID         string        `json:"id,omitzero"`
	Asker      string        `json:"asker"`
	Stream     bool          `json:"stream,omitzero"`
	Aside      bool          `json:"aside,omitzero"`
	Connection uint64        `json:"connection"`
	First      uint64        `json:"first"`
	Last       uint64        `json:"last"`
	Request    uint64        `json:"request,omitzero"`
	Answer     uint64        `json:"answer,omitzero"`
	Frames     int           `json:"frames"`
	Started    time.Time     `json:"started"`
	Took       *float64      `json:"took,omitzero"`
	State      ExchangeState `json:"state"`
	Status     int           `json:"status,omitzero"`
	Code       int64         `json:"code,omitzero"`
}

// Exchange returns what is shown of an exchange.
func (l Lens) Exchange(x Exchange) ExchangeRow {
	row := ExchangeRow{
		Number: x.Number, Parent: x.Parent, Why: x.Why, Inferred: x.Inferred, Method: l.Text(x.Method), Subject: l.Text(x.Subject), ID: l.Text(x.ID), Asker: x.Asker.String(),
		Stream: x.Stream, Aside: x.Aside, Connection: x.Connection, First: x.First, Last: x.Last, Request: x.Request, Answer: x.Answer, Frames: x.Frames,
		Started: x.Started, State: x.State, Status: x.Status, Code: x.Code,
	}
	if !x.Ended.IsZero() {
		took := milliseconds(x.Took())
		row.Took = &took
	}
	return row
}

// HTTPView is an HTTP request with its response.
type HTTPView struct {
	Request  *Detail `json:"request,omitzero"`
	Response *Detail `json:"response,omitzero"`
}

// HTTPOf returns the HTTP request that a frame is part of, or nil.
func (r *Recorder) HTTPOf(number uint64, l Lens) *HTTPView {
	request, response := r.call(number)
	if request == nil && response == nil {
		return nil
	}
	v := &HTTPView{}
	if request != nil {
		d := l.Detail(request)
		v.Request = &d
	}
	if response != nil {
		d := l.Detail(response)
		v.Response = &d
	}
	return v
}
