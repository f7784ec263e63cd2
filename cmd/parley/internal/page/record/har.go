package record

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/sse"
	"github.com/parley-mcp/parley/mcp"
)

// maxContent bounds what an entry of a HAR has of one response, or of one connection.
const maxContent = 32 << 20

// HAR writes the HTTP requests of the frames that a filter wants as HAR 1.2. The events
// of a stream are the text of its response, and once more with their times in
// _eventSourceMessages. What has no HTTP is an entry for each connection, with the
// messages in _webSocketMessages: the form in which browsers keep and show messages
// that go both ways.
//
// Spec: http://www.softwareishard.com/blog/har-12-spec/
func (r *Recorder) HAR(ctx context.Context, w io.Writer, f Filter, l Lens, t *target.Target, by mcp.Implementation) error {
	creator, err := json.Marshal(harCreator{by.Name, by.Version})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, `{"log":{"version":"1.2","creator":%s,"pages":[],"entries":[`+"\n", creator); err != nil {
		return err
	}
	h := &harWriter{w: w, lens: l, url: harURL(t, l)}
	calls, err := r.harCalls(ctx, f)
	if err != nil {
		return err
	}
	for _, numbers := range calls {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := h.write(r, numbers); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, "]}}\n")
	return err
}

// harCalls returns the frames of each entry, in the order of their first frames.
func (r *Recorder) harCalls(ctx context.Context, f Filter) ([][]uint64, error) {
	runs, _, err := r.Find(ctx, f)
	if err != nil {
		return nil, err
	}
	type entryOf struct{ http, connection uint64 }
	place := map[entryOf]int{}
	var calls [][]uint64
	for _, run := range runs {
		for n := run[0]; n <= run[1]; n++ {
			for _, h := range r.Heads([]uint64{n}) {
				key := entryOf{http: h.HTTP}
				if h.HTTP == 0 {
					key.connection = h.Connection
				}
				at, ok := place[key]
				if !ok {
					at = len(calls)
					place[key], calls = at, append(calls, nil)
				}
				calls[at] = append(calls[at], n)
			}
		}
	}
	return calls, nil
}

func harURL(t *target.Target, l Lens) string {
	if t.URL == "" {
		words := t.MaskedCommand()
		if l.secrets {
			words = t.Command
		}
		return "stdio:///" + url.PathEscape(strings.Join(words, " "))
	}
	if l.secrets {
		return t.URL
	}
	return t.MaskedURL()
}

type harWriter struct {
	w     io.Writer
	lens  Lens
	url   string
	wrote bool
}

func (h *harWriter) write(r *Recorder, numbers []uint64) error {
	e := newHAREntry(h.url)
	for _, n := range numbers {
		f, err := r.Frame(n)
		if err != nil {
			continue // it was dropped to make room
		}
		e.add(h.lens, f)
	}
	e.finish()
	if h.wrote {
		if _, err := io.WriteString(h.w, ","); err != nil {
			return err
		}
	}
	h.wrote = true
	return writeLine(h.w, e)
}

type (
	harCreator struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	harEntry struct {
		Started  time.Time   `json:"startedDateTime"`
		Time     float64     `json:"time"`
		Request  harRequest  `json:"request"`
		Response harResponse `json:"response"`
		Cache    struct{}    `json:"cache"`
		Timings  harTimings  `json:"timings"`
		Kind     string      `json:"_resourceType"`
		Comment  string      `json:"comment,omitempty"`
		Events   []harEvent  `json:"_eventSourceMessages,omitempty"`
		Messages []harText   `json:"_webSocketMessages,omitempty"`

		responded time.Time
		last      time.Time
		text      strings.Builder
		size      int
	}
	harRequest struct {
		Method      string    `json:"method"`
		URL         string    `json:"url"`
		HTTPVersion string    `json:"httpVersion"`
		Cookies     []harPair `json:"cookies"`
		Headers     []harPair `json:"headers"`
		Query       []harPair `json:"queryString"`
		PostData    *harPost  `json:"postData,omitempty"`
		HeadersSize int       `json:"headersSize"`
		BodySize    int       `json:"bodySize"`
	}
	harResponse struct {
		Status      int        `json:"status"`
		StatusText  string     `json:"statusText"`
		HTTPVersion string     `json:"httpVersion"`
		Cookies     []harPair  `json:"cookies"`
		Headers     []harPair  `json:"headers"`
		Content     harContent `json:"content"`
		Redirect    string     `json:"redirectURL"`
		HeadersSize int        `json:"headersSize"`
		BodySize    int        `json:"bodySize"`
	}
	harPair struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	harPost struct {
		MIME string `json:"mimeType"`
		Text string `json:"text"`
	}
	harContent struct {
		Size int    `json:"size"`
		MIME string `json:"mimeType"`
		Text string `json:"text"`
	}
	harTimings struct {
		Send    float64 `json:"send"`
		Wait    float64 `json:"wait"`
		Receive float64 `json:"receive"`
	}
	harEvent struct {
		Time float64 `json:"time"` // seconds
		Name string  `json:"eventName"`
		ID   string  `json:"eventId"`
		Data string  `json:"data"`
	}
	harText struct {
		Type   string  `json:"type"` // "send" or "receive"
		Time   float64 `json:"time"` // seconds
		Opcode int     `json:"opcode"`
		Data   string  `json:"data"`
	}
)

// unknown is the size of what HAR wants to know and nobody counted.
const unknown = -1

func newHAREntry(address string) *harEntry {
	e := &harEntry{Kind: "fetch"}
	e.Request = harRequest{URL: address, HTTPVersion: "HTTP/1.1", Cookies: []harPair{}, Headers: []harPair{}, Query: []harPair{}, HeadersSize: unknown}
	if u, err := url.Parse(address); err == nil {
		for _, name := range slices.Sorted(maps.Keys(u.Query())) {
			for _, value := range u.Query()[name] {
				e.Request.Query = append(e.Request.Query, harPair{name, value})
			}
		}
	}
	e.Response = harResponse{HTTPVersion: "HTTP/1.1", Cookies: []harPair{}, Headers: []harPair{}, HeadersSize: unknown, BodySize: unknown}
	return e
}

// add takes in a frame of the entry.
func (e *harEntry) add(l Lens, f *Frame) {
	if e.Started.IsZero() {
		e.Started = f.Time
	}
	e.last = f.Time
	switch {
	case f.Dropped != 0: // it was seen before, if it travelled
	case f.Kind == HTTP && f.Status == 0:
		e.Request.Method, e.Request.Headers = f.Method, harPairs(l.Header(f.Header))
	case f.Kind == HTTP:
		e.responded = f.Time
		e.Response.Status, e.Response.StatusText, e.Response.Headers = f.Status, http.StatusText(f.Status), harPairs(l.Header(f.Header))
		e.Response.Content.MIME = strings.Join(f.Header["Content-Type"], ", ")
	case e.size+f.Size > maxContent:
		e.Comment = "more was recorded than fits in here: export it as JSON lines to have it all"
	case f.HTTP == 0:
		e.message(l, f)
	case f.Direction == mcp.Sent:
		e.Request.PostData = &harPost{"application/json", string(l.Frame(f.Raw))}
		e.Request.BodySize = f.Size
	default:
		e.received(l, f)
	}
}

// received adds what came with a response.
func (e *harEntry) received(l Lens, f *Frame) {
	e.size += f.Size
	data := l.Frame(f.Raw)
	if !strings.HasPrefix(e.Response.Content.MIME, sse.ContentType) {
		e.text.Write(data)
		return
	}
	e.text.Write(sse.Append(nil, sse.Message(f.Event, data)))
	e.Events = append(e.Events, harEvent{seconds(f.Time), "message", f.Event, string(data)})
}

// message adds what travelled without HTTP.
func (e *harEntry) message(l Lens, f *Frame) {
	e.size += f.Size
	kind := "send"
	if f.Direction == mcp.Received {
		kind = "receive"
	}
	e.Kind = "websocket"
	e.Request.Method, e.Response.Status, e.Response.StatusText = http.MethodGet, http.StatusSwitchingProtocols, http.StatusText(http.StatusSwitchingProtocols)
	e.Comment = "there was no HTTP: these are the messages of one connection to a command"
	e.Messages = append(e.Messages, harText{kind, seconds(f.Time), 1, string(l.Frame(f.Raw))})
}

func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

func (e *harEntry) finish() {
	e.Response.Content.Text, e.Response.Content.Size = e.text.String(), e.text.Len()
	if e.Response.Content.MIME == "" {
		e.Response.Content.MIME = "x-unknown"
	}
	if e.responded.IsZero() {
		e.responded = e.last
	}
	e.Timings = harTimings{0, milliseconds(e.responded.Sub(e.Started)), milliseconds(e.last.Sub(e.responded))}
	e.Time = e.Timings.Wait + e.Timings.Receive
}

func harPairs(header map[string][]string) []harPair {
	pairs := []harPair{}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			pairs = append(pairs, harPair{name, value})
		}
	}
	return pairs
}
