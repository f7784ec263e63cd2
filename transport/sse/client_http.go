package sse

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// HTTPError says that a server answered a request with a status that is no
// success, and without a message of the protocol that would say more.
type HTTPError struct {
	// Method and URL are what was asked; the URL has no password.
	Method, URL string
	// Status is the status code, for example 401.
	Status int
	// Header is the header of the answer: WWW-Authenticate says what
	// credentials a 401 or a 403 wants, Retry-After when to come back.
	Header http.Header
	// Body is the beginning of the body, at most 512 bytes.
	Body string
}

// Error names the request, the status, and the first words of the body.
func (e *HTTPError) Error() string {
	s := fmt.Sprintf("%s %q: the server answered %d %s", e.Method, e.URL, e.Status, http.StatusText(e.Status))
	if words := strings.TrimSpace(e.Body); words != "" {
		s += fmt.Sprintf(": %q", words)
	}
	if e.Status == http.StatusUnauthorized {
		s += "; it wants credentials, which go into the header Authorization"
	}
	return s
}

func newHTTPError(resp *http.Response) *HTTPError {
	head, _ := io.ReadAll(io.LimitReader(resp.Body, 512)) // what there is of it
	return &HTTPError{
		Method: resp.Request.Method, URL: resp.Request.URL.Redacted(),
		Status: resp.StatusCode, Header: resp.Header, Body: string(head),
	}
}

// guarded returns a client that does not carry credentials to other origins.
func guarded(c *http.Client) *http.Client {
	var g http.Client
	if c != nil {
		g = *c
	} else if t, ok := http.DefaultTransport.(*http.Transport); ok {
		g.Transport = t.Clone()
	}
	g.CheckRedirect = checkRedirect
	return &g
}

// checkRedirect refuses what would send a message, or the header of a
// request, to where it was not meant to go.
func checkRedirect(next *http.Request, via []*http.Request) error {
	switch {
	case !sameOrigin(next.URL, via[0].URL):
		return fmt.Errorf("refused a redirect to another origin; if it is to be trusted, use the URL %q", next.URL.Redacted())
	case next.Response.StatusCode != http.StatusTemporaryRedirect && next.Response.StatusCode != http.StatusPermanentRedirect:
		return fmt.Errorf("refused a redirect (%d) that does not keep the request; use the URL %q", next.Response.StatusCode, next.URL.Redacted())
	case len(via) >= 10:
		return errors.New("stopped after 10 redirects")
	}
	return nil
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}
