package model_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// drive is a running program.
type drive struct {
	world   *world
	way     way
	clients []*client // those that are connected
	all     []*client // those that ever were
	tags    int
}

func newDrive(t *testing.T, p program) *drive {
	d := &drive{world: newWorld()}
	d.way = newWay(t, p.Over, d.world)
	for _, r := range p.Revisions {
		d.clients = append(d.clients, d.arrive(r))
	}
	return d
}

func (d *drive) arrive(revision string) *client {
	c := &client{number: len(d.all), revision: revision, peer: d.way.arrive(revision)}
	d.all = append(d.all, c)
	c.open(settle)
	return c
}

// settle lets everything proceed that can, and some time pass.
func settle() { pass(50 * time.Millisecond) }

func pass(d time.Duration) {
	timer := time.NewTimer(d)
	<-timer.C
	synctest.Wait()
}

// tag names a request. Different clients use the same IDs, but never the same
// tag.
func (d *drive) tag(c *client) (tag, id string) {
	d.tags++
	return fmt.Sprintf("t%d", d.tags), fmt.Sprint(len(c.requests) + 1)
}

// do does a step.
func (d *drive) do(s step) {
	c := d.clients[s.Client%len(d.clients)]
	q := c.unanswered(s.N)
	switch s.Do {
	case "settle":
		settle()
	case "change":
		d.world.change(s.N)
	case "update":
		d.world.ResourceUpdated(watchedURI)
	case "release":
		if q != nil {
			d.world.release(q.tag)
		}
	case "cancel":
		if q != nil {
			c.cancel(q)
		}
	case "answer":
		c.answerQuestions()
	case "cut":
		c.cut(s.N)
	case "resume":
		c.resume()
	case "leave":
		d.leave(c, s.N%2 == 0)
		d.clients[s.Client%len(d.clients)] = d.arrive(c.revision)
	case "nonsense":
		c.peer.send("", `{"jsonrpc":"2.0","id":99999,"result":{}}`)
		c.peer.send("", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77777}}`)
	default:
		d.ask(c, s, q)
	}
}

// ask sends requests.
func (d *drive) ask(c *client, s step, q *request) {
	tag, id := d.tag(c)
	switch s.Do {
	case "call":
		c.peer.send(tag, c.call(tag, id, toolKinds[s.N%len(toolKinds)]))
	case "again": // an ID that may be in use
		if q != nil && q.kind != "initialize" {
			c.peer.send(tag, c.call(tag, q.id, "echo"))
		}
	case "list":
		c.peer.send(tag, c.other(tag, id, "list", "tools/list", ""))
	case "listen":
		if c.stateless() {
			c.peer.send(tag, c.other(tag, id, "listen", "subscriptions/listen", `,"notifications":{"toolsListChanged":true,"resourceSubscriptions":["`+watchedURI+`"]}`))
		}
	case "watch", "unwatch":
		if !c.stateless() {
			c.everWatched = true
			method := strings.Replace(s.Do, "watch", "subscribe", 1)
			c.peer.send(tag, c.other(tag, id, s.Do, "resources/"+method, `,"uri":"`+watchedURI+`"`))
		}
	case "batch":
		if c.revision == "2025-03-26" {
			d.batch(c, s.N)
		}
	}
}

// batch sends calls together.
func (d *drive) batch(c *client, n int) {
	var frames []string
	via := fmt.Sprintf("b%d", d.tags)
	for i := range n%3 + 1 {
		tag, id := d.tag(c)
		frames = append(frames, c.call(tag, id, toolKinds[(n+i)%len(toolKinds)]))
		c.requests[len(c.requests)-1].via = via
	}
	c.peer.send(via, "["+strings.Join(frames, ",")+"]")
}

func (d *drive) leave(c *client, rude bool) {
	c.left = true
	c.peer.close(rude)
}

// end lets everything that waits finish, and looks at what is left.
func (d *drive) end() (broken []string) {
	settle()
	for range 3 {
		for _, c := range d.all {
			for _, q := range c.requests {
				d.world.release(q.tag)
			}
		}
		settle() // so that clients that resume have missed something
		for _, c := range d.clients {
			c.resume()
			c.answerQuestions()
		}
		settle()
	}
	broken = append(broken, d.tellOnce()...)
	for _, c := range d.all {
		broken = append(broken, c.judge()...)
	}
	for _, c := range d.clients {
		d.leave(c, false)
	}
	pass(time.Hour) // until the sessions of clients that vanished have ended
	broken = append(broken, d.way.end()...)
	settle()
	if n := d.world.running.Load(); n != 0 {
		broken = append(broken, fmt.Sprintf("%d handlers are left", n))
	}
	if n := d.world.watching.Load(); n != 0 {
		broken = append(broken, fmt.Sprintf("%d subscriptions are left", n))
	}
	return broken
}

// tellOnce changes the watched resource, of which every client that is certain
// to watch it must be notified.
func (d *drive) tellOnce() (broken []string) {
	before := map[*client]int{}
	for _, c := range d.clients {
		before[c] = c.updates()
	}
	d.world.ResourceUpdated(watchedURI)
	settle()
	for _, c := range d.clients {
		if c.watches() && c.updates() == before[c] {
			broken = append(broken, fmt.Sprintf("client %d (%s) was not notified of a change", c.number, c.revision))
		}
	}
	return broken
}

// history prints the program, and what each client received.
func (d *drive) history(p program) string {
	var b strings.Builder
	fmt.Fprintf(&b, "over %s, revisions %v\n", p.Over, p.Revisions)
	for i, s := range p.Steps {
		fmt.Fprintf(&b, "%3d  %s\n", i+1, s)
	}
	for _, c := range d.all {
		fmt.Fprintf(&b, "client %d (%s) sent", c.number, c.revision)
		for _, q := range c.requests {
			fmt.Fprintf(&b, " %s=%s(id %s)", q.tag, q.kind, q.id)
		}
		b.WriteString(", and heard\n")
		for _, r := range c.peer.heard() {
			fmt.Fprintf(&b, "    %-6s %.200s\n", r.via, r.frame)
		}
	}
	return b.String()
}
