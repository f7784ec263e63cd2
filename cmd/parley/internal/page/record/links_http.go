package record

import (
	"net/http"

	"github.com/parley-mcp/parley/mcp"
)

// seeHTTP takes in the beginning of an HTTP request or response.
func (l *links) seeHTTP(r *Recorder, h *Head, call *httpCall) {
	if call == nil {
		call = &httpCall{resumes: h.Status == 0 && h.Event != ""}
		l.calls[h.HTTP] = call
	}
	call.heads, call.last = append(call.heads, h.Number), h.Number
	if h.Status == 0 {
		call.exchange = l.streamOf(h)
	}
	x := call.exchange
	if x == nil { // the message that it carries tells
		return
	}
	h.Exchange = x.Number
	l.belongs(x, h)
	if h.Status == 0 {
		return
	}
	x.Status = h.Status
	if begun := r.head(call.heads[0]); begun != nil {
		h.Took = h.Time.Sub(begun.Time)
	}
	l.answered(x, h)
}

// answered says what the status alone means for an exchange.
func (l *links) answered(x *Exchange, h *Head) {
	switch {
	case h.Status >= http.StatusBadRequest && x.State == Open:
		x.over(Refused, h.Time)
		l.refused[x.print] = x
	case x.Stream && h.Method == http.MethodDelete:
		x.over(Done, h.Time)
		l.left(x)
	}
}

// streamOf returns the exchange of a request without a message: that of the stream
// which it resumes, or a new one. For any other it returns nil.
//
// Spec: 2025-11-25 basic/transports#resumability-and-redelivery (2).
func (l *links) streamOf(h *Head) *Exchange {
	if h.Method == http.MethodPost {
		return nil
	}
	x := l.begin(h, h.Method)
	x.Stream, x.Aside = true, h.Aside
	if before, known := l.events[eventKey{h.Session, h.Event}]; h.Event != "" && known {
		l.adopt(x, before.call.exchange, Resumed)
	}
	return x
}

// carried notes which exchange an HTTP request turned out to be part of.
func (l *links) carried(r *Recorder, h *Head, call *httpCall, x *Exchange) {
	call.last = h.Number
	if h.Event != "" && h.Direction == mcp.Received {
		l.hear(r, h, call)
	}
	switch {
	case x == nil:
	case call.exchange == nil:
		call.exchange = x
		for _, n := range call.heads {
			if begun := r.head(n); begun != nil {
				begun.Exchange = x.Number
				x.First = min(x.First, n)
				x.Frames++
			}
		}
	case call.exchange.Stream && (h.Kind == Result || h.Kind == Failure):
		l.adopt(call.exchange, x, Resumed) // only a stream that was resumed brings an answer
	}
}

// hear notes where an event came first. Only on a stream that was resumed can a server
// send one again; elsewhere the same ID is another event of a server that is careless
// with them.
func (l *links) hear(r *Recorder, h *Head, call *httpCall) {
	key := eventKey{h.Session, h.Event}
	before, known := l.events[key]
	if !known || !call.resumes {
		l.events[key] = event{h.Number, call}
		return
	}
	h.Replayed = true
	if first := r.head(before.frame); first != nil && h.Method == "" { // an answer, whose request has its answer
		h.Method, h.Subject = first.Method, first.Subject
	}
}
