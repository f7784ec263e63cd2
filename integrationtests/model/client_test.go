package model_test

import (
	"fmt"
	"strings"
)

// client is a client of the model, over one connection.
type client struct {
	number   int
	revision string
	peer     peer

	requests    []*request
	answers     map[string]int // received, by ID
	left        bool           // the connection was closed
	everWatched bool
	answeredUp  int // how many of the received frames were searched for questions
}

func (c *client) stateless() bool { return c.revision == "2026-07-28" }

const metaFormat = `"_meta":{"progressToken":%q,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}`

func (c *client) meta(tag string) string {
	if c.stateless() {
		return fmt.Sprintf(metaFormat, tag)
	}
	return fmt.Sprintf(`"_meta":{"progressToken":%q}`, tag)
}

// open opens a session, if the revision has sessions.
func (c *client) open(settle func()) {
	if c.stateless() {
		return
	}
	q := c.note("t-open", "0", "initialize")
	c.peer.send(q.tag, fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{"elicitation":{"form":{}}},"clientInfo":{"name":"m","version":"1"}}}`, c.revision))
	settle()
	c.peer.send("", `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	settle()
	if w, ok := c.peer.(*web); ok {
		w.listen()
		settle()
	}
}

// note remembers a request. The cancellation of an earlier one with its ID may
// still be on its way.
func (c *client) note(tag, id, kind string) *request {
	q := &request{tag: tag, id: id, kind: kind, via: tag}
	for _, twin := range c.requests {
		q.cancelled = q.cancelled || twin.cancelled && twin.id == id
	}
	c.requests = append(c.requests, q)
	return q
}

// call is the frame of a tool call.
func (c *client) call(tag, id, kind string) string {
	c.note(tag, id, kind)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{%s,"name":%q,"arguments":{"tag":%q}}}`, id, c.meta(tag), kind, tag)
}

// other is the frame of a request of another method.
func (c *client) other(tag, id, kind, method, members string) string {
	c.note(tag, id, kind)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s%s}}`, id, method, c.meta(tag), members)
}

// unanswered returns the n-th of the requests that may still be running.
func (c *client) unanswered(n int) *request {
	if len(c.requests) == 0 {
		return nil
	}
	return c.requests[n%len(c.requests)]
}

// cancel withdraws a request in the way of its transport and revision.
func (c *client) cancel(q *request) {
	if q.kind == "initialize" {
		return
	}
	q.cancelled = true
	for _, twin := range c.requests { // requests with the same ID cannot be told apart
		twin.cancelled = twin.cancelled || twin.id == q.id
	}
	if c.stateless() && c.peer.abandon(q.tag) {
		return
	}
	c.peer.send("", fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, q.id))
}

// cut breaks off a response. Only those of a session can be resumed.
func (c *client) cut(n int) {
	p, ok := c.peer.(cutter)
	if !ok || c.stateless() {
		return
	}
	lost := p.cut(n)
	for _, q := range c.requests {
		q.lost = q.lost || q.via == lost
	}
}

func (c *client) resume() {
	if p, ok := c.peer.(cutter); ok && !c.stateless() {
		p.resume()
	}
}

// answerQuestions answers the questions that arrived since the last call.
func (c *client) answerQuestions() {
	heard := c.peer.heard()
	for _, r := range heard[c.answeredUp:] {
		f := decoded(r.frame)
		if f.Method == "elicitation/create" && !strings.HasPrefix(r.frame, "[") {
			c.peer.send("", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"answer":"x"}}}`, f.ID))
		}
	}
	c.answeredUp = len(heard)
}

// watches reports whether the client is certain to watch the resource: it has
// asked for that, and for nothing that could have ended it.
func (c *client) watches() bool {
	asked := false
	used := map[string]int{}
	for _, q := range c.requests {
		used[q.id]++
	}
	for _, q := range c.requests {
		switch {
		case q.kind != "unwatch" && used[q.id] > 1: // one of them was refused
		case q.kind == "unwatch", q.kind == "watch" && (q.cancelled || q.lost):
			return false
		case q.kind == "watch", q.kind == "listen" && !q.cancelled:
			asked = true
		}
	}
	return asked
}

// updates counts the notifications that the resource has changed.
func (c *client) updates() (n int) {
	for _, r := range c.peer.heard() {
		if decoded(r.frame).Method == "notifications/resources/updated" {
			n++
		}
	}
	return n
}
