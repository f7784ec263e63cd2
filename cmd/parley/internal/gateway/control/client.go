package control

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/parley-mcp/parley/internal/wire"
)

// Client speaks to one gateway. It needs not be closed.
type Client struct {
	pid  int
	path string
	http *http.Client
}

// Find returns the gateways of a configuration that run; those of all configurations if
// file is "". Sockets of gateways that do not run any more are removed.
func Find(dir, file string) ([]*Client, error) {
	begin, err := prefix(file)
	if err != nil {
		return nil, err
	}
	if dir, err = folder(dir); err != nil {
		return nil, err
	}
	names, err := sockets(dir, begin)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	if err := private(dir); err != nil { // somebody else's would hear what is said
		return nil, err
	}
	var found []*Client
	for _, name := range names {
		path := filepath.Join(dir, name)
		switch err := answers(path); {
		case err == nil:
			found = append(found, newClient(pidOf(name), path))
		case errors.Is(err, syscall.ECONNREFUSED): // other errors say nothing of who listens
			forget(path)
		}
	}
	slices.SortFunc(found, func(a, b *Client) int { return cmp.Or(a.pid-b.pid, cmp.Compare(a.path, b.path)) })
	return found, nil
}

// answers tries whether anybody listens at a socket.
func answers(path string) error {
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return err
	}
	return c.Close()
}

// forget removes a socket that nobody listens at, unless it is about to be listened at.
func forget(path string) {
	const begins = 2 * time.Second
	if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > begins {
		_ = os.Remove(path) // it is tried again by the next command
	}
}

func newClient(pid int, path string) *Client {
	return &Client{pid, path, &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		},
	}}}
}

// PID is the gateway's process.
func (c *Client) PID() int { return c.pid }

// Do sends in as JSON, unless it is nil, and decodes the answer into out, unless that is
// nil. The gateway's own errors are of type *Error.
func (c *Client) Do(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		text, err := wire.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://gateway"+path, body)
	if err != nil {
		return err
	}
	response, err := c.http.Do(r)
	if err != nil {
		if inner := errors.Unwrap(err); inner != nil {
			err = inner // the address says nothing to people
		}
		return fmt.Errorf("the gateway of process %d does not answer: %w", c.pid, err)
	}
	defer func() { _ = response.Body.Close() }() // it was read
	return c.decode(response, out)
}

func (c *Client) decode(response *http.Response, out any) error {
	text, err := io.ReadAll(io.LimitReader(response.Body, most))
	if response.StatusCode >= http.StatusBadRequest {
		told := &Error{Status: response.StatusCode}
		if wire.Unmarshal(text, told) != nil || told.Message == "" {
			told.Message = fmt.Sprintf("the gateway of process %d answers %q; it may be another version of this program", c.pid, response.Status)
		}
		return told
	}
	if err == nil && out != nil {
		err = wire.Unmarshal(text, out)
	}
	if err != nil {
		return fmt.Errorf("the answer of the gateway of process %d cannot be read: %w", c.pid, err)
	}
	return nil
}
