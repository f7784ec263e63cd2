package model_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/streamable"
)

// step is one thing that happens.
type step struct {
	Do     string
	Client int
	N      int
}

func (s step) String() string { return fmt.Sprintf("%s client=%d n=%d", s.Do, s.Client, s.N) }

// deeds are what may happen, those more than once that should happen more.
var deeds = []string{
	"call", "call", "call", "call", "again", "batch", "list", "cancel", "cancel", "release", "release", "answer",
	"listen", "watch", "unwatch", "change", "update", "leave", "nonsense", "settle", "settle",
}

// program is a random history.
type program struct {
	HTTP      bool
	Revisions []string
	Steps     []step
}

func programs() *rapid.Generator[program] {
	return rapid.Custom(func(t *rapid.T) program {
		p := program{HTTP: rapid.Bool().Draw(t, "HTTP")}
		var revisions []string
		for _, r := range mcp.Revisions() {
			if name := r.String(); !p.HTTP || name != "2024-11-05" { // which has another transport
				revisions = append(revisions, name)
			}
		}
		p.Revisions = rapid.SliceOfN(rapid.SampledFrom(revisions), 1, 3).Draw(t, "Revisions")
		steps := rapid.Custom(func(t *rapid.T) step {
			return step{rapid.SampledFrom(deeds).Draw(t, "Do"), rapid.IntRange(0, 2).Draw(t, "Client"), rapid.IntRange(0, 9).Draw(t, "N")}
		})
		p.Steps = rapid.SliceOfN(steps, 1, 60).Draw(t, "Steps")
		return p
	})
}

// Whatever clients do and in what order, each gets what is its own.
func TestModel(t *testing.T) {
	until := time.Now().Add(soakTime(t))
	for n := 1; ; n++ { // of a hundred programs each
		rapid.Check(t, func(rt *rapid.T) {
			p := programs().Draw(rt, "program")
			if broken, history := run(t, p); len(broken) > 0 {
				rt.Fatalf("%s\n\n%s", strings.Join(broken, "\n"), history)
			}
		})
		if n >= 5 && time.Now().After(until) {
			t.Logf("%d rounds", n)
			return
		}
	}
}

// soakTime is how long to go on; nothing without PARLEY_SOAK.
func soakTime(t *testing.T) time.Duration {
	value := os.Getenv("PARLEY_SOAK")
	if value == "" {
		return 0
	}
	d, err := time.ParseDuration(value)
	if err != nil {
		t.Fatalf("PARLEY_SOAK: %v", err)
	}
	return d
}

// run runs a program in a bubble of its own, and returns the rules that were
// broken and what was said.
func run(t *testing.T, p program) (broken []string, history string) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrive(t, p)
		for _, s := range p.Steps {
			d.do(s)
		}
		broken = d.end()
		history = d.history(p)
	})
	return broken, history
}

// drive is a program that runs.
type drive struct {
	world   *world
	handler *streamable.Handler // nil in memory
	clients []*client           // those that are there
	all     []*client           // those that ever were
	tags    int
}

func newDrive(t *testing.T, p program) *drive {
	d := &drive{world: newWorld()}
	if p.HTTP {
		h, err := streamable.New(d.world, &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}, KeepAlive: -1})
		if err != nil {
			t.Fatal(err)
		}
		d.handler = h
	}
	for _, r := range p.Revisions {
		d.clients = append(d.clients, d.arrive(r))
	}
	return d
}

func (d *drive) arrive(revision string) *client {
	c := &client{number: len(d.all), revision: revision}
	if d.handler != nil {
		c.peer = newWeb(d.handler, revision)
	} else {
		c.peer = newPipe(d.world)
	}
	d.all = append(d.all, c)
	c.open(settle)
	return c
}

// settle lets everything come to rest that can, and time go by.
func settle() {
	timer := time.NewTimer(50 * time.Millisecond)
	<-timer.C
	synctest.Wait()
}

// tag names a request. IDs repeat from client to client, tags do not.
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
	case "leave":
		d.leave(c)
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

func (d *drive) leave(c *client) {
	c.left = true
	c.peer.close()
}

// end lets all that waits come to its end, and looks at what is left.
func (d *drive) end() (broken []string) {
	settle()
	for _, c := range d.clients {
		for range 3 {
			for _, q := range c.requests {
				d.world.release(q.tag)
			}
			c.answerQuestions()
			settle()
		}
	}
	broken = append(broken, d.tellOnce()...)
	for _, c := range d.all {
		broken = append(broken, c.judge()...)
	}
	for _, c := range d.clients {
		d.leave(c)
	}
	if d.handler != nil {
		if n := d.handler.Sessions(); n != 0 {
			broken = append(broken, fmt.Sprintf("%d sessions are left", n))
		}
		if err := d.handler.Close(context.Background()); err != nil {
			broken = append(broken, err.Error())
		}
	}
	settle()
	if n := d.world.running.Load(); n != 0 {
		broken = append(broken, fmt.Sprintf("%d handlers are left", n))
	}
	if n := d.world.watching.Load(); n != 0 {
		broken = append(broken, fmt.Sprintf("%d subscriptions are left", n))
	}
	return broken
}

// tellOnce changes the watched resource, of which everybody who is certain to
// watch it has to hear.
func (d *drive) tellOnce() (broken []string) {
	before := map[*client]int{}
	for _, c := range d.clients {
		before[c] = c.updates()
	}
	d.world.ResourceUpdated(watchedURI)
	settle()
	for _, c := range d.clients {
		if c.watches() && c.updates() == before[c] {
			broken = append(broken, fmt.Sprintf("client %d (%s) was not told of a change", c.number, c.revision))
		}
	}
	return broken
}

// history prints the program, and what each client heard.
func (d *drive) history(p program) string {
	var b strings.Builder
	fmt.Fprintf(&b, "over HTTP: %v, revisions %v\n", p.HTTP, p.Revisions)
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
