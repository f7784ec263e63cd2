package clientprobe

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/child"
)

// Command is a client that is a program.
type Command struct {
	// Args is the program and its arguments. {url} in them is replaced by the URL
	// of the server, and {command} by a command that starts it.
	Args []string
	// Env is added to the environment, as KEY=VALUE.
	Env []string
	// Relay is the command that becomes the server of a client over stdio: it gets
	// an address as one more argument, for Relay of this package.
	Relay []string
	// Output gets what the program writes, if set.
	Output io.Writer
}

// What Command replaces, and the variable that has the URL otherwise.
const (
	urlMark     = "{url}"
	commandMark = "{command}"
	urlVariable = "PARLEY_CHECK_URL"
)

// StartsServer reports whether the client starts its server, and so speaks over
// stdio.
func (c *Command) StartsServer() bool {
	return slices.ContainsFunc(c.Args, func(a string) bool { return strings.Contains(a, commandMark) })
}

// Drive is a Driver.
func (c *Command) Drive(ctx context.Context, p *Place) error {
	var relay []string
	if p.Transport == needsStdio {
		doors, err := openDoors(p) //nolint:contextcheck // they close with the client
		if err != nil {
			return fmt.Errorf("%w: %w", ErrStart, err)
		}
		defer doors.close()
		relay = append(slices.Clone(c.Relay), doors.address())
	}
	client, err := child.Start(child.Options{
		Args: arguments(c.Args, p.URL, relay), Env: append(slices.Clone(c.Env), urlVariable+"="+p.URL), Stderr: c.Output,
	})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrStart, err)
	}
	ended := make(chan struct{})
	go func() { // ends with the client's output, which Close ends
		defer close(ended)
		to := c.Output
		if to == nil {
			to = io.Discard
		}
		_, _ = io.Copy(to, client) // what it says is for its user
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	closed := client.Close()
	<-ended
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if state := client.State(); state != nil && !state.Success() {
		return fmt.Errorf("the client ended with %s", state)
	}
	return closed
}

// arguments replaces what stands for the server. An argument that is only
// {command} becomes several.
func arguments(args []string, url string, relay []string) []string {
	var all []string
	for _, a := range args {
		if a == commandMark {
			all = append(all, relay...)
			continue
		}
		a = strings.ReplaceAll(a, urlMark, url)
		all = append(all, strings.ReplaceAll(a, commandMark, strings.Join(relay, " ")))
	}
	return all
}

// doors are where relays come in.
type doors struct {
	listener net.Listener
	token    string
	done     chan struct{}
}

func openDoors(p *Place) (*doors, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &doors{listener: l, token: rand.Text(), done: make(chan struct{})}
	go func() { // ends with the listener
		defer close(d.done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			d.admit(conn, p)
		}
	}()
	return d, nil
}

// admit lets a relay in that knows the token.
func (d *doors) admit(conn net.Conn, p *Place) {
	r := bufio.NewReader(conn)
	if line, err := r.ReadString('\n'); err != nil || strings.TrimSpace(line) != d.token {
		_ = conn.Close() // somebody else
		return
	}
	p.Accept(&admitted{conn, r})
}

func (d *doors) address() string { return d.listener.Addr().String() + "/" + d.token }

func (d *doors) close() {
	_ = d.listener.Close() // nobody comes any more
	<-d.done
}

type admitted struct {
	net.Conn
	reader io.Reader
}

func (a *admitted) Read(b []byte) (int, error) { return a.reader.Read(b) }

// Relay passes a client's standard streams on to a check at an address that
// Command gave: it is the process that the client takes for its server. It ends
// when the check ends the conversation.
func Relay(ctx context.Context, address string, in io.Reader, out io.Writer) error {
	host, token, ok := strings.Cut(address, "/")
	if !ok {
		return fmt.Errorf("%q is not the address of a check", address)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", host)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // all was passed on
	if _, err := io.WriteString(conn, token+"\n"); err != nil {
		return err
	}
	go func() { // ends with the process, at the latest
		_, _ = io.Copy(conn, in) // the check sees how it ends
		if half, ok := conn.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite() // likewise
		}
	}()
	_, err = io.Copy(out, conn)
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return cmp.Or(err, ctx.Err())
}
