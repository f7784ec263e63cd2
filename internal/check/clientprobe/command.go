package clientprobe

import (
	"context"
	"fmt"
	"io"
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
		relay = append(slices.Clone(c.Relay), doors.address(p.Scenario))
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
