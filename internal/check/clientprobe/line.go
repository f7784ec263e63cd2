package clientprobe

import (
	"slices"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
)

// Line is one conversation with the client: the streams of a process, a session
// over HTTP, or all that is said over HTTP in a stateless revision.
type Line struct {
	*Stage

	// Number is that of the connection in the log.
	Number int
	// Session is the ID of the session, over HTTP.
	Session string

	conn    *peer.Conn // over stdio
	process *process   // likewise, if the client has one

	lmu       sync.Mutex
	standing  *peer.Visit // the stream for what belongs to no request
	held      []object    // what waits for it
	hello     *peer.Message
	ready     bool // notifications/initialized came
	over      bool // the server has ended the session
	waiting   map[string]chan *peer.Message
	cancelled map[string]chan struct{}
	listeners []*Turn // open subscriptions/listen, and
	uris      []string
	level     string
}

// Capabilities are what the client has declared for the session.
func (l *Line) Capabilities() object {
	l.lmu.Lock()
	defer l.lmu.Unlock()
	if l.hello == nil {
		return nil
	}
	return l.hello.Object("params/capabilities")
}

// hear takes a message of the client. Requests get a turn of their own.
func (l *Line) hear(m *peer.Message) {
	switch {
	case m.IsRequest():
		l.run(newTurn(l, m, nil).play)
	case m.IsNotification():
		l.notified(m)
	case m.IsResponse():
		l.lmu.Lock()
		answer := l.waiting[string(m.ID)]
		delete(l.waiting, string(m.ID))
		l.lmu.Unlock()
		if answer != nil {
			answer <- m
		}
	}
}

// notified does what a good server does with a notification.
func (l *Line) notified(m *peer.Message) {
	switch m.Method {
	case "notifications/initialized":
		l.begin()
	case "notifications/cancelled":
		id, _ := m.Get("params/requestId")
		l.cancel(string(peer.Encode(id)))
	}
	if on := l.Scenario.On[m.Method]; on != nil {
		t := newTurn(l, m, nil)
		l.run(func() { on(t) })
	}
}

func (l *Line) begin() {
	l.lmu.Lock()
	first := !l.ready
	l.ready = true
	l.lmu.Unlock()
	if first && l.Scenario.Ready != nil {
		l.run(func() { l.Scenario.Ready(l) })
	}
}

// cancelling returns a channel that is closed when the request is cancelled.
func (l *Line) cancelling(id string) chan struct{} {
	l.lmu.Lock()
	defer l.lmu.Unlock()
	if l.cancelled[id] == nil {
		l.cancelled[id] = make(chan struct{})
	}
	return l.cancelled[id]
}

func (l *Line) cancel(id string) {
	c := l.cancelling(id)
	l.lmu.Lock()
	defer l.lmu.Unlock()
	select {
	case <-c:
	default:
		close(c)
	}
}

// Push sends a message that belongs to no request: on the standing stream, over
// HTTP. It waits there until the client has opened it.
func (l *Line) Push(message object) {
	for _, one := range l.shape(message) {
		l.push(one)
	}
}

func (l *Line) push(message object) {
	switch {
	case l.conn != nil:
		l.conn.Start(l.ctx, peer.Frame(message)).Stop()
	default:
		l.lmu.Lock()
		defer l.lmu.Unlock()
		if l.standing == nil {
			l.held = append(l.held, message)
			return
		}
		l.standing.Event(event(peer.Encode(message)), true)
	}
}

// stand makes a visit the standing stream, until the client or the stage ends it.
func (l *Line) stand(v *peer.Visit) {
	l.lmu.Lock()
	l.standing = v
	for _, message := range l.held {
		v.Event(event(peer.Encode(message)), true)
	}
	l.held = nil
	l.lmu.Unlock()
	select {
	case <-v.Gone():
	case <-l.ctx.Done():
	}
	l.lmu.Lock()
	if l.standing == v {
		l.standing = nil
	}
	l.lmu.Unlock()
}

func event(data []byte) *peer.Event {
	return &peer.Event{Name: "message", Data: data, HasData: true}
}

// shape lets the scenario change a message.
func (s *Stage) shape(message object) []object {
	if s.Scenario.Send == nil {
		return []object{message}
	}
	return s.Scenario.Send(s, message)
}

// Ask sends a request of the server that belongs to none of the client's, and
// waits for the answer. It returns nil if none came.
func (l *Line) Ask(method string, params object) *peer.Message {
	return l.ask(l.nextID(), method, params, func(m object) { l.Push(m) }, time.Hour)
}

func (l *Line) ask(id any, method string, params object, send func(object), limit time.Duration) *peer.Message {
	answer := make(chan *peer.Message, 1)
	l.lmu.Lock()
	l.waiting[string(peer.Encode(id))] = answer
	l.lmu.Unlock()
	m := object{"jsonrpc": "2.0", "id": id, "method": method}
	if params != nil {
		m["params"] = params
	}
	send(m)
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case r := <-answer:
		return r
	case <-timer.C:
		return nil
	case <-l.ctx.Done():
		return nil
	}
}

// Publish tells the client of a change, if it has asked for that: see the
// filter of subscriptions/listen. uri is that of the resource, or "".
//
// Spec: 2026-07-28 basic/patterns/subscriptions#receiving-notifications.
func (l *Line) Publish(method, uri string) {
	params := object{}
	if uri != "" {
		params["uri"] = uri
	}
	if !l.Stateless {
		l.lmu.Lock()
		wanted := uri == "" || slices.Contains(l.uris, uri)
		l.lmu.Unlock()
		if wanted {
			l.Push(object{"jsonrpc": "2.0", "method": method, "params": params})
		}
		return
	}
	for _, t := range l.Listeners() {
		if t.wants(method, uri) {
			t.Notify(method, object{"uri": uri})
		}
	}
}

// Listeners are the open subscriptions of a stateless revision.
func (l *Line) Listeners() []*Turn {
	l.lmu.Lock()
	defer l.lmu.Unlock()
	return slices.Clone(l.listeners)
}

// wants reports whether a subscription is for a change.
func (t *Turn) wants(method, uri string) bool {
	filter := t.Request.Object("params/notifications")
	if uri != "" {
		uris, _ := filter["resourceSubscriptions"].(list)
		return slices.Contains(uris, any(uri))
	}
	name := map[string]string{
		"notifications/tools/list_changed": "toolsListChanged", "notifications/prompts/list_changed": "promptsListChanged", "notifications/resources/list_changed": "resourcesListChanged",
	}[method]
	return filter[name] == true
}

// idOf is the ID of a message as a value that can be sent.
func idOf(m *peer.Message) any { return m.ID }
