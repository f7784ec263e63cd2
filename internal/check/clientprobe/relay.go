package clientprobe

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// What a relay tells, each on a line; the events with the nanoseconds since it
// began. toTell is what it comes for first.
const (
	toTell          = "tells"
	tellsSignals    = "signals" // it sees signals
	tellsInputEnded = "input-ended"
	tellsTerminated = "terminated"
	tellsHere       = "here"
	asksHere        = "here?" // asks for that
)

// How a relay may have to behave, in its address.
const (
	mannerStubborn = "stubborn" // it goes on when its input has ended, and when it is told to end
	mannerNoisy    = "noisy"    // it writes to standard error
)

// Relay passes a client's standard streams on to a check at an address that
// Command gave: it is the process that the client takes for its server. It ends
// when the check ends the conversation, or as soon as it is told to, unless the
// scenario wants it to be stubborn.
func Relay(ctx context.Context, address string, in io.Reader, out, err io.Writer) error {
	parts := strings.Split(address, "/")
	if len(parts) < 2 {
		return fmt.Errorf("%q is not the address of a check", address)
	}
	r := &relay{
		begun: time.Now(), in: in, out: out, err: err,
		stubborn: slices.Contains(parts[2:], mannerStubborn), noisy: slices.Contains(parts[2:], mannerNoisy),
	}
	if r.stubborn {
		signal.Ignore(syscall.SIGPIPE) // its output is closed before it is to end
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	defer signal.Stop(signals)
	if err := r.connect(ctx, parts[0], parts[1]); err != nil {
		return err
	}
	defer r.close()
	return r.run(signals)
}

// relay is a relay at work.
type relay struct {
	begun           time.Time
	in              io.Reader
	out, err        io.Writer
	stubborn, noisy bool

	data, control net.Conn
	telling       sync.Mutex
}

// connect goes to the doors, twice.
func (r *relay) connect(ctx context.Context, host, token string) error {
	id := rand.Text()
	var err error
	if r.control, err = knock(ctx, host, token+" "+id+" "+toTell+"\n"); err != nil {
		return err
	}
	if runtime.GOOS != "windows" {
		r.say(tellsSignals)
	}
	if r.data, err = knock(ctx, host, token+" "+id+"\n"); err != nil {
		_ = r.control.Close() // nothing was told
	}
	return err
}

func knock(ctx context.Context, host, greeting string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(conn, greeting); err != nil {
		_ = conn.Close() // nothing was passed on
		return nil, err
	}
	return conn, nil
}

// say tells the check something. A check that has gone ends the relay.
func (r *relay) say(line string) {
	r.telling.Lock()
	defer r.telling.Unlock()
	_, _ = io.WriteString(r.control, line+"\n") // see above
}

// tell says what happened, and when.
func (r *relay) tell(what string) { r.say(fmt.Sprintf("%s %d", what, time.Since(r.begun))) }

func (r *relay) close() {
	_ = r.data.Close()    // all was passed on
	_ = r.control.Close() // and told
}

// run passes everything on until the relay is to end.
func (r *relay) run(signals <-chan os.Signal) error {
	go r.forward() // ends with the process, at the latest
	over := make(chan error, 1)
	go func() { // ends with the conversation
		_, err := io.Copy(r.out, r.data)
		over <- err
	}()
	asked := make(chan struct{})
	go r.hear(asked) // ends with the check
	for {
		select {
		case <-signals:
			r.tell(tellsTerminated)
			if !r.stubborn {
				return nil
			}
		case err := <-over:
			if !r.stubborn {
				return err
			}
		case _, ok := <-asked:
			if !ok {
				return nil
			}
			r.answer(signals)
		}
	}
}

// hear hears what the check asks, until it has gone.
func (r *relay) hear(asked chan<- struct{}) {
	defer close(asked)
	lines := bufio.NewScanner(r.control)
	for lines.Scan() {
		if lines.Text() == asksHere {
			asked <- struct{}{}
		}
	}
}

// dawdle is how long a signal may be on its way.
const dawdle = 100 * time.Millisecond

// answer says that the relay is there, after what it has still to tell.
func (r *relay) answer(signals <-chan os.Signal) {
	timer := time.NewTimer(dawdle)
	defer timer.Stop()
	for {
		select {
		case <-signals:
			r.tell(tellsTerminated)
		case <-timer.C:
			r.say(tellsHere)
			return
		}
	}
}

// noise is what a noisy server writes: words that look like an error, and are none.
const noise = "ERROR [parley check] this line is about nothing: the server works, and standard error is for logs of all kinds\n"

// mostNoise is how many lines are written.
const mostNoise = 5

// forward passes on what the client says, line by line, so that the noise comes
// before the answers.
func (r *relay) forward() {
	lines := bufio.NewReader(r.in)
	for n := 0; ; n++ {
		line, err := lines.ReadString('\n')
		if r.noisy && n < mostNoise && line != "" {
			_, _ = io.WriteString(r.err, noise) // a client need not read it
		}
		if _, gone := io.WriteString(r.data, line); gone != nil {
			return
		}
		if err != nil {
			break
		}
	}
	r.tell(tellsInputEnded)
	if half, ok := r.data.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // the check sees how it ends
	}
}
