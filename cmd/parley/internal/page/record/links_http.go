package record

import (
	"net/http"

	"github.com/parley-mcp/parley/mcp"
)

// seeHTTP takes in the beginning of an HTTP request or response.
func (l *links) seeHTTP(r *Recorder, h *Head, call *httpCall) {
	if call == nil {
		call = &httpCall{}
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
	x.Stream = true
	if before := l.events[h.Event]; h.Event != "" && before != nil {
		l.adopt(x, before.exchange, Resumed)
	}
	return x
}

// carried notes which exchange an HTTP request turned out to be part of.
func (l *links) carried(r *Recorder, h *Head, call *httpCall, x *Exchange) {
	call.last = h.Number
	if h.Event != "" && h.Direction == mcp.Received {
		if call.event != "" {
			delete(l.events, call.event)
		}
		call.event = h.Event
		l.events[h.Event] = call
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
