package clientprobe

import (
	"bufio"
	"context"
	"crypto/rand"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

// doors are where relays come in. Each comes twice: first to tell what becomes of
// it, then with what the client says.
type doors struct {
	listener net.Listener
	token    string
	running  sync.WaitGroup

	mu     sync.Mutex
	relays map[string]*attended // by the ID that each has given itself
	closed bool
}

// attended is a relay, as it is seen from here.
type attended struct {
	process process
	conn    net.Conn
	here    chan struct{} // closed when it answers that it is still there
	once    sync.Once
	lost    chan struct{} // closed when it has ended
}

func openDoors(p *Place) (*doors, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &doors{listener: l, token: rand.Text(), relays: map[string]*attended{}}
	d.running.Go(func() { // ends with the listener
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			d.admit(conn, p)
		}
	})
	return d, nil
}

// introduction is how long a relay may take to say who it is.
const introduction = 5 * time.Second

// admit lets a relay in that knows the token.
func (d *doors) admit(conn net.Conn, p *Place) {
	_ = conn.SetReadDeadline(time.Now().Add(introduction)) // at worst it waits for longer
	r := bufio.NewReader(conn)
	line, err := r.ReadString('\n')
	words := strings.Fields(line)
	if err != nil || len(words) < 2 || words[0] != d.token {
		_ = conn.Close() // somebody else
		return
	}
	_ = conn.SetReadDeadline(time.Time{}) // likewise
	if len(words) > 2 && words[2] == toTell {
		d.attend(words[1], conn, r)
		return
	}
	d.mu.Lock()
	relay := d.relays[words[1]]
	d.mu.Unlock()
	if relay == nil {
		_ = conn.Close() // it has not come first to tell
		return
	}
	p.Accept(&admitted{conn, r, &relay.process})
}

// attend notes what a relay tells.
func (d *doors) attend(id string, conn net.Conn, r *bufio.Reader) {
	a := &attended{conn: conn, here: make(chan struct{}), lost: make(chan struct{})}
	d.mu.Lock()
	d.relays[id] = a
	d.mu.Unlock()
	d.running.Go(func() { // ends with the connection
		defer close(a.lost)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				break
			}
			a.take(strings.Fields(line))
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if !d.closed {
			a.process.saw(killed)
		}
	})
}

// take understands a line of a relay.
func (a *attended) take(words []string) {
	if len(words) == 0 {
		return
	}
	switch words[0] {
	case tellsSignals:
		a.process.signals = true
	case tellsHere:
		a.once.Do(func() { close(a.here) })
	case tellsInputEnded, tellsTerminated:
		at := time.Duration(0)
		if len(words) > 1 {
			ns, _ := strconv.ParseInt(words[1], 10, 64) // relays are ours
			at = time.Duration(ns)
		}
		a.process.told(map[string]string{tellsInputEnded: inputEnded, tellsTerminated: terminated}[words[0]], at)
	}
}

// settle waits until all is known that the process has seen until now.
func (a *attended) settle() {
	if _, err := io.WriteString(a.conn, asksHere+"\n"); err != nil {
		return
	}
	timer := time.NewTimer(introduction)
	defer timer.Stop()
	select {
	case <-a.here:
	case <-a.lost:
	case <-timer.C:
	}
}

// address is where the relays of a scenario find the doors, and how they are to
// behave.
func (d *doors) address(sc *Scenario) string {
	address := d.listener.Addr().String() + "/" + d.token
	if sc.Stubborn {
		address += "/" + mannerStubborn
	}
	if sc.Noisy {
		address += "/" + mannerNoisy
	}
	return address
}

// close asks the relays that are still there what they have seen, and then lets
// them end.
func (d *doors) close() {
	d.mu.Lock()
	relays := make([]*attended, 0, len(d.relays))
	for _, a := range d.relays {
		relays = append(relays, a)
	}
	d.mu.Unlock()
	for _, a := range relays {
		a.settle()
	}
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	_ = d.listener.Close() // nobody comes any more
	for _, a := range relays {
		_ = a.conn.Close() // all is known
	}
	d.running.Wait()
}

type admitted struct {
	net.Conn
	reader  io.Reader
	process *process
}

func (a *admitted) Read(b []byte) (int, error) { return a.reader.Read(b) }

// Process is what the relay has seen.
func (a *admitted) Process() *process { return a.process }
