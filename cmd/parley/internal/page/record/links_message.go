package record

import "github.com/parley-mcp/parley/mcp"

// seeMessage returns the exchange of a message, or nil if it has none, and notes what
// the message means for it. One that was dropped means nothing: it was seen before.
func (l *links) seeMessage(h *Head, n *note, call *httpCall) *Exchange {
	from := sender(h.Direction)
	switch n.kind {
	case Request:
		if h.Dropped != 0 {
			return l.open[askKey{h.Connection, from, n.id}]
		}
		return l.ask(h, n, call)
	case Notification:
		return l.notify(h, n, from)
	case Result, Failure:
		x := l.open[askKey{h.Connection, other(from), n.id}]
		if x != nil && h.Dropped == 0 {
			l.answer(x, h, n)
		}
		return x
	case Batch, Malformed, HTTP, Dropped: // the kinds of frames, not of messages
	}
	return nil
}

// ask begins an exchange, and finds the one that it is part of.
func (l *links) ask(h *Head, n *note, call *httpCall) *Exchange {
	var parent *Exchange
	var why Why
	inferred := false
	if sender(h.Direction) == mcp.ServerSide {
		parent, inferred = l.askedIn(h, n, call)
		why = Question
	} else {
		parent, why = l.follows(n)
	}
	x := l.begin(h, n.method)
	x.Subject, x.ID, x.Request, x.print, x.token = n.subject, n.id, h.Number, n.print, n.token
	x.Inferred = inferred
	known := mcp.MethodNamed(n.method)
	x.may = x.Asker == mcp.ClientSide && (known == nil || known.MayAsk)
	l.adopt(x, parent, why)
	l.open[askKey{h.Connection, x.Asker, n.id}] = x
	if n.token != "" {
		l.tokens[askKey{h.Connection, x.Asker, n.token}] = x
	}
	if n.method == mcp.MethodInitialize {
		l.opened[h.Connection] = x
	}
	return x
}

// follows returns the exchange that a request of the client continues.
//
// Spec: 2026-07-28 basic/patterns/mrtr#workflow.
func (l *links) follows(n *note) (*Exchange, Why) {
	if x := l.states[n.state]; x != nil && n.state != 0 {
		return l.root(x), Round
	}
	if n.input {
		for i := len(l.exchanges) - 1; i >= 0; i-- {
			if x := l.exchanges[i]; x.State == Input && x.Method == n.method && x.Subject == n.subject {
				return l.root(x), Round
			}
		}
	}
	if x := l.tasks[n.task]; x != nil && n.task != "" {
		return l.root(x), OfTask
	}
	if x := l.refused[n.print]; x != nil {
		delete(l.refused, n.print)
		return l.root(x), Repeat
	}
	return nil, ""
}

// askedIn returns the exchange that a question of the server is part of: the one on
// whose stream it came, or that of its task, or the only one that qualifies.
//
// Spec: 2025-11-25 basic/transports#sending-messages-to-the-server (6).
func (l *links) askedIn(h *Head, n *note, call *httpCall) (parent *Exchange, inferred bool) {
	if x := l.tasks[n.task]; x != nil && n.task != "" {
		return l.root(x), false
	}
	if call != nil && call.exchange != nil {
		if x := l.root(call.exchange); !x.Stream {
			return x, false
		}
	}
	for key, x := range l.open {
		if !x.may || key.connection != h.Connection {
			continue
		}
		if parent != nil {
			return nil, false
		}
		parent = x
	}
	return parent, parent != nil
}

// answer ends an exchange with its response.
func (l *links) answer(x *Exchange, h *Head, n *note) {
	delete(l.open, askKey{x.Connection, x.Asker, x.ID})
	h.Method, h.Subject, h.Took = x.Method, x.Subject, h.Time.Sub(x.Started)
	x.Answer = h.Number
	switch {
	case n.kind == Failure:
		x.Code = n.code
		x.over(Failed, h.Time)
		if n.code == mcp.CodeHeaderMismatch {
			l.refused[x.print] = x
		}
	case n.input:
		x.over(Input, h.Time)
		l.states[n.state] = x
	default:
		x.over(Done, h.Time)
	}
	if n.task != "" && l.tasks[n.task] == nil {
		l.tasks[n.task] = l.root(x)
	}
}

// notify returns the exchange that a notification belongs to.
func (l *links) notify(h *Head, n *note, from mcp.Side) *Exchange {
	switch {
	case n.method == mcp.NoteCancelled:
		key := askKey{h.Connection, from, n.target}
		x := l.open[key]
		if x != nil && h.Dropped == 0 {
			x.over(Cancelled, h.Time)
		}
		return x
	case n.token != "":
		return l.tokens[askKey{h.Connection, other(from), n.token}]
	case n.subscription != "":
		return l.open[askKey{h.Connection, other(from), n.subscription}]
	case n.task != "":
		return l.tasks[n.task]
	case n.method == mcp.NoteInitialized:
		return l.opened[h.Connection]
	}
	return nil
}

// givenUp returns the exchange whose response nobody waits for any longer: the only
// open one of its method.
func (l *links) givenUp(h *Head) *Exchange {
	var found *Exchange
	for key, x := range l.open {
		if key.connection != h.Connection || x.Asker != mcp.ClientSide || x.Method != h.Method {
			continue
		}
		if found != nil {
			return nil
		}
		found = x
	}
	if found != nil {
		if found.State == Open {
			found.over(GivenUp, h.Time)
		}
		l.belongs(found, h)
	}
	return found
}
