package oauth

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"
)

// Paste is the receiver for machines without a browser. It shows the address of
// a page, which the user opens on any machine, and reads the address that the
// browser ends at, which the user copies back. Its fields must not change once
// it is in use.
type Paste struct {
	// Out is where the instructions for the user are written.
	Out io.Writer
	// In is where the user's line is read from: the address, or the code in it.
	In io.Reader
	// Redirect is the redirect URI. "" means "http://127.0.0.1/callback", where
	// nothing listens: it is enough that the browser shows the address.
	Redirect string

	mu      sync.Mutex
	scanner *bufio.Scanner
	lines   chan string
}

var _ Receiver = (*Paste)(nil)

// Listen implements Receiver.
func (p *Paste) Listen(context.Context, []string) (Reception, error) {
	if p.Out == nil || p.In == nil {
		return nil, errors.New("Paste needs Out and In")
	}
	return pasting{p}, nil
}

// pasting is a Paste that waits for a line.
type pasting struct{ *Paste }

// RedirectURI implements Reception.
func (p pasting) RedirectURI() string {
	if p.Redirect == "" {
		return "http://127.0.0.1/callback"
	}
	return p.Redirect
}

// Close implements Reception.
func (p pasting) Close() error { return nil }

// Receive implements Reception.
func (p pasting) Receive(ctx context.Context, r AuthorizationRequest) (url.Values, error) {
	_, err := fmt.Fprintf(p.Out, "To log in at %s, open this page in a browser:\n\n%s\n\n"+
		"At the end the browser goes to an address that begins with %s, and may say that it cannot be reached.\n"+
		"Paste that address here: ", plain(r.Issuer), r.URL, p.RedirectURI())
	if err != nil {
		return nil, err
	}
	select {
	case line, ok := <-p.line():
		if !ok {
			return nil, errors.New("the input ended before an address was pasted")
		}
		return ParseAnswer(line, r.State)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// line returns a channel on which the next line arrives. A read that is no
// longer waited for serves the next caller: input cannot be read twice.
func (p *Paste) line() <-chan string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.scanner == nil {
		p.scanner = bufio.NewScanner(p.In)
		p.scanner.Buffer(nil, 64<<10)
	}
	if p.lines != nil {
		return p.lines
	}
	lines := make(chan string, 1)
	p.lines = lines
	go func() { // ends with the next line, or with the input
		defer close(lines)
		ok := p.scanner.Scan()
		p.mu.Lock()
		p.lines = nil
		p.mu.Unlock()
		if ok {
			lines <- p.scanner.Text()
		}
	}()
	return lines
}

// ParseAnswer reads what a user has copied: an address with the parameters of
// an authorization response, its query, or just the code. With just a code, the
// state cannot be checked and is taken from the request.
func ParseAnswer(line, state string) (url.Values, error) {
	line = strings.TrimSpace(line)
	_, query, isURL := strings.Cut(line, "?")
	if !isURL {
		query = line
	}
	query, _, _ = strings.Cut(query, "#")
	if !strings.Contains(query, "=") && !isURL && line != "" && !strings.ContainsAny(line, "/ &") {
		return url.Values{"code": {line}, "state": {state}}, nil
	}
	values, err := url.ParseQuery(query)
	if err != nil || !values.Has("code") && !values.Has("error") {
		return nil, errors.New("what was pasted is not an address with a code in it")
	}
	return values, nil
}
